# SPDX-License-Identifier: MIT
"""Writes a program like those that battprof is for: dsl.py, 200 small functions on grids (tuples of
tuples), objects (frozensets of cells) and functions, solvers.py, generated code that combines them,
and run.py: pipeline.py DIRECTORY

run.py PASSES              solves every task so many times; prints a checksum and the loop's seconds
run.py --serve [cProfile]  solves all tasks per line of input; prints the nanoseconds of each
run.py --stamps PASSES     the same as PASSES; prints the clock before, and after each task
run.py --calls             one pass under cProfile; prints calls of DSL functions
"""
import os
import random
import sys

SOLVERS = 60
# The rest are variants with a constant, as DSLs have them.
BY_HAND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "subjects", "pipeline_dsl.py")

# name, body; {c} is a colour, {n} a small number
VARIANTS = (
    ("recolor_{c}", "(patch):\n    return recolor({c}, patch)\n"),
    ("of_{c}", "(grid):\n    return ofcolor(grid, {c})\n"),
    ("count_{c}", "(grid):\n    return colorcount(grid, {c})\n"),
    ("fill_{c}", "(grid, patch):\n    return fill(grid, {c}, patch)\n"),
    ("without_{c}", "(grid):\n    return replace(grid, {c}, 0)\n"),
    ("switch_{c}", "(grid):\n    return switch(grid, 0, {c})\n"),
    ("is_{c}", "(obj):\n    return color(obj) == {c}\n"),
    ("larger_{n}", "(container):\n    return len(container) > {n}\n"),
    ("down_{n}", "(patch):\n    return shift(patch, ({n}, 0))\n"),
    ("right_{n}", "(patch):\n    return shift(patch, (0, {n}))\n"),
    ("top_{n}", "(grid):\n    return grid[:{n} + 1]\n"),
    ("left_{n}", "(grid):\n    return tuple(row[:{n} + 1] for row in grid)\n"),
    ("plus_{n}", "(x):\n    return x + {n}\n"),
    ("times_{n}", "(x):\n    return x * {n}\n"),
    ("half_{n}", "(grid):\n    return downscale(grid, {n})\n"),
)

# What a solver line may be: x and y are grids that exist, o a set of objects.
LINES = (
    "{new} = {grid}({x})",
    "{new} = {grid}({x})",
    "{new} = dsl.compose(dsl.{grid_}, dsl.{grid2_})({x})",
    "{new} = dsl.chain(dsl.{grid_}, dsl.{grid2_}, dsl.{grid_})({x})",
    "{new} = dsl.hconcat(dsl.lefthalf({x}), dsl.lefthalf({y}))",
    "{new} = dsl.cellwise({x}, {x}, {c})",
    "{new} = dsl.fill({x}, {c}, dsl.of_{c}({y}))",
    "{new} = dsl.fill_{c}({x}, dsl.box(dsl.argmax({o}, dsl.size) or frozenset()))",
    "{new} = dsl.paint({x}, dsl.mapply(dsl.recolor_{c}, {o}))",
    "{new} = dsl.paint({x}, dsl.mfilter({o}, dsl.compose(dsl.larger_{n}, dsl.identity)))",
    "{new} = dsl.cover({x}, dsl.merge(dsl.sfilter({o}, dsl.matcher(dsl.size, {n}))))",
    "{new} = dsl.paint({x}, dsl.mapply(dsl.chain(dsl.down_{n}, dsl.recolor_{c}, dsl.toindices), {o}))",
    "{new} = dsl.paint({x}, dsl.merge(dsl.apply(dsl.lbind(dsl.recolor, {c}), {o})))",
    "{new} = dsl.power(dsl.{grid_}, {n})({x})",
    "{new} = {x} if dsl.greater(dsl.count_{c}({x}), {n}) else dsl.{grid_}({x})",
    "{new} = {x} if dsl.fork(dsl.both, dsl.larger_{n}, dsl.issymmetric)({x}) else dsl.rot180({x})",
    "{o} = dsl.objects({x})",
    "{new} = dsl.fill_{c}({x}, dsl.occurrences({x}, dsl.argmin({o}, dsl.size) or frozenset()))",
    "{new} = dsl.paint({x}, dsl.argmax({o}, lambda e: dsl.manhattan(e, dsl.first({o}))) or ())",
    "{new} = {x} if dsl.apply(dsl.rbind(dsl.add, {n}), dsl.apply(dsl.size, dsl.order({o}, dsl.size)))"
    " else {y}",
)

