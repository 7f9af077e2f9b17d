# SPDX-License-Identifier: MIT
"""Framework that counted.py asks exact numbers of."""
import functools


def plain(n):
    return sum(i for i in range(n))


class Box:
    def __init__(self, x):
        self.x = x

    def get(self):
        return plain(self.x)

    @property
    def value(self):
        return self.x

    @staticmethod
    def one():
        return 1

    @classmethod
    def of_three(cls):
        return cls(3)

    class Inner:
        def deep(self):
            return 1


def numbers(n):
    for i in range(n):
        yield i


@functools.lru_cache(None)
def cached(n):
    return n


def fail():
    raise KeyError


def uncounted():
    return 0
