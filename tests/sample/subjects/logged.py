# SPDX-License-Identifier: MIT
"""Runs a pipeline with every call of Logger.info measured by hand: logged.py SCRIPT ARGUMENTS...
The last line on stderr is the percentage of the run's time in them. What measures is compiled into
the module logging, so that a profile of this very run has it there."""
import atexit
import logging
import runpy
import sys
import time

MEASURE = """
def info(self, *arguments, _spent=[0.0], _clock=_clock, _info=Logger.info):
    before = _clock()
    _info(self, *arguments)
    _spent[0] += _clock() - before
"""
start = time.perf_counter() - time.process_time()  # the interpreter's own start is part of the run
vars(logging)["_clock"] = time.perf_counter
exec(compile(MEASURE, logging.__file__, "exec"), vars(logging))
measured = logging.info
logging.Logger.info = measured


def finish():
    spent = measured.__kwdefaults__["_spent"][0]
    print("%.3f" % (100 * spent / (time.perf_counter() - start)), file=sys.stderr)


atexit.register(finish)
sys.argv = sys.argv[1:]
sys.path[0] = sys.argv[0].rsplit("/", 1)[0]
runpy.run_path(sys.argv[0], run_name="__main__")
