#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a Python program costs below battprof and below other profilers, in turn.

    python3 tests/bench/others.py BATTPROF [ROUNDS]

runs in a Python that has py-spy, memray, scalene and pyinstrument; those that it has not are named
and left out. A round starts each of them once, from the start of the process to its end, report
included. "again" is the bare program once more: what it differs by is noise. On a busy machine put
`chrt -f 50` before it."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = '''
import json


def rotate(grid):
    return [list(row) for row in zip(*grid[::-1])]


def shift(grid, count):
    return [row[count:] + row[:count] for row in grid]


def score(grid):
    total = 0
    for row in grid:
        for cell in row:
            total += cell * cell % 7
    return total


def neighbours(i, j):
    return [(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]


def paint(size):
    seen = set()
    for i in range(size):
        for j in range(0, size, 3):
            seen.update(neighbours(i, j))
    return len(seen)


def task(number):
    grid = [[(i * j + number) % 10 for i in range(20)] for j in range(20)]
    best = 0
    for step in range(30):
        grid = shift(rotate(grid), step % 20)
        best = max(best, score(grid), paint(20))
    return json.dumps({"best": best, "grid": grid})


print(len("".join(task(number) for number in range(500))))
'''


def commands(battprof, program):
    python = [sys.executable]
    beside = os.path.dirname(sys.executable)
    run = [battprof, "run", "-o"]
    return {
        "bare": python + [program],
        "again": python + [program],
        "battprof": run + ["one.out", "--"] + python + [program],
        "battprof, exact": run + ["two.out", "--dsl", "__main__", "--"] + python + [program],
        "cProfile": python + ["-m", "cProfile", "-o", "c.prof", program],
        "py-spy": [shutil.which("py-spy", path=beside) or "py-spy", "record", "-o", "p.svg",
                   "--"] + python + [program],
        "memray": python + ["-m", "memray", "run", "-f", "-o", "m.bin", program],
        "scalene": python + ["-m", "scalene", "run", "--cpu-only", "-o", "s.json", program],
        "scalene, memory": python + ["-m", "scalene", "run", "-o", "s2.json", program],
        "pyinstrument": python + ["-m", "pyinstrument", "-o", "i.txt", program],
    }


def seconds(command, folder):
    """None if it cannot be started, or fails."""
    began = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, cwd=folder)
    except FileNotFoundError:
        return None
    return None if done.returncode else time.perf_counter() - began


def main(battprof, rounds="5"):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        times = {name: [] for name in commands(battprof, program)}
        for _ in range(int(rounds)):
            for name, command in commands(os.path.abspath(battprof), program).items():
                times[name].append(seconds(command, folder))
    for name, found in times.items():
        if None in found:
            print(f"{name:<18}not measured: it is missing, or it failed")
            continue
        ratios = [own / bare for own, bare in zip(found, times["bare"])]
        print(f"{name:<18}{min(found):7.2f} s  {min(found) / min(times['bare']):6.2f} of least"
              f"  {statistics.median(ratios):6.2f} median of rounds")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
