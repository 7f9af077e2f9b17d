# SPDX-License-Identifier: MIT
"""Python functions at the end of known chains: stacks.py MODE SECONDS. The lines of the calls are
marked, for the test to look up."""
import functools
import signal
import sys
import threading
import time


def spin():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        total = 0
        for i in range(2000):
            total += i * i  # spin


def key(item):
    if item == 1:
        spin()  # key
    return item


def through_sort():
    sorted([2, 1, 3], key=key)  # through_sort


def through_reduce():
    functools.reduce(lambda a, b: spin(), [1, 2])  # through_reduce


class Walker:
    def __iter__(self):
        yield spin()  # Walker.__iter__

    def method(self):
        return list(self)  # Walker.method


def through_generator():
    return Walker().method()  # through_generator


def raising():
    raise ValueError


def in_handler():
    try:
        raising()
    except ValueError:
        spin()  # in_handler


def recurse(depth):
    if depth:
        recurse(depth - 1)
    else:
        spin()


def deep():
    sys.setrecursionlimit(20000)
    threading.stack_size(512 << 20)
    run_thread(lambda: recurse(10000))


def run_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def in_thread():
    run_thread(spin)


def on_signal(number, frame):
    spin()  # on_signal


def signalled():
    signal.signal(signal.SIGUSR1, on_signal)
    signal.raise_signal(signal.SIGUSR1)  # signalled


def näher():
    spin()  # näher


SECONDS = float(sys.argv[2])
globals()[sys.argv[1]]()
