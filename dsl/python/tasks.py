# SPDX-License-Identifier: MIT
"""Tasks: grids that one of the known programs turns into others. A program is a text of DSL statements
from I to O; candidates share their first statements, as those of a search do."""
import random

import dsl

PROGRAMS = {
    "hmirror": "O = hmirror(I)",
    "vmirror": "O = vmirror(I)",
    "rot90": "O = rot90(I)",
    "rot180": "O = rot180(I)",
    "turn_twice": "x1 = rot90(I)\nO = hmirror(x1)",
    "biggest": "x1 = o_g(I, 5)\nx2 = argmax(x1, size)\nO = subgrid(x2, I)",
    "smallest": "x1 = o_g(I, 5)\nx2 = argmin(x1, size)\nO = subgrid(x2, I)",
    "cover_biggest": "x1 = o_g(I, 5)\nx2 = argmax(x1, size)\nO = cover(I, x2)",
    "frame": "x1 = o_g(I, 5)\nx2 = argmax(x1, size)\nx3 = outbox(x2)\nO = fill(I, 8, x3)",
    "frames": "x1 = o_g(I, 7)\nx2 = mapply(outbox, x1)\nO = fill(I, 3, x2)",
    "holes": "x1 = o_g(I, 4)\nx2 = rbind(bordering, I)\nx3 = sfilter(x1, compose(lambda b: not b, x2))\n"
             "x4 = merge(x3)\nO = fill(I, 4, x4)",
    "recolor_all": "x1 = o_g(I, 5)\nx2 = lbind(recolor, 2)\nx3 = mapply(x2, x1)\nO = paint(I, x3)",
    "deltas": "x1 = o_g(I, 1)\nx2 = mapply(delta, x1)\nO = fill(I, 6, x2)",
    "backdrops": "x1 = o_g(I, 3)\nx2 = mapply(backdrop, x1)\nO = fill(I, 7, x2)",
    "down": "x1 = o_g(I, 5)\nx2 = argmax(x1, size)\nO = move(I, x2, (1, 0))",
    "switch": "x1 = mostcolor(I)\nx2 = leastcolor(I)\nO = switch(I, x1, x2)",
    "replace": "x1 = leastcolor(I)\nO = replace(I, x1, 9)",
    "double": "O = upscale(I, 2)",
    "side_by_side": "x1 = vmirror(I)\nO = hconcat(I, x1)",
    "four": "x1 = vmirror(I)\nx2 = hconcat(I, x1)\nx3 = hmirror(x2)\nO = vconcat(x2, x3)",
    "left": "x1 = lefthalf(I)\nO = upscale(x1, 2)",
    "trimmed": "x1 = trim(I)\nx2 = compress(x1)\nO = identity(x2)",
    "symmetric": "x1 = vmirror(I)\nO = cellwise(I, x1, 0)",
    "lonely": "x1 = fgpartition(I)\nx2 = argmin(x1, size)\nx3 = mapply(neighbors, toindices(x2))\n"
              "x4 = asindices(I) & x3\nO = fill(I, 5, x4)",
    "tallest": "x1 = o_g(I, 7)\nx2 = argmax(x1, fork(greater, height, width))\nx3 = normalize(x2)\n"
               "O = paint(canvas(0, shape(x3)), x3)",
    "palette": "x1 = partition(I)\nx2 = apply(color, x1)\nx3 = dedupe(tuple(sorted(x2)))\nO = (x3,)",
}


def solve(name, grid):
    space = dict(vars(dsl), I=grid)
    exec(PROGRAMS[name], space)
    return space["O"]


def random_grid(generator, side):
    rows = [[0] * side for _ in range(side)]
    for _ in range(generator.randint(3, 5)):
        value, h, w = (generator.randint(1, 9), generator.randint(1, side // 3),
                       generator.randint(1, side // 2))
        top, left = generator.randint(0, side - h), generator.randint(0, side - w)
        for i in range(top, top + h):
            for j in range(left, left + w):
                rows[i][j] = value
    return tuple(map(tuple, rows))


def make_task(number, seed):
    generator = random.Random(seed * 1000003 + number)
    name = generator.choice(sorted(PROGRAMS))
    pairs = []
    side = generator.randint(8, 14)
    while len(pairs) < 4:
        grid = random_grid(generator, side)
        pairs.append((grid, solve(name, grid)))
    return {"id": "%08x" % generator.getrandbits(32), "train": pairs[:3], "test": pairs[3:]}


def generate(count, start, seed):
    return [make_task(number, seed) for number in range(start, start + count)]
