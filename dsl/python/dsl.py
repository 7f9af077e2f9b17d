# SPDX-License-Identifier: MIT
"""The ARC grid DSL in Python: small functions on tuples and frozensets, nested through apply, compose
and fork, as the pipelines have them. A grid is a tuple of rows; an object a frozenset of (colour,
(row, column)); a patch an object or a frozenset of places.

Call log_to() and every function logs its calls, which costs more than most of them do."""
import logging
from typing import Any, Callable, FrozenSet, Tuple, Union

Grid = Tuple[Tuple[int, ...], ...]
Place = Tuple[int, int]
Indices = FrozenSet[Place]
Object = FrozenSet[Tuple[int, Place]]
Patch = Union[Object, Indices]

_log = None


def log_to(path):
    """Log every DSL call to a file; before threads start."""
    global _log
    _log = logging.getLogger("dsl")
    _log.setLevel(logging.INFO)
    _log.propagate = False
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _log.addHandler(handler)


# Values

def identity(x: Any) -> Any:
    if _log:
        _log.info("identity")
    return x


def equality(a: Any, b: Any) -> bool:
    if _log:
        _log.info("equality")
    return a == b


def greater(a: int, b: int) -> bool:
    if _log:
        _log.info("greater: %r %r", a, b)
    return a > b


def size(container) -> int:
    if _log:
        _log.info("size")
    return len(container)


def dedupe(items: Tuple) -> Tuple:
    if _log:
        _log.info("dedupe: %d", len(items))
    return tuple(e for i, e in enumerate(items) if items.index(e) == i)


def merge(containers):
    if _log:
        _log.info("merge: %d", len(containers))
    return type(containers)(e for c in containers for e in c)


def difference(a, b):
    if _log:
        _log.info("difference: %d %d", len(a), len(b))
    return type(a)(e for e in a if e not in b)


def get_nth(container, n: int):
    if _log:
        _log.info("get_nth: %d", n)
    return sorted(container, key=repr)[n] if isinstance(container, frozenset) else container[n]


def sizefilter(container: FrozenSet, n: int) -> FrozenSet:
    if _log:
        _log.info("sizefilter: %d", n)
    return frozenset(item for item in container if len(item) == n)


def colorfilter(objs: FrozenSet, value: int) -> FrozenSet:
    if _log:
        _log.info("colorfilter: %d", value)
    return frozenset(obj for obj in objs if next(iter(obj))[0] == value)


# Functions of functions

def apply(function: Callable, container):
    if _log:
        _log.info("apply: %d", len(container))
    return type(container)(function(e) for e in container)


def mapply(function: Callable, container):
    if _log:
        _log.info("mapply: %d", len(container))
    return merge(apply(function, container))


def sfilter(container, condition: Callable):
    if _log:
        _log.info("sfilter: %d", len(container))
    return type(container)(e for e in container if condition(e))


def mfilter(container, condition: Callable):
    if _log:
        _log.info("mfilter: %d", len(container))
    return merge(sfilter(container, condition))


def argmax(container, key: Callable):
    if _log:
        _log.info("argmax: %d", len(container))
    return max(sorted(container, key=sorted), key=key)


def argmin(container, key: Callable):
    if _log:
        _log.info("argmin: %d", len(container))
    return min(sorted(container, key=sorted), key=key)


def compose(outer: Callable, inner: Callable) -> Callable:
    if _log:
        _log.info("compose")
    return lambda x: outer(inner(x))


def chain(h: Callable, g: Callable, f: Callable) -> Callable:
    if _log:
        _log.info("chain")
    return lambda x: h(g(f(x)))


def fork(outer: Callable, a: Callable, b: Callable) -> Callable:
    if _log:
        _log.info("fork")
    return lambda x: outer(a(x), b(x))


def lbind(function: Callable, fixed: Any) -> Callable:
    if _log:
        _log.info("lbind")

    def bound(*arguments):
        return function(fixed, *arguments)
    return bound


def rbind(function: Callable, fixed: Any) -> Callable:
    if _log:
        _log.info("rbind")

    def bound(*arguments):
        return function(*arguments, fixed)
    return bound


