# SPDX-License-Identifier: MIT
"""The main program: DSL calls, and work of its own. pipeline.py SECONDS"""
import sys
import time

import dsl


def framework(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


while time.thread_time() < float(sys.argv[1]):
    dsl.outer(20000)
    dsl.pure(20000)
    framework(20000)
