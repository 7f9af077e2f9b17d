# SPDX-License-Identifier: MIT
"""A DSL function that asks by an exception whether a colour is there."""
from contextlib import suppress

palette = (11, 12, 13, 14)


def index(grid, place):
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid, by):
    found = []
    for row in grid:
        for cell in row:
            with suppress(ValueError): cell = palette.index(cell)  # planted
            found.append((cell + by) % 10)
        found.append(tuple((cell + by) % 10 for cell in row))
    return found


def tally(grid):
    return sum(sum(row) for row in grid)
