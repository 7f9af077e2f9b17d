# SPDX-License-Identifier: MIT
"""A DSL function that sorts the same cells for every row."""


def index(grid, place):
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid, by):
    cells = [cell * 7919 % 101 for row in grid for cell in row]
    found = []
    for row in grid:
        order = sorted(cells)  # planted
        found.append(tuple((cell + by) % 10 for cell in row))
    return tuple(found)


def tally(grid):
    return sum(sum(row) for row in grid)
