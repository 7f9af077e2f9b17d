# SPDX-License-Identifier: MIT
"""workers.py HOW ROUNDS: pools and forks beside threads. Prints how many processes there were and
how often dsl.add and dsl.depth were called in them, as counted here."""
import concurrent.futures
import multiprocessing
import os
import sys
import threading

import dsl

METHODS = ("fork", "spawn", "forkserver")


def job(number):
    threads = [threading.Thread(target=dsl.depth, args=(4,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    dsl.add(number, 1)
    return 1


def noise(stop):
    while not stop.is_set():
        thread = threading.Thread(target=dsl.identity, args=(1,))
        thread.start()
        thread.join()


def executor(method):
    with concurrent.futures.ProcessPoolExecutor(4, multiprocessing.get_context(method)) as pool:
        return 4, sum(pool.map(job, range(16)))


def pool(method):
    with multiprocessing.get_context(method).Pool(4) as workers:
        done = sum(workers.map(job, range(16)))
        workers.close()
        workers.join()
    return 4, done


def forks(_):
    children = []
    for number in range(16):
        pid = os.fork()
        if pid == 0:
            os._exit(0 if job(number) else 1)
        children.append(pid)
    for pid in children:
        status = os.waitpid(pid, 0)[1]
        if status:
            raise SystemExit("a child's status is %d" % status)
    return len(children), len(children)


def main(how, rounds):
    stop, processes, jobs = threading.Event(), 0, 0
    threads = [threading.Thread(target=noise, args=(stop,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(rounds):
            kind, _, method = how.partition("-")
            more = {"executor": executor, "pool": pool, "forks": forks}[kind](method)
            processes, jobs = processes + more[0], jobs + more[1]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    print(processes, jobs)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
