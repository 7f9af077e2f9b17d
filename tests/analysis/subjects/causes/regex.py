# SPDX-License-Identifier: MIT
"""A DSL function that compiles a pattern each time it is called."""
import re


def index(grid, place):
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid, by):
    pattern = re.compile("(%d+)|[a-%s]{2,3}(?:x|y)*" % (by, "bcdefgh"[by % 7]))  # planted
    return tuple(tuple((cell + by) % 10 for cell in row) for row in grid for _ in range(2))


def tally(grid):
    return sum(sum(row) for row in grid)
