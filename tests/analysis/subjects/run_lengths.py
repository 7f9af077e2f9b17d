# SPDX-License-Identifier: MIT
"""run_lengths.py KIND WORKERS FILE: one task for each line of the file, which says how many
microseconds it takes. Tasks run in a pool of processes. KIND is "map": the workers' calls are the
tasks, or "wait": threads of the parent call check_batt() and wait for batt() in the workers."""
import concurrent.futures
import sys
import time


def batt(task_id, us):
    time.sleep(us * 1e-6)
    return task_id


def check_batt(task_id, us, pool):
    return pool.submit(batt, task_id, us).result()


def main():
    kind, workers = sys.argv[1], int(sys.argv[2])
    with open(sys.argv[3]) as file:
        lengths = [int(line) for line in file]
    ids = ["task%04d" % i for i in range(len(lengths))]
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        if kind == "map":
            list(pool.map(batt, ids, lengths))
            return
        with concurrent.futures.ThreadPoolExecutor(workers) as threads:
            list(threads.map(check_batt, ids, lengths, [pool] * len(ids)))


if __name__ == "__main__":
    main()
