# SPDX-License-Identifier: MIT
"""What Python programs pay: wall time of the generated program bare, under battprof, under battprof
--python none and under cProfile, in turns; and nanoseconds per empty DSL call and per other call.
bench.py [ROUNDS]   BATTPROF_LIB and BATTPROF_CMD say what is measured."""
import os
import statistics
import sys
import tempfile
import time

import generate
import pythons

TURNS = 7
LOOPS = 400

EMPTY = """
import sys, time
import dsl
def other(x): return x
def best(f, n=5000):
    least = 1e9
    for _ in range(%d):
        before = time.perf_counter()
        for i in range(n): f(i)
        least = min(least, time.perf_counter() - before)
    return least / n * 1e9
if len(sys.argv) > 1:
    import cProfile
    cProfile.Profile().enable()
print(best(dsl.same), best(other))
""" % LOOPS


def wall(run):
    before = time.perf_counter()
    run()
    return time.perf_counter() - before


def bench_program(python, directory, rounds):
    program = ["program.py", rounds]
    ways = {
        "bare": lambda: pythons.bare(python, program, directory),
        "battprof": lambda: pythons.profiled(python, program, directory),
        "none": lambda: pythons.profiled(python, program, directory, ["--python", "none"]),
        "cProfile": lambda: pythons.bare(python, program + ["--cprofile", "/dev/null"], directory),
    }
    times = {name: [] for name in ways}
    for _ in range(TURNS):
        for name, run in ways.items():
            times[name].append(wall(run))
    base = min(times["bare"])
    return "  ".join("%s %.3f (median %.3f)" % (
        name, min(list_) / base, statistics.median(list_) / statistics.median(times["bare"]))
        for name, list_ in times.items())


def bench_empty(python, directory):
    rows = []
    for name, run in (
            ("bare", lambda a: pythons.bare(python, a, directory)),
            ("battprof", lambda a: pythons.profiled(python, a, directory)[0]),
            ("cProfile", lambda a: pythons.bare(python, a + ["cProfile"], directory))):
        both = [tuple(map(float, run(["empty.py"]).stdout.split())) for _ in range(3)]
        rows.append((name, min(b[0] for b in both), min(b[1] for b in both)))
    (_, dsl, other), *rest = rows
    return "  ".join("%s +%.0f ns DSL, +%.0f ns other" % (n, d - dsl, o - other)
                     for n, d, o in rest)


def main():
    rounds = sys.argv[1] if len(sys.argv) > 1 else "300"
    directory = tempfile.mkdtemp(prefix="battprof-bench-")
    generate.write(directory)
    with open(os.path.join(directory, "empty.py"), "w", encoding="utf-8") as file:
        file.write(EMPTY)
    with open(os.path.join(directory, "dsl.py"), "a", encoding="utf-8") as file:
        file.write("\n\ndef same(x):\n    return x\n")
    for version, python in pythons.find().items():
        print("%d.%d wall: %s" % (*version, bench_program(python, directory, rounds)))
        print("%d.%d call: %s" % (*version, bench_empty(python, directory)), flush=True)


if __name__ == "__main__":
    main()
