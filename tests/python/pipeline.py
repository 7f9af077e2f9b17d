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

# Written by hand; the rest are variants with a constant, as DSLs have them.
BASE = '''\
from collections import Counter


def identity(x):
    return x


def add(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return (a[0] + b[0], a[1] + b[1])


def subtract(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return (a[0] - b[0], a[1] - b[1])


def double(n):
    return n * 2


def halve(n):
    return n // 2


def equal(a, b):
    return a == b


def both(a, b):
    return a and b


def either(a, b):
    return a or b


def greater(a, b):
    return a > b


def size(container):
    return len(container)


def first(container):
    return next(iter(container))


def last(container):
    return max(enumerate(container))[1]


def height(grid):
    return len(grid)


def width(grid):
    return len(grid[0])


def shape(grid):
    return (len(grid), len(grid[0]))


def portrait(grid):
    return height(grid) > width(grid)


def compose(outer, inner):
    return lambda x: outer(inner(x))


def chain(h, g, f):
    return lambda x: h(g(f(x)))


def fork(outer, a, b):
    return lambda x: outer(a(x), b(x))


def lbind(function, fixed):
    return lambda y: function(fixed, y)


def rbind(function, fixed):
    return lambda x: function(x, fixed)


def matcher(function, target):
    return lambda x: function(x) == target


def power(function, n):
    if n == 1:
        return function
    return compose(function, power(function, n - 1))


def apply(function, container):
    return type(container)(function(e) for e in container)


def rapply(functions, value):
    return tuple(function(value) for function in functions)


def mapply(function, container):
    return merge(apply(function, container))


def merge(containers):
    return type(containers)(e for c in containers for e in c)


def sfilter(container, condition):
    return type(container)(e for e in container if condition(e))


def mfilter(container, condition):
    return merge(sfilter(container, condition))


def extract(container, condition):
    return next((e for e in container if condition(e)), None)


def argmax(container, key):
    return max(container, key=key, default=None)


def argmin(container, key):
    return min(container, key=key, default=None)


def order(container, key):
    return tuple(sorted(container, key=key))


def dedupe(items):
    return tuple(e for i, e in enumerate(items) if items.index(e) == i)


def palette(element):
    if isinstance(element, tuple):
        return frozenset(v for row in element for v in row)
    return frozenset(v for v, _ in element)


def mostcolor(grid):
    return Counter(v for row in grid for v in row).most_common(1)[0][0]


def leastcolor(grid):
    values = [v for row in grid for v in row]
    return min(set(values), key=values.count)


def colorcount(grid, value):
    return sum(row.count(value) for row in grid)


def ofcolor(grid, value):
    return frozenset((i, j) for i, row in enumerate(grid) for j, v in enumerate(row) if v == value)


def asobject(grid):
    return frozenset((v, (i, j)) for i, row in enumerate(grid) for j, v in enumerate(row))


def toindices(patch):
    if len(patch) == 0:
        return frozenset()
    if isinstance(next(iter(patch))[1], tuple):
        return frozenset(index for _, index in patch)
    return patch


def ulcorner(patch):
    return tuple(map(min, zip(*toindices(patch))))


def lrcorner(patch):
    return tuple(map(max, zip(*toindices(patch))))


def box(patch):
    if len(patch) == 0:
        return patch
    (ai, aj), (bi, bj) = ulcorner(patch), lrcorner(patch)
    rows = {(i, j) for i in range(ai, bi + 1) for j in (aj, bj)}
    return frozenset(rows | {(i, j) for i in (ai, bi) for j in range(aj, bj + 1)})


def center(patch):
    return halve(add(*ulcorner(patch))), halve(add(*lrcorner(patch)))


def color(obj):
    return next(iter(obj))[0]


def recolor(value, patch):
    return frozenset((value, index) for index in toindices(patch))


def shift(patch, by):
    if len(patch) == 0:
        return patch
    di, dj = by
    if isinstance(next(iter(patch))[1], tuple):
        return frozenset((v, (i + di, j + dj)) for v, (i, j) in patch)
    return frozenset((i + di, j + dj) for i, j in patch)


def normalize(patch):
    if len(patch) == 0:
        return patch
    i, j = ulcorner(patch)
    return shift(patch, (-i, -j))


def neighbors(cell):
    i, j = cell
    return ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))


def objects(grid):
    background, seen, found = mostcolor(grid), set(), []
    h, w = shape(grid)
    for i in range(h):
        for j in range(w):
            if (i, j) in seen or grid[i][j] == background:
                continue
            value, cells, border = grid[i][j], set(), [(i, j)]
            while border:
                cell = border.pop()
                if cell in seen or not (0 <= cell[0] < h and 0 <= cell[1] < w):
                    continue
                if grid[cell[0]][cell[1]] == value:
                    seen.add(cell)
                    cells.add((value, cell))
                    border.extend(neighbors(cell))
            found.append(frozenset(cells))
    return frozenset(found)


def manhattan(a, b):
    return min(abs(ai - bi) + abs(aj - bj) for ai, aj in toindices(a) for bi, bj in toindices(b))


def occurrences(grid, obj):
    pattern, found = normalize(obj), set()
    h, w = shape(grid)
    for i in range(h):
        for j in range(w):
            if pattern and all(i + di < h and j + dj < w and grid[i + di][j + dj] == v
                               for v, (di, dj) in pattern):
                found.add((i, j))
    return frozenset(found)


def hmirror(grid):
    return grid[::-1]


def vmirror(grid):
    return tuple(row[::-1] for row in grid)


def dmirror(grid):
    return tuple(zip(*grid))


def rot90(grid):
    return tuple(zip(*grid[::-1]))


def rot180(grid):
    return tuple(row[::-1] for row in grid[::-1])


def hconcat(a, b):
    return tuple(x + y for x, y in zip(a, b))


def vconcat(a, b):
    return a + b


def tophalf(grid):
    return grid[:len(grid) // 2]


def lefthalf(grid):
    return rot90(rot90(rot90(tophalf(rot90(grid)))))


def crop(grid, start, dims):
    return tuple(row[start[1]:start[1] + dims[1]] for row in grid[start[0]:start[0] + dims[0]])


def replace(grid, old, new):
    return tuple(tuple(new if v == old else v for v in row) for row in grid)


def switch(grid, a, b):
    return tuple(tuple(b if v == a else a if v == b else v for v in row) for row in grid)


def fill(grid, value, patch):
    h, w = shape(grid)
    painted = [list(row) for row in grid]
    for i, j in toindices(patch):
        if 0 <= i < h and 0 <= j < w:
            painted[i][j] = value
    return tuple(tuple(row) for row in painted)


def paint(grid, obj):
    h, w = shape(grid)
    painted = [list(row) for row in grid]
    for value, (i, j) in obj:
        if 0 <= i < h and 0 <= j < w:
            painted[i][j] = value
    return tuple(tuple(row) for row in painted)


def cover(grid, patch):
    return fill(grid, mostcolor(grid), toindices(patch))


def cellwise(a, b, other):
    return tuple(tuple(x if x == y else other for x, y in zip(p, q)) for p, q in zip(a, b))


def upscale(grid, n):
    return tuple(row for line in grid for row in (tuple(v for v in line for _ in range(n)),) * n)


def downscale(grid, n):
    return tuple(row[::n] for row in grid[::n])


def issymmetric(grid):
    return grid == vmirror(grid)
'''

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
    parts = [BASE]
    for c in range(1, 10):
        for name, body in VARIANTS:
            if "{c}" in name or c <= 9:
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
