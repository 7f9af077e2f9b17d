# SPDX-License-Identifier: MIT
"""Ten lines with known shares of a function's time, each measured by itself on the same line; and
functions whose time the interpreter spends in a known way."""
import gc
import logging
import time

SHARES = (1, 2, 3, 4, 5, 7, 10, 12, 16, 40)
logger = logging.getLogger("dsl")
clock = time.thread_time


def ten(units, spent):
    """One statement would do, but its time could not be measured."""
    t = clock(); sum(range(units)); spent[0] += clock() - t  # noqa: E702
    t = clock(); sum(range(2 * units)); spent[1] += clock() - t  # noqa: E702
    t = clock(); sum(range(3 * units)); spent[2] += clock() - t  # noqa: E702
    t = clock(); sum(range(4 * units)); spent[3] += clock() - t  # noqa: E702
    t = clock(); sum(range(5 * units)); spent[4] += clock() - t  # noqa: E702
    t = clock(); sum(range(7 * units)); spent[5] += clock() - t  # noqa: E702
    t = clock(); sum(range(10 * units)); spent[6] += clock() - t  # noqa: E702
    t = clock(); sum(range(12 * units)); spent[7] += clock() - t  # noqa: E702
    t = clock(); sum(range(16 * units)); spent[8] += clock() - t  # noqa: E702
    t = clock(); sum(range(40 * units)); spent[9] += clock() - t  # noqa: E702


def index(grid, place):
    logger.info(f"index: {grid = }, {place = }")
    return grid[place[0]][place[1]]


def order(rows):
    return sorted(rows)


def hashes(rows):
    for row in rows:
        hash(row)


def collect():
    gc.collect()
