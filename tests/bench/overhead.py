# SPDX-License-Identifier: MIT
"""Whether the overhead that a report states is what the profiler cost.

overhead.py [native] [workers] [python] [wide] [pool] [-v 3.11]... [-r ROUNDS] [-s SHARE] [-o OPTIONS]
all by default

native   run_batt
workers  run_batt with worker processes
python   run_batt.py, in one process
wide     a generated batt() with 1,400 local variables that calls DSL functions
pool     run_batt.py with worker processes

Run it with BATTPROF_CMD and BP_BENCH_BUILD set, as root: it gives itself a real-time priority and
one processor (pools of Python hang bare with that: they get the best other priority). Bare and
profiled runs take turns, and each pair of neighbours gives one difference; the figures are medians. CPU time is user and system time of the whole process tree, the command
itself included. On a busy machine many short runs tell more than few long ones: -s 0.2 is a fifth of
the work. "says" is overhead_s of the report as a part of the rest; the difference to the
truth is in points. "other" names what is run instead of the command's defaults: -o=--no-sampling.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import pythons  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.path.abspath(os.environ.get("BP_BENCH_BUILD", "build"))
LOCALS = 1400

WIDE_DSL = '''
def identity(x):
    return x


def rot90(grid):
    return tuple(row for row in zip(*grid[::-1]))


def hmirror(grid):
    return tuple(grid[::-1])


def vmirror(grid):
    return tuple(row[::-1] for row in grid)


def height(piece):
    return len(piece)


def width(piece):
    return len(piece[0])


def add(a, b):
    return a + b


def palette(grid):
    return frozenset({value for row in grid for value in row})


def tophalf(grid):
    return grid[:len(grid) // 2 + 1]


def replace(grid, old, new):
    return tuple(tuple(new if value == old else value for value in row) for row in grid)
'''

WIDE_MAIN = '''
import sys
import batt
grid = tuple(tuple((i * j + i) % 10 for j in range(6)) for i in range(6))
count = 0
for sample in range(int(sys.argv[1])):
    count += len(batt.batt("task", grid, sample))
print(count)
'''


def write_wide(directory):
    """batt.py: t1 = f(x), t2 = g(t1) and so on, as code generators write it."""
    kinds = [("rot90(%s)", "grid"), ("height(%s)", "number"), ("hmirror(%s)", "grid"),
             ("identity(%s)", "grid"), ("width(%s)", "number"), ("palette(%s)", "set"),
             ("vmirror(%s)", "grid"), ("add(%s, 1)", "add"), ("tophalf(%s)", "grid"),
             ("replace(%s, 3, 4)", "grid"), ("identity(%s)", "grid")]
    lines, grid, number = ["from dsl import *", "", "", "def batt(task_id, I, sample):"], "I", "sample"
    for i in range(1, LOCALS + 1):
        text, kind = kinds[i % len(kinds)]
        lines.append("    t%d = %s" % (i, text % (number if kind == "add" else grid)))
        if kind == "grid":
            grid = "t%d" % i if i % 29 else "I"
        elif kind in ("number", "add"):
            number = "t%d" % i
    lines.append("    return [t%d, t%d]" % (LOCALS, LOCALS - 1))
    for name, text in (("dsl.py", WIDE_DSL), ("batt.py", "\n".join(lines) + "\n"),
                       ("main.py", WIDE_MAIN)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


def spend(command, extra):
    """Wall and CPU seconds of a command and all that it started."""
    before = time.perf_counter()
    pid = os.posix_spawn(command[0], command, pythons.environment(**extra), file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - before
    if status:
        sys.exit("%s failed: status %d" % (" ".join(command), status))
    return wall, usage.ru_utime + usage.ru_stime


def reported(output):
    done = subprocess.run([pythons.CMD, "report", "--json", output], stdout=subprocess.PIPE,
                          check=True, env=pythons.environment())
    report = json.loads(done.stdout)
    wall = report["wall_s"] - report["overhead_wall_s"]
    cpu = report["cpu_s"] - report["overhead_s"]
    return (report["overhead_wall_s"] / wall, report["overhead_s"] / cpu,
            report.get("overhead_error_s", 0) / cpu)


def measure(command, directory, rounds, settings):
    output = os.path.join(directory, "out")
    preloaded = dict(setting.split("=", 1) for setting in settings)
    preloaded.update(LD_PRELOAD=pythons.LIB, BATTPROF_DIR=output, BATTPROF_QUIET="1")
    pairs, says = [], []
    spend(command, {})
    for i in range(rounds):
        os.mkdir(output)
        both = [None, None]
        for which in (i % 2, 1 - i % 2):
            both[which] = spend(command, preloaded if which else {})
        pairs.append(both)
        says.append(reported(output))
        shutil.rmtree(output)
    return pairs, says


def quartile(values):
    return statistics.quantiles(values, n=4)[0]


def truth(pairs, which):
    """How much longer, by the quieter runs of each, and half of what chance covers."""
    def ratio(chosen):
        return quartile([p[1][which] for p in chosen]) / quartile([p[0][which] for p in chosen]) - 1
    again = sorted(ratio(random.choices(pairs, k=len(pairs))) for _ in range(300))
    return 100 * ratio(pairs), 100 * (again[284] - again[15]) / 2


def show(name, pairs, says):
    for which, word in enumerate(("wall", "CPU")):
        is_so, error = truth(pairs, which)
        said = 100 * statistics.median(s[which] for s in says)
        said_error = 100 * statistics.median(s[2] for s in says)
        print("%-12s %-4s bare %6.3f s  truth %6.2f %% +-%.2f  says %6.2f %% +-%.2f  difference %+6.2f"
              % (name, word, quartile([b[which] for b, _ in pairs]), is_so, error, said, said_error,
                 said - is_so), flush=True)


def cases(names, found, directory, share):
    def part(count):
        return str(max(1, round(share * count)))

    batt = os.path.join(ROOT, "dsl", "python", "run_batt.py")
    wide = os.path.join(directory, "wide")
    os.mkdir(wide)
    write_wide(wide)
    if "native" in names:
        yield "native", [os.path.join(BUILD, "dsl", "run_batt"), "-c", part(120)]
    if "workers" in names:
        yield "workers", [os.path.join(BUILD, "dsl", "run_batt"), "-c", part(120), "--processes", "2"]
    for version, python in found.items():
        label = "%d.%d" % version
        if "python" in names:
            yield "python " + label, [python, batt, "-c", part(100)]
        if "wide" in names:
            yield "wide " + label, [python, os.path.join(wide, "main.py"), part(600)]
        if "pool" in names:
            yield "pool " + label, [python, batt, "-c", part(100), "--processes", "2"]


def prefer(pool):
    policy = os.SCHED_OTHER if pool else os.SCHED_FIFO
    os.sched_setscheduler(0, policy, os.sched_param(0 if pool else 50))
    if pool:
        os.setpriority(os.PRIO_PROCESS, 0, -20)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=["native", "workers", "python", "wide", "pool"])
    parser.add_argument("-v", action="append", default=[])
    parser.add_argument("-r", type=int, default=30)
    parser.add_argument("-s", type=float, default=1)
    parser.add_argument("-o", action="append", default=[])
    arguments = parser.parse_args()
    found = {} if set(arguments.names) <= {"native", "workers"} else pythons.find()
    if arguments.v:
        found = {v: p for v, p in found.items() if "%d.%d" % v in arguments.v}
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    directory = tempfile.mkdtemp(prefix="battprof-overhead-")
    try:
        for name, command in cases(arguments.names, found, directory, arguments.s):
            prefer(name.startswith("pool"))
            show(name, *measure(command, directory, arguments.r, arguments.o))
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
