# SPDX-License-Identifier: MIT
"""What has lines that are easy to count wrong. Only the functions of this module are chosen."""
import asyncio
import contextlib


def helper(count):
    total = 0
    for number in range(count):
        total += number
    return total


def branches(count):
    odd = 0
    for number in range(count):
        if number % 2:
            odd += 1
        else:
            continue
    while count:
        count -= 1
    for number in range(5): odd += number
    return odd


def calls(count):
    total = (helper(3) +
             helper(count))
    total += sum(
        helper(number)
        for number in range(3)
    )
    return total


def nested(count):
    def inner(number):
        return number + 1
    twice = lambda number: (
        2 * number)
    return [inner(twice(number)) for number in range(count)]


def failing(count):
    caught = 0
    for _ in range(count):
        try:
            caught += 1
            raise ValueError(caught)
        except ValueError:
            pass
        finally:
            caught += 0
    return caught


def raising(count):
    if count == 0:
        raise KeyError(count)
    raising(count - 1)


def factorial(number):
    if number < 2:
        return 1
    return number * factorial(number - 1)


def numbers(count):
    for number in range(count):
        sent = yield number
        if sent:
            number = sent
    return number


def delegating(count):
    last = yield from numbers(count)
    yield last


@contextlib.contextmanager
def managed():
    entered = 1
    yield entered
    entered = 2


async def waiting(count):
    total = 0
    for number in range(count):
        await asyncio.sleep(0)
        total += number
    return total


async def both():
    return await asyncio.gather(waiting(3), waiting(4))


class Box:
    def __init__(self, value):
        self.value = value

    @property
    def double(self):
        return 2 * self.value

    @staticmethod
    def one():
        return 1


FUNCTIONS = (helper, branches, calls, nested, failing, raising, factorial, numbers, delegating,
             managed.__wrapped__, waiting, both, Box.__init__, Box.double.fget, Box.one)