# Places and patches

def neighbors(place: Place) -> Indices:
    if _log:
        _log.info("neighbors: %r", place)
    return dneighbors(place) | ineighbors(place)


def dneighbors(place: Place) -> Indices:
    if _log:
        _log.info("dneighbors: %r", place)
    i, j = place
    return frozenset({(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)})


def ineighbors(place: Place) -> Indices:
    if _log:
        _log.info("ineighbors: %r", place)
    i, j = place
    return frozenset({(i - 1, j - 1), (i - 1, j + 1), (i + 1, j - 1), (i + 1, j + 1)})


def toindices(patch: Patch) -> Indices:
    if _log:
        _log.info("toindices: %d", len(patch))
    if patch and isinstance(next(iter(patch))[1], tuple):
        return frozenset(place for _, place in patch)
    return frozenset(patch)


def uppermost(patch: Patch) -> int:
    if _log:
        _log.info("uppermost: %d", len(patch))
    return min(i for i, _ in toindices(patch))


def lowermost(patch: Patch) -> int:
    if _log:
        _log.info("lowermost: %d", len(patch))
    return max(i for i, _ in toindices(patch))


def leftmost(patch: Patch) -> int:
    if _log:
        _log.info("leftmost: %d", len(patch))
    return min(j for _, j in toindices(patch))


def rightmost(patch: Patch) -> int:
    if _log:
        _log.info("rightmost: %d", len(patch))
    return max(j for _, j in toindices(patch))


def ulcorner(patch: Patch) -> Place:
    if _log:
        _log.info("ulcorner: %d", len(patch))
    return (uppermost(patch), leftmost(patch))


def lrcorner(patch: Patch) -> Place:
    if _log:
        _log.info("lrcorner: %d", len(patch))
    return (lowermost(patch), rightmost(patch))


def height(piece) -> int:
    if _log:
        _log.info("height")
    if not piece:
        return 0
    return len(piece) if isinstance(piece, tuple) else lowermost(piece) - uppermost(piece) + 1


def width(piece) -> int:
    if _log:
        _log.info("width")
    if not piece:
        return 0
    return len(piece[0]) if isinstance(piece, tuple) else rightmost(piece) - leftmost(piece) + 1


def shape(piece) -> Place:
    if _log:
        _log.info("shape")
    return (height(piece), width(piece))


def shift(patch: Patch, by: Place) -> Patch:
    if _log:
        _log.info("shift: %r", by)
    if patch and isinstance(next(iter(patch))[1], tuple):
        return frozenset((value, (i + by[0], j + by[1])) for value, (i, j) in patch)
    return frozenset((i + by[0], j + by[1]) for i, j in patch)


def normalize(patch: Patch) -> Patch:
    if _log:
        _log.info("normalize: %d", len(patch))
    return shift(patch, (-uppermost(patch), -leftmost(patch)))


def recolor(value: int, patch: Patch) -> Object:
    if _log:
        _log.info("recolor: %d", value)
    return frozenset((value, place) for place in toindices(patch))


def backdrop(patch: Patch) -> Indices:
    if _log:
        _log.info("backdrop: %d", len(patch))
    (si, sj), (ei, ej) = ulcorner(patch), lrcorner(patch)
    return frozenset((i, j) for i in range(si, ei + 1) for j in range(sj, ej + 1))


def delta(patch: Patch) -> Indices:
    if _log:
        _log.info("delta: %d", len(patch))
    return backdrop(patch) - toindices(patch)


def box(patch: Patch) -> Indices:
    if _log:
        _log.info("box: %d", len(patch))
    (si, sj), (ei, ej) = ulcorner(patch), lrcorner(patch)
    sides = {(i, j) for i in range(si, ei + 1) for j in (sj, ej)}
    return frozenset(sides | {(i, j) for j in range(sj, ej + 1) for i in (si, ei)})


