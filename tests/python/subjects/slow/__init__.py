# SPDX-License-Identifier: MIT
"""Modules that take their time."""
import time


def work(seconds):
    before = time.perf_counter()
    while time.perf_counter() - before < seconds:
        pass
    return time.perf_counter() - before
