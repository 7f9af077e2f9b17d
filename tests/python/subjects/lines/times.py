# SPDX-License-Identifier: MIT
"""Lines that take a known time, by a clock of its own: prints {"function": {"line": seconds}}."""
import collections
import json
import sys
import threading
import time

TRUTH = collections.defaultdict(lambda: collections.defaultdict(float))


def wait(seconds):
    """Busy, so that it is no intercepted call; the truth goes to the line that called it."""
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        pass
    caller = sys._getframe(1)
    TRUTH[caller.f_code.co_name][caller.f_lineno] += time.perf_counter() - start


def plain():
    wait(0.010)
    for _ in range(3):
        wait(0.010)
        wait(0.005)


def generator():
    for _ in range(3):
        wait(0.010)
        yield 1


def recursive(depth):
    wait(0.010)
    if depth:
        recursive(depth - 1)


def failing():
    try:
        wait(0.010)
        raise ValueError
    except ValueError:
        wait(0.020)


def threaded():
    wait(0.010)


if __name__ == "__main__":
    plain()
    for _ in generator():
        wait(0.015)
    recursive(2)
    failing()
    threads = [threading.Thread(target=threaded) for _ in range(2)]
    for thread in threads:
        thread.start()
        thread.join()
    del TRUTH["<module>"]
    print(json.dumps(TRUTH))