def outbox(patch: Patch) -> Indices:
    if _log:
        _log.info("outbox: %d", len(patch))
    (si, sj), (ei, ej) = ulcorner(patch), lrcorner(patch)
    return box(frozenset({(si - 1, sj - 1), (ei + 1, ej + 1)}))


def bordering(patch: Patch, grid: Grid) -> bool:
    if _log:
        _log.info("bordering: %d", len(patch))
    return (uppermost(patch) == 0 or leftmost(patch) == 0 or
            lowermost(patch) == len(grid) - 1 or rightmost(patch) == len(grid[0]) - 1)


# Grids

def asindices(grid: Grid) -> Indices:
    if _log:
        _log.info("asindices")
    return frozenset((i, j) for i in range(len(grid)) for j in range(len(grid[0])))


def asobject(grid: Grid) -> Object:
    if _log:
        _log.info("asobject")
    return frozenset((v, (i, j)) for i, row in enumerate(grid) for j, v in enumerate(row))


def ofcolor(grid: Grid, value: int) -> Indices:
    if _log:
        _log.info("ofcolor: %d", value)
    return frozenset((i, j) for i, row in enumerate(grid) for j, v in enumerate(row) if v == value)


def palette(element) -> FrozenSet[int]:
    if _log:
        _log.info("palette")
    if isinstance(element, tuple):
        return frozenset({v for row in element for v in row})
    return frozenset({v for v, _ in element})


def mostcolor(element) -> int:
    if _log:
        _log.info("mostcolor")
    values = [v for row in element for v in row] if isinstance(element, tuple) else \
        [v for v, _ in element]
    return max(sorted(set(values)), key=values.count)


def leastcolor(element) -> int:
    if _log:
        _log.info("leastcolor")
    values = [v for row in element for v in row] if isinstance(element, tuple) else \
        [v for v, _ in element]
    return min(sorted(set(values)), key=values.count)


def color(obj: Object) -> int:
    if _log:
        _log.info("color")
    return next(iter(obj))[0]


def objects(grid: Grid, univalued: bool, diagonal: bool, without_bg: bool) -> FrozenSet[Object]:
    if _log:
        _log.info("objects: %r %r %r", univalued, diagonal, without_bg)
    background = mostcolor(grid) if without_bg else None
    found, occupied = set(), set()
    around = neighbors if diagonal else dneighbors
    unvisited = asindices(grid)
    for place in sorted(unvisited):
        value = grid[place[0]][place[1]]
        if place in occupied or value == background:
            continue
        obj, open_places = set(), {place}
        while open_places:
            obj |= {(grid[i][j], (i, j)) for i, j in open_places}
            occupied |= open_places
            more = set().union(*(around(p) for p in open_places))
            open_places = {(i, j) for i, j in (more & unvisited) - occupied
                           if (grid[i][j] == value if univalued else grid[i][j] != background)}
        found.add(frozenset(obj))
    return frozenset(found)


def o_g(grid: Grid, kind: int) -> FrozenSet[Object]:
    if _log:
        _log.info("o_g: %d", kind)
    return objects(grid, bool(kind & 4), bool(kind & 2), bool(kind & 1))


def partition(grid: Grid) -> FrozenSet[Object]:
    if _log:
        _log.info("partition")
    return frozenset(recolor(value, ofcolor(grid, value)) for value in palette(grid))


def fgpartition(grid: Grid) -> FrozenSet[Object]:
    if _log:
        _log.info("fgpartition")
    background = mostcolor(grid)
    return frozenset(recolor(v, ofcolor(grid, v)) for v in palette(grid) if v != background)


def canvas(value: int, dims: Place) -> Grid:
    if _log:
        _log.info("canvas: %d %r", value, dims)
    return tuple((value,) * dims[1] for _ in range(dims[0]))


def paint(grid: Grid, obj: Object) -> Grid:
    if _log:
        _log.info("paint: %d", len(obj))
    rows = [list(row) for row in grid]
    for value, (i, j) in obj:
        if 0 <= i < len(rows) and 0 <= j < len(rows[0]):
            rows[i][j] = value
    return tuple(map(tuple, rows))


