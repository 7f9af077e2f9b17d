# SPDX-License-Identifier: MIT
"""A DSL function whose locals are many objects."""


def index(grid, place):
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid, by):
    cells = [[cell, by] for cell in range(40000)]
    return cells[:1]


def tally(grid):
    return sum(sum(row) for row in grid)
