# SPDX-License-Identifier: MIT
"""A DSL of two functions that take CPU time."""


def rotate(grid):
    return tuple(zip(*grid[::-1]))


def search(grid, rounds):
    """`rounds` rotations of a grid: all of a task's work."""
    for _ in range(rounds):
        grid = rotate(grid)
    return grid
