# SPDX-License-Identifier: MIT
"""The same in Python: sample.py LIBRARY SECONDS RATE, where LIBRARY is sample.c as a library."""
import ctypes
import sys
import time

DEPTH = 20
library = ctypes.CDLL(sys.argv[1])
seconds, rate = float(sys.argv[2]), int(sys.argv[3])


def work(depth, units):
    if depth:
        return work(depth - 1, units)
    total = {}
    for i in range(units):
        total[i % 97] = "%d" % i
    return len(total)


def part(rate, units):
    library.sample_switch(ctypes.c_long(rate))
    start = time.thread_time()
    work(DEPTH, units)
    return time.thread_time() - start


def main():
    if not library.sample_switch(ctypes.c_long(0)):
        sys.exit("not sampled: preload libbattprof.so")
    units = int(100000 * 0.05 / part(0, 100000))
    ratios = []
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        first = len(ratios) % 2
        a = part(rate if first else 0, units)
        b = part(0 if first else rate, units)
        ratios.append(a / b if first else b / a)
    array = (ctypes.c_double * len(ratios))(*ratios)
    library.sample_report(b"Python, %d/s" % rate, array, len(ratios))


main()
