# SPDX-License-Identifier: MIT
"""A DSL that sorts what must be sorted, and one of whose functions is a single line."""


def index(grid, place):
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid, by):
    found = []
    for row in sorted(grid, key=sum):
        cells = [(cell * 7919 + by) % 101 for cell in row * 6]
        found.append(tuple(sorted(cells)))
        found.append(tuple(cell % 10 for cell in cells))
    return found


def tally(grid):
    return sum((cell * 31 + place) % 7 for _ in range(9) for row in grid for place, cell in enumerate(row))
