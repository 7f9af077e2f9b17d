# SPDX-License-Identifier: MIT
"""Code around numpy: the time is its library's, and that of the function here that calls it."""
import numpy


def smooth(values):
    for _ in range(40):
        values = numpy.sort(values[::-1] * 1.0001)
    return values


def total():
    return float(sum(smooth(numpy.random.default_rng(seed).random(60000)).sum() for seed in range(9)))


print(total() > 0)
