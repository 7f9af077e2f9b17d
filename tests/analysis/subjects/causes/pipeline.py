# SPDX-License-Identifier: MIT
"""Runs the module dsl of the working directory over grids: pipeline.py ROUNDS."""
import random
import sys

sys.path.insert(0, "")
import dsl


def main(rounds):
    random.seed(7)
    size = 12
    grids = [[[random.randrange(10) for _ in range(size)] for _ in range(size)] for _ in range(9)]
    total = 0
    for number in range(rounds):
        grid = grids[number % len(grids)]
        shifted = dsl.shift(grid, number)
        for place in range(6):
            total += dsl.index(grid, (place, number))
        total += dsl.tally(grid) + len(shifted)
    print(total)


main(int(sys.argv[1]))
