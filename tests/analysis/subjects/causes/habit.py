# SPDX-License-Identifier: MIT
"""Calls the forty functions of the module dsl of the working directory: habit.py ROUNDS, with
`wanted` their messages are written. `habit.py write` makes the module, `write bare` without them."""
import logging
import os
import sys

BODIES = ("grid[::-1]", "tuple(zip(*grid))", "tuple(row[::-1] for row in grid)", "len(grid)")


def write(line):
    text = ["import logging", "logger = logging.getLogger(__name__)"]
    for number in range(40):
        text += ["", "", "def f%d(grid):" % number, "    " + line,
                 "    return " + BODIES[number % len(BODIES)]]
    with open("dsl.py", "w") as f:
        f.write("\n".join(text) + "\n")


def run(rounds, level):
    logging.basicConfig(level=level, filename=os.devnull)
    sys.path.insert(0, "")
    import dsl
    functions = [getattr(dsl, "f%d" % number) for number in range(40)]
    grid = tuple(tuple(range(column, column + 9)) for column in range(9))
    for _ in range(rounds):
        for function in functions:
            function(grid)


if sys.argv[1] == "write":
    write("pass" if sys.argv[2:] else 'logger.info(f"{grid = }")')
else:
    run(int(sys.argv[1]), logging.INFO if sys.argv[2:] else logging.WARNING)
