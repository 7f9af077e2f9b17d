# SPDX-License-Identifier: MIT
"""What features.py calls: each way a Python function can begin and end."""
import copy
import logging

log = logging.getLogger("dsl")
log.addHandler(logging.NullHandler())


class DslError(Exception):
    pass


class Point:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Point(self.x + other.x)

    @property
    def double(self):
        return 2 * self.x

    @staticmethod
    def origin():
        return Point(0)


def identity(x):
    return x


def add(a, b):
    return a + b


def compose(outer, inner):
    return lambda x: outer(inner(x))


def apply(function, items):
    return tuple(function(e) for e in items)


def listed(n):
    return [identity(i) for i in range(n)]


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def fail(n):
    if n == 0:
        raise DslError("at the bottom")
    return fail(n - 1)


def numbers(n):
    for i in range(n):
        got = yield i
        if got is not None:
            yield got * 100


def guarded():
    try:
        while True:
            try:
                yield 1
            except KeyError:
                yield 2
    finally:
        log.info("closed")


def delegated(n):
    yield from numbers(n)
    return n


async def slow(n, sleep):
    await sleep(0)
    return identity(n)


async def ticks(n, sleep):
    for i in range(n):
        await sleep(0)
        yield i


def logged(x):
    log.info("value %s", x)
    return x


def copied(x):
    return copy.deepcopy(x)


def spin(n):
    total = 0
    for i in range(n):
        total += i & 3
    return total


def call(function, *arguments):
    return function(*arguments)
