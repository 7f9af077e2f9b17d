# SPDX-License-Identifier: MIT
"""imports.py: imports of every kind, timed by hand. Prints the seconds of all of them, of a DSL
function that a module calls while it is imported, and of the whole program."""
import time

begin = time.perf_counter()
seconds = [0.0]


def timed(function):
    before = time.perf_counter()
    try:
        function()
    finally:
        seconds[0] += time.perf_counter() - before


def plain():
    import slow.body
    import slow.body  # noqa: F811 — known by now


def by_name():
    import importlib
    importlib.import_module("slow.named")


def missing():
    try:
        import slow.nowhere
    except ImportError:
        pass


def broken():
    try:
        import slow.broken
    except ZeroDivisionError:
        pass


def chosen():
    import dsl
    dsl.call(__import__, "slow.below")


for imported in (plain, by_name, missing, broken, chosen):
    timed(imported)
from slow.body import worked
print(seconds[0], worked, time.perf_counter() - begin)
