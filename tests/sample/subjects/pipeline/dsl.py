# SPDX-License-Identifier: MIT
"""DSL functions; one calls another module's."""
import other


def outer(n):
    return inner(n)


def inner(n):
    def closure(k):
        return other.log(k)
    return closure(n)


def pure(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