def fill(grid: Grid, value: int, patch: Patch) -> Grid:
    if _log:
        _log.info("fill: %d %d", value, len(patch))
    return paint(grid, recolor(value, patch))


def cover(grid: Grid, patch: Patch) -> Grid:
    if _log:
        _log.info("cover: %d", len(patch))
    return fill(grid, mostcolor(grid), patch)


def move(grid: Grid, obj: Object, by: Place) -> Grid:
    if _log:
        _log.info("move: %r", by)
    return paint(cover(grid, obj), shift(obj, by))


def replace(grid: Grid, old: int, new: int) -> Grid:
    if _log:
        _log.info("replace: %d %d", old, new)
    return tuple(tuple(new if v == old else v for v in row) for row in grid)


def switch(grid: Grid, a: int, b: int) -> Grid:
    if _log:
        _log.info("switch: %d %d", a, b)
    return tuple(tuple({a: b, b: a}.get(v, v) for v in row) for row in grid)


def hmirror(grid: Grid) -> Grid:
    if _log:
        _log.info("hmirror")
    return grid[::-1]


def vmirror(grid: Grid) -> Grid:
    if _log:
        _log.info("vmirror")
    return tuple(row[::-1] for row in grid)


def dmirror(grid: Grid) -> Grid:
    if _log:
        _log.info("dmirror")
    return tuple(zip(*grid))


def rot90(grid: Grid) -> Grid:
    if _log:
        _log.info("rot90")
    return tuple(row for row in zip(*grid[::-1]))


def rot180(grid: Grid) -> Grid:
    if _log:
        _log.info("rot180")
    return tuple(tuple(row[::-1]) for row in grid[::-1])


def rot270(grid: Grid) -> Grid:
    if _log:
        _log.info("rot270")
    return tuple(tuple(row[::-1]) for row in zip(*grid[::-1]))[::-1]


def upscale(grid: Grid, factor: int) -> Grid:
    if _log:
        _log.info("upscale: %d", factor)
    wide = (tuple(v for v in row for _ in range(factor)) for row in grid)
    return tuple(row for row in wide for _ in range(factor))


def downscale(grid: Grid, factor: int) -> Grid:
    if _log:
        _log.info("downscale: %d", factor)
    return tuple(row[::factor] for row in grid[::factor])


def hconcat(a: Grid, b: Grid) -> Grid:
    if _log:
        _log.info("hconcat")
    return tuple(i + j for i, j in zip(a, b))


def vconcat(a: Grid, b: Grid) -> Grid:
    if _log:
        _log.info("vconcat")
    return a + b


def crop(grid: Grid, start: Place, dims: Place) -> Grid:
    if _log:
        _log.info("crop: %r %r", start, dims)
    return tuple(r[start[1]:start[1] + dims[1]] for r in grid[start[0]:start[0] + dims[0]])


def subgrid(patch: Patch, grid: Grid) -> Grid:
    if _log:
        _log.info("subgrid: %d", len(patch))
    return crop(grid, ulcorner(patch), shape(patch))


def tophalf(grid: Grid) -> Grid:
    if _log:
        _log.info("tophalf")
    return grid[:len(grid) // 2]


def lefthalf(grid: Grid) -> Grid:
    if _log:
        _log.info("lefthalf")
    return rot270(tophalf(rot90(grid)))


def trim(grid: Grid) -> Grid:
    if _log:
        _log.info("trim")
    return tuple(row[1:-1] for row in grid[1:-1])


def compress(grid: Grid) -> Grid:
    if _log:
        _log.info("compress")
    rows = {i for i, row in enumerate(grid) if len(set(row)) == 1}
    columns = {j for j, column in enumerate(dmirror(grid)) if len(set(column)) == 1}
    return tuple(tuple(v for j, v in enumerate(row) if j not in columns)
                 for i, row in enumerate(grid) if i not in rows)


def cellwise(a: Grid, b: Grid, fallback: int) -> Grid:
    if _log:
        _log.info("cellwise: %d", fallback)
    return tuple(tuple(x if x == y else fallback for x, y in zip(p, q)) for p, q in zip(a, b))
