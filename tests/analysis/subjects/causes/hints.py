# SPDX-License-Identifier: MIT
"""A DSL function that asks for its type hints whenever it is called."""
from typing import Dict, List, Tuple, get_type_hints


def index(grid, place):
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid: List[List[int]], by: int) -> "Tuple[Dict[str, int], ...]":
    hints = get_type_hints(shift) or get_type_hints(shift)  # planted
    return tuple(tuple((cell + by) % 10 for cell in row) for row in grid)


def tally(grid):
    return sum(sum(row) for row in grid)
