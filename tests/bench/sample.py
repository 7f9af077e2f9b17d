# SPDX-License-Identifier: MIT
"""What sampling costs: programs with sampling off and at two rates, in turn, and the medians of
their ratios. sample.py LIBRARY NATIVE-PROGRAM PYTHON-PROGRAM [ROUNDS]

The same library is loaded in all variants: what is compared is sampling alone. `24 at once` runs 24
processes on all CPUs together and compares the time until the last has ended."""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

VARIANTS = {"off": "0", "200/s": "200", "1000/s": "1000"}
TOGETHER = 24


def environment(library, rate, directory):
    return dict(os.environ, LD_PRELOAD=library, BATTPROF_SAMPLE=rate, BATTPROF_QUIET="1",
                BATTPROF_DIR=directory)


def cpu_of(command, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wall_of_many(command, env):
    start = time.monotonic()
    running = [subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
               for _ in range(TOGETHER)]
    for process in running:
        process.wait()
    return time.monotonic() - start


def compare(title, measure, rounds, variants):
    times = {name: [] for name in variants}
    for turn in range(rounds):
        order = list(variants) if turn % 2 else list(reversed(list(variants)))
        for name in order:
            with tempfile.TemporaryDirectory() as directory:
                times[name].append(measure(variants[name], directory))
    for name in list(variants)[1:]:
        ratios = [a / b for a, b in zip(times[name], times["off"])]
        print("%-12s %-7s %.4f  (median of %d; %.4f to %.4f)"
              % (title, name, statistics.median(ratios), rounds, min(ratios), max(ratios)),
              flush=True)


def main():
    library, native, python = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 11
    programs = {"native": [native, "0", "130000", "30"],
                "Python": ["/usr/bin/python3", python, "0", "8000", "30"]}
    for title, command in programs.items():
        compare(title, lambda rate, folder, c=command: cpu_of(c, environment(library, rate, folder)),
                rounds, VARIANTS)
    few = {name: VARIANTS[name] for name in ("off", "200/s")}
    short = programs["Python"][:-1] + ["8"]
    compare("24 at once",
            lambda rate, folder: wall_of_many(short, environment(library, rate, folder)),
            max(3, rounds // 2), few)


if __name__ == "__main__":
    main()
