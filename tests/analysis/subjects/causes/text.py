# SPDX-License-Identifier: MIT
"""A DSL function that writes the grid down for each of its rows, and uses nothing of it."""


def index(grid, place):
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid, by):
    found = []
    for row in grid:
        key = "|".join("%d:%s" % (by, cell) for cell in row)  # planted
        found.append(tuple((cell + by) % 10 for cell in row))
    return tuple(found)


def tally(grid):
    return sum(sum(row) for row in grid)
