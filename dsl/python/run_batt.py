# SPDX-License-Identifier: MIT
"""The pipeline around the DSL, in Python: makes tasks, generates candidate programs, runs them on the
training pairs in threads or processes, validates, and prints the accuracy. Standard output depends on
the tasks only."""
import argparse
import concurrent.futures
import importlib
import logging
import multiprocessing
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import card  # noqa: E402
import dsl  # noqa: E402
import tasks  # noqa: E402

log = logging.getLogger("run_batt")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-c", "--count", type=int, default=20, help="run COUNT tasks (default 20)")
    parser.add_argument("-s", "--start", type=int, default=0, help="skip the first START tasks")
    parser.add_argument("-j", "--threads", type=int, default=1, help="threads (default 1)")
    parser.add_argument("--processes", type=int, default=0, help="worker processes (default none)")
    parser.add_argument("--method", default="fork", choices=multiprocessing.get_all_start_methods(),
                        help="how workers are started (default fork)")
    parser.add_argument("--seed", type=int, default=1, help="of the tasks (default 1)")
    parser.add_argument("--log", nargs="?", const="run_batt.log", metavar="FILE",
                        help="log every DSL call (default file: run_batt.log); very slow")
    parser.add_argument("--timing", action="store_true", help="times of the phases on stderr")
    return parser.parse_args()


class Phases:
    """Seconds by phase, by hand."""

    def __init__(self):
        self.seconds = {}

    def run(self, name, function, *arguments):
        before = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.seconds[name] = self.seconds.get(name, 0) + time.perf_counter() - before

    def show(self):
        for name, seconds in self.seconds.items():
            print("%-10s %8.3f s" % (name, seconds), file=sys.stderr)


def load_tasks(arguments):
    return tasks.generate(arguments.count, arguments.start, arguments.seed)


def generate_code(directory):
    text, count = card.generate()
    with open(os.path.join(directory, "batt.py"), "w", encoding="utf-8") as file:
        file.write(text)
    log.info("generated %d statements", count)
    return count


def start_worker(directory, log_path):
    """In every process that solves: the generated module, and a log of its own."""
    sys.path.insert(0, directory)
    if log_path:
        dsl.log_to(log_path.replace("%p", str(os.getpid())))
    importlib.import_module("batt")


def run_sample(grid):
    return dict(sys.modules["batt"].batt(grid))


def solve_task(task):
    """The names of the programs that solve every training pair, and what they make of the test."""
    alive = None
    for grid, wanted in task["train"]:
        outputs = run_sample(grid)
        right = {name for name, output in outputs.items() if output == wanted}
        alive = right if alive is None else alive & right
    return [(task["id"], name, run_sample(task["test"][0][0])[name]) for name in sorted(alive)[:1]]


def solve_all(todo, arguments, directory):
    if arguments.processes:
        context = multiprocessing.get_context(arguments.method)
        path = arguments.log and arguments.log + ".%p"
        with context.Pool(arguments.processes, start_worker, (directory, path)) as pool:
            found = pool.map(solve_task, todo, chunksize=1)
            pool.close()
            pool.join()
        return found
    start_worker(directory, arguments.log)
    if arguments.threads == 1:
        return [solve_task(task) for task in todo]
    with concurrent.futures.ThreadPoolExecutor(arguments.threads) as pool:
        return list(pool.map(solve_task, todo))


def validate(todo, found):
    right = 0
    for task, answers in zip(todo, found):
        right += any(output == task["test"][0][1] for _, _, output in answers)
    return right


def main():
    arguments = read_arguments()
    phases = Phases()
    directory = tempfile.mkdtemp(prefix="run_batt-")
    try:
        todo = phases.run("load", load_tasks, arguments)
        count = phases.run("generate", generate_code, directory)
        found = phases.run("solve", solve_all, todo, arguments, directory)
        right = phases.run("validate", validate, todo, found)
    finally:
        shutil.rmtree(directory)
    print("%d of %d tasks solved, %d statements" % (right, len(todo), count))
    if arguments.timing:
        phases.show()


if __name__ == "__main__":
    main()
