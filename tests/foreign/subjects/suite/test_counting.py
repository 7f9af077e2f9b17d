# SPDX-License-Identifier: MIT
"""For pytest."""
from counting import steps


def test_known():
    assert steps(27) == 111


def test_many():
    assert max(steps(number) for number in range(1, 200000)) == 382