GRIDS = ("hmirror", "vmirror", "rot90", "rot180", "dmirror") + tuple(
    "%s_%d" % (name, c) for name in ("without", "switch") for c in range(1, 10))

RUN = '''\
import random
import sys
from time import perf_counter_ns as clock

import solvers

SIDE = 20  # so that a DSL call takes as long as one of ARC-DSL on 3.11: 3.7 us
SOLVERS = [getattr(solvers, "solve_%d" % i) for i in range({count})]


def task(seed):
    source = random.Random(seed)
    grid = [[0] * SIDE for _ in range(SIDE)]
    for _ in range(6):
        i, j, value = source.randrange(SIDE - 1), source.randrange(SIDE - 1), source.randrange(1, 10)
        for cell in range(source.randrange(1, 5)):
            grid[i + cell % 2][j + cell // 2 % 2] = value
    return tuple(map(tuple, grid))


TASKS = [task(seed) for seed in range({count})]


def one(number):
    return sum(map(sum, SOLVERS[number](TASKS[number])))


def once():
    return sum(map(one, range({count})))


def timed(number):
    before = clock()
    one(number)
    return clock() - before


def serve(profiler):
    for _ in sys.stdin:
        if profiler:
            profiler.enable()
        spent = [timed(number) for number in range({count})]
        if profiler:
            profiler.disable()
        print(*spent, flush=True)


def stamps(passes):
    stamps = [clock()]
    for _ in range(passes):
        for number in range({count}):
            one(number)
            stamps.append(clock())
    print(*stamps)


def count_calls():
    import cProfile
    import pstats
    profiler = cProfile.Profile()
    profiler.runcall(once)
    stats = pstats.Stats(profiler).stats.items()
    print(sum(row[1] for (file, _, name), row in stats
              if file.endswith("dsl.py") and name != "<genexpr>"))


def main(arguments):
    if arguments[0] == "--serve":
        profiler = None
        if arguments[1:]:
            import cProfile
            profiler = cProfile.Profile()
        serve(profiler)
    elif arguments[0] == "--stamps":
        stamps(int(arguments[1]))
    elif arguments[0] == "--calls":
        count_calls()
    else:
        before = clock()
        check = sum(once() for _ in range(int(arguments[0])))
        print(check, (clock() - before) / 1e9)


main(sys.argv[1:])
'''


def dsl_text():
    with open(BY_HAND, encoding="utf-8") as file:
        parts = [file.read()]
    for c in range(1, 10):
        for name, body in VARIANTS:
            parts.append("\n\ndef " + name.format(c=c, n=c) + body.format(c=c, n=c))
    return "".join(parts)


def solver_text(number):
    source = random.Random(number)
    lines, grids = ["o = dsl.objects(grid)"], ["grid"]
    for step in range(source.randrange(8, 20)):
        new = "x%d" % step
        line = source.choice(LINES)
        grid_, grid2_ = source.choice(GRIDS), source.choice(GRIDS)
        lines.append(line.format(new=new, x=source.choice(grids), y=source.choice(grids), o="o",
                                 c=source.randrange(1, 10), n=source.randrange(1, 5),
                                 grid="dsl." + grid_, grid_=grid_, grid2_=grid2_))
        if line.startswith("{new}"):
            grids.append(new)
    return "\n\ndef solve_%d(grid):\n    %s\n    return %s\n" % (number, "\n    ".join(lines), grids[-1])


def write(directory):
    texts = {"dsl.py": dsl_text(), "run.py": RUN.format(count=SOLVERS),
             "solvers.py": "import dsl\n" + "".join(map(solver_text, range(SOLVERS)))}
    for name, text in texts.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    write(sys.argv[1])
