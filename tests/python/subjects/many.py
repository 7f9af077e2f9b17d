# SPDX-License-Identifier: MIT
"""many.py: a hundred processes, started in three ways, that each make a few DSL calls."""
import multiprocessing
import os
import subprocess
import sys

import dsl

FORKED, SPAWNED, OTHERS = 50, 10, 40


def work(n):
    for i in range(n + 1):
        dsl.add(i, n)


def together(processes):
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def main():
    codes = []
    for method, count in (("fork", FORKED), ("spawn", SPAWNED)):
        context = multiprocessing.get_context(method)
        for n in range(0, count, 5):
            codes += together([context.Process(target=work, args=(i,)) for i in range(n, n + 5)])
    script = "import sys, dsl\nfor i in range(int(sys.argv[1]) + 1): dsl.add(i, 1)"
    env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.abspath(dsl.__file__)))
    for n in range(0, OTHERS, 4):
        children = [subprocess.Popen([sys.executable, "-S", "-c", script, str(i)], env=env)
                    for i in range(n, n + 4)]
        codes += [child.wait() for child in children]
    print(len(codes), sum(codes))


if __name__ == "__main__":
    main()
