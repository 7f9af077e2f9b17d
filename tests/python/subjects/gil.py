# SPDX-License-Identifier: MIT
"""gil.py SECONDS: two threads that compute, and wait for each other's GIL; then two that wait for a
lock. Prints seconds over both computing threads: all, on a CPU, and runnable without one."""
import json
import sys
import threading
import time

out = []


def compute(until):
    begin, cpu, queued = time.perf_counter(), time.thread_time(), run_queue()
    while time.perf_counter() < until:
        for _ in range(1000):
            pass
    out.append((time.perf_counter() - begin, time.thread_time() - cpu, run_queue() - queued))


def run_queue():
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1]) / 1e9


def both(target, *arguments):
    threads = [threading.Thread(target=target, args=arguments) for _ in range(2)]
    for thread in threads:
        thread.start()
    return threads


seconds = float(sys.argv[1])
for computing in both(compute, time.perf_counter() + seconds):
    computing.join()
lock = threading.Lock()
with lock:
    waiting = both(lock.acquire, True, seconds / 2)
    time.sleep(seconds / 4)
for thread in waiting[:1]:
    thread.join()
lock.release()
waiting[1].join()
print(json.dumps([sum(column) for column in zip(*out)]))
