# SPDX-License-Identifier: MIT
"""A busy Python under a storm of sampling signals: storm.py LIBRARY SECONDS. Callbacks from C,
exceptions, generators, code that is made and dies, imports, threads, garbage and forks. Says how often
it called two functions."""
import ctypes
import gc
import importlib
import json
import os
import re
import sys
import threading
import time

END = time.monotonic() + float(sys.argv[2])
CALLS = {"double": 0, "fails": 0}  # each is changed by one thread


def running():
    return time.monotonic() < END


def double(x):
    return 2 * x


def callbacks():
    while running():
        CALLS["double"] += 50
        list(map(double, range(50)))
        sorted(range(50), key=lambda x: -x)
        re.sub(r"\d", lambda m: m.group(0) * 2, "a1b2" * 20)
        json.loads(json.dumps({"a": [1, 2, {"b": None}]}), object_hook=dict)


def fails(depth):
    if depth == 0:
        raise KeyError
    try:
        fails(depth - 1)
    finally:
        str(depth)


def exceptions():
    while running():
        CALLS["fails"] += 21
        try:
            fails(20)
        except KeyError:
            pass


def generators():
    def count(n):
        for i in range(n):
            yield from (i, i)
    while running():
        sum(x for x in count(100))


def short_lived_code():
    number = 0
    while running():
        number += 1
        space = {}
        exec("def f_%d():\n    return [i for i in range(30)]\nf_%d()" % (number % 50, number % 50),
             space)


def garbage():
    while running():
        for _ in range(100):
            a = []
            a.append(a)
        gc.collect()


def imports():
    while running():
        sys.modules.pop("colorsys", None)
        importlib.import_module("colorsys")
        time.sleep(0.001)


def threads():
    while running():
        thread = threading.Thread(target=lambda: sum(range(1000)))
        thread.start()
        thread.join()


def forks():
    while running():
        pid = os.fork()
        if pid == 0:
            sum(i * i for i in range(10000))
            os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(0.05)


library = ctypes.CDLL(sys.argv[1])
library.storm_end.restype = ctypes.c_ulong
blows = library.storm_begin()
parts = [callbacks, exceptions, generators, short_lived_code, garbage, imports, threads, forks]
started = [threading.Thread(target=part) for part in parts]
for one in started:
    one.start()
for one in started:
    one.join()
sent = library.storm_end()
print("storm: calls " + json.dumps(CALLS), file=sys.stderr)
print("storm: %d signals" % (sent if blows else 0), file=sys.stderr)
print("done")
