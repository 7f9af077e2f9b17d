# SPDX-License-Identifier: MIT
"""A DSL whose every function builds a message for a logger that is off."""
import logging

logger = logging.getLogger(__name__)


def index(grid, place):
    logger.info(f"{grid = } {place = }")  # planted
    row, column = place
    return grid[row % len(grid)][column % len(grid[0])]


def shift(grid, by):
    logger.info(f"{grid = } {by = }")  # planted
    return tuple(tuple((cell + by) % 10 for cell in row) for row in grid)


def tally(grid):
    logger.info(f"{grid = }")  # planted
    return sum(sum(row) for row in grid)
