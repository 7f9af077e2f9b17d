# SPDX-License-Identifier: MIT
"""Runs a pipeline with every call of Logger.info measured by hand: logged.py SCRIPT ARGUMENTS...
The last line on stderr is the percentage of the run's time in them."""
import atexit
import logging
import runpy
import sys
import time

spent = 0.0
original = logging.Logger.info
clock = time.perf_counter
start = clock() - time.process_time()  # the interpreter's own start is part of the run


def info(self, *arguments):
    global spent
    before = clock()
    original(self, *arguments)
    spent += clock() - before


def finish():
    print("%.3f" % (100 * spent / (clock() - start)), file=sys.stderr)


logging.Logger.info = info
atexit.register(finish)
sys.argv = sys.argv[1:]
sys.path[0] = sys.argv[0].rsplit("/", 1)[0]
runpy.run_path(sys.argv[0], run_name="__main__")
