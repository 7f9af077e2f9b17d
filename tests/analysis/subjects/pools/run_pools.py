# SPDX-License-Identifier: MIT
"""A pipeline over pools: check_batt() runs in threads of the parent and waits, batt() runs in the
workers, once for each pair of a task; a program of its own generates the code.

    run_pools.py TASKS WORKERS [names | ids | alone]

What batt() is given: "ids" the id of its task, "names" and "alone" one of its own. With "names"
two tasks always wait at once, with "alone" one task waits after the other. Prints how many seconds
the code generation took, as it was seen from here and by itself."""
import concurrent.futures
import importlib
import os
import subprocess
import sys
import tempfile
import threading
import time

import dsl  # noqa: F401  (workers are forked, they have it)

PAIRS = 3
AT_ONCE = 2
HERE = os.path.dirname(os.path.abspath(__file__))


def generate_code(directory):
    path = os.path.join(directory, "batt_made.py")
    subprocess.run([sys.executable, os.path.join(HERE, "card.py"), path], check=True)
    sys.path.insert(0, directory)


def run_pair(task_id, rounds):
    return importlib.import_module("batt_made").batt(task_id, rounds)


def check_batt(pool, number, task_id, meeting):
    """`meeting`: where tasks that overlap wait for each other, before and after their work."""
    names = [task_id if meeting is None else "%s-%d" % (task_id, i) for i in range(PAIRS)]
    if meeting:
        meeting.wait()
    calls = [pool.submit(run_pair, name, 100 + 20 * number) for name in names]
    results = [call.result() for call in calls]
    if meeting:
        meeting.wait()
    return results


def solve_all(count, workers, kind):
    at_once = 1 if kind == "alone" else AT_ONCE
    meeting = None if kind == "ids" else threading.Barrier(at_once)
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
            calls = [threads.submit(check_batt, pool, i, "task%04d" % i, meeting)
                     for i in range(count)]
            return [call.result() for call in calls]


def main():
    kind = sys.argv[3] if len(sys.argv) > 3 else "ids"
    with tempfile.TemporaryDirectory() as directory:
        start = time.monotonic()
        generate_code(directory)
        print("waiting", time.monotonic() - start)
        print(len(solve_all(int(sys.argv[1]), int(sys.argv[2]), kind)), "tasks")


if __name__ == "__main__":
    main()
