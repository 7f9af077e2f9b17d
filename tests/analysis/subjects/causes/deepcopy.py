# SPDX-License-Identifier: MIT
"""A DSL function that copies its argument, which it does not change."""
import copy


def index(grid, place):
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid, by):
    grid = copy.deepcopy(grid)  # planted
    return [[(cell + by) % 10 for cell in row] for row in grid for _ in range(2)]


def tally(grid):
    return sum(sum(row) for row in grid)
