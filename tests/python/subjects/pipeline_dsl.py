# SPDX-License-Identifier: MIT
"""A DSL on grids: the functions of pipeline.py's program that are written by hand."""
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
