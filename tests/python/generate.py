# SPDX-License-Identifier: MIT
"""Writes dsl.py with 200 functions of all kinds and combinators, helper.py, code of another module
that they call, and program.py, which runs them: generate.py DIRECTORY

program.py ROUNDS                          runs, prints a checksum
program.py ROUNDS --cprofile FILE          the same under cProfile, its counts to FILE
program.py ROUNDS --truth FILE             the same with clock readings around outermost DSL calls,
                                           less those around calls of other modules; what a
                                           window shows of the statements around such calls is
                                           measured with builtins in their places
"""
import os
import sys

FUNCTIONS = 200

HEAD = '''\
import copy
import logging
from time import perf_counter as clock

import helper
from helper import key, Box, Shape

log = logging.getLogger("dsl")
log.setLevel(logging.WARNING)
away = [0.0, 0, 0]  # seconds around calls of other modules, by hand; how often of each kind


def compose(outer, inner):
    return lambda x: outer(inner(x))


def chain(a, b, c):
    def chained(x):
        return a(b(c(x)))
    return chained


def apply(function, items):
    return tuple(function(e) for e in items)


def fork(outer, a, b):
    return lambda x: outer(a(x), b(x))


def both(a, b):
    return a + b


def spread(function, arguments):
    return function(*arguments)


def bound(function):
    def call(*arguments, **named):
        return function(*arguments, **named)
    return call


table = {}  # filled by the program


def by_name(name, arguments):
    return table[name](*arguments)


def steps(pairs):
    return sum([function(*arguments) for function, arguments in pairs])


def counted(n):
    for i in range(n):
        yield i


def spin(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total
'''

# By number modulo ten; {low} is an earlier function that only works. With it the program makes about
# as many calls a second as real ones: 3.7 us of a run of ARC-DSL per call of a DSL function.
BODIES = (
    "    return x + spin(160)\n",
    "    return f{low}(x) + 1\n",
    "    def inner(y):\n        return f{low}(y) + x\n    return inner(x)\n",
    "    return (lambda y: f{low}(y) * 2)(x) & 1023\n",
    "    return sum([f{low}(e) for e in range(2)]) + x & 1023\n",
    "    before = clock()\n    helper.outer(x)\n    log.debug('x %s', x)\n"
    "    away[0] += clock() - before\n    away[1] += 1\n    return x\n",
    "    try:\n        raise KeyError(x)\n    except KeyError:\n        return f{low}(x)\n",
    "    return x if x <= 0 else f{i}(x // 2 - 1) + 1\n",
    "    before = clock()\n    items = sorted((3, 1, 2), key=key)\n    box = Box(x)\n"
    "    found = isinstance(box, Shape)\n    items = copy.copy(items)\n"
    "    away[0] += clock() - before\n    away[2] += 1\n    return x + len(items) + found\n",
    "    return compose(f{low}, both_ways(x))(x) & 1023\n",
)

HELPER = '''\
"""Not DSL: framework where the DSL calls it."""


def inner(n):
    total = 0
    for i in range(n):
        total += i
    return total


def outer(x):
    return inner(100) + inner(50) + x


def key(x):
    return -x


class Meta(type):
    def __instancecheck__(cls, value):
        return inner(10) >= 0


class Shape(metaclass=Meta):
    pass


class Box:
    def __init__(self, x):
        self.x = x


def framework(n):
    return inner(n)


def reached_spread(a, b):
    return a + b


def reached_enclosed(a, b):
    return a - b


def reached_table(a, b):
    return a ^ b


def reached_list(a, b):
    return a | b
'''

PROGRAM = '''\
import json
import sys
import types
from time import perf_counter as clock

import dsl
import helper

FUNCTIONS = [getattr(dsl, "f%d" % i) for i in range({count})]
dsl.table["or"] = helper.reached_table
inside = [0.0, 0]


def outermost(function, *arguments):
    before = clock()
    result = function(*arguments)
    inside[0] += clock() - before
    inside[1] += 1
    return result


def nothing(x):
    pass


# Builtins in the places of other modules' functions.
blank = types.ModuleType("blank")
blank.outer, blank.debug, blank.copy = abs, isinstance, list


def around_nothing(function, *arguments):
    before = clock()
    function(*arguments)
    return clock() - before


def around_one(x):
    before = clock()
    blank.outer(x)
    blank.debug('x %s', str)
    return clock() - before


def around_two(x):
    before = clock()
    items = sorted((3, 1, 2), key=abs)
    box = float(x)
    found = isinstance(box, int)
    items = blank.copy(items)
    return clock() - before


def least(window, *arguments):
    """Seconds that a window shows of what is around a call: of the DSL for those in it."""
    return min(window(*arguments) for _ in range(300))


def once(n):
    check = 0
    for function in FUNCTIONS:
        check += outermost(function, n)
    check += sum(outermost(dsl.apply, dsl.chain(dsl.f0, dsl.f1, dsl.f10), range(5)))
    check += outermost(dsl.fork(dsl.both, dsl.f0, dsl.f20), n)
    check += outermost(dsl.spin, 3000)
    check += outermost(sum, dsl.counted(4))
    check += outermost(dsl.spread, helper.reached_spread, (n, 1))
    check += outermost(dsl.bound(helper.reached_enclosed), n, 1)
    check += outermost(dsl.by_name, "or", (n, 1))
    check += outermost(dsl.steps, [(helper.reached_list, (n, 1))])
    check += helper.framework(9000)
    return check


def run(rounds):
    return sum(once(n % 16) for n in range(rounds))


def main():
    rounds, mode = int(sys.argv[1]), sys.argv[2:3]
    if mode == ["--cprofile"]:
        import cProfile
        import pstats
        profile = cProfile.Profile()
        check = profile.runcall(run, rounds)
        counts = []
        for (file, line, name), row in pstats.Stats(profile).stats.items():
            callers = [[*who, how[1]] for who, how in row[4].items()]
            counts.append([file, line, name, row[1], callers])
        with open(sys.argv[3], "w") as out:
            json.dump(counts, out)
    else:
        before = clock()
        check = run(rounds)
        whole = clock() - before
        if mode == ["--truth"]:
            with open(sys.argv[3], "w") as out:
                there = inside[0] - inside[1] * least(around_nothing, nothing, 1)
                gone = (dsl.away[0] - dsl.away[1] * least(around_one, 1)
                        - dsl.away[2] * least(around_two, 1))
                json.dump({{"whole": whole, "dsl": there - gone}}, out)
    print(check)


main()
'''


def dsl_text():
    parts = [HEAD, "\n\ndef both_ways(x):\n    return lambda y: y + x\n"]
    for i in range(FUNCTIONS):
        body = BODIES[i % 10].format(i=i, low=i // 10 * 10)
        parts.append("\n\ndef f%d(x):\n%s" % (i, body))
    return "".join(parts)


def write(directory):
    texts = {"dsl.py": dsl_text(), "helper.py": HELPER,
             "program.py": PROGRAM.format(count=FUNCTIONS)}
    for name, text in texts.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    write(sys.argv[1])
