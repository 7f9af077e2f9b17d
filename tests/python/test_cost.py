# SPDX-License-Identifier: MIT
"""Empty DSL functions called by a DSL function: what the report says of both, its own cost taken out,
is what the bare program takes. A bare and a profiled process are asked in turn for a twentieth of a
millisecond, so both see the same machine; each starts anew a few times, since own cost is measured
at the start."""
import os
import shutil
import statistics
import tempfile

import bench
import pythons

CALLS, ROUNDS = 500, 100
PROCESSES = 5
TRIES = 2
LEFT = 0.5  # of our own cost; 1 if nothing is subtracted, negative if too much is

DSL = """
def same(x):
    return x
def calls(r):
    for i in r: same(i)
"""
PROGRAM = """
import sys, dsl
from time import perf_counter as clock
r = range(%d)
dsl.calls(r)
for line in sys.stdin:
    before = clock()
    dsl.calls(r)
    print(clock() - before, flush=True)
""" % CALLS


def write(directory):
    for name, text in ("dsl.py", DSL), ("program.py", PROGRAM):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


def reported(output):
    """Seconds of the calls that were asked for."""
    report = pythons.report(output)
    own = sum(f["self_s"] for f in report["functions"] if f["name"] in ("dsl.same", "dsl.calls"))
    return own * ROUNDS / (ROUNDS + 1)


def measure(python, directory):
    """(bare, profiled, reported) seconds"""
    output = os.path.join(directory, "out")
    command = [python, "program.py"]
    subjects = [bench.Subject(command, directory), bench.Subject(
        [pythons.CMD, "run", "-q", "--no-sampling", "-o", output, "--"] + command, directory)]
    spent = [0.0, 0.0]
    for _ in range(ROUNDS):
        for i, subject in enumerate(subjects):
            spent[i] += subject.ask("go")
    for subject in subjects:
        subject.end()
    says = reported(output)
    shutil.rmtree(output)
    return spent[0], spent[1], says


def left_over(python, directory):
    """The part of our cost that is not taken out, and the cost as a multiple of the bare time."""
    rows = [measure(python, directory) for _ in range(PROCESSES)]
    return (statistics.median((says - bare) / (ours - bare) for bare, ours, says in rows),
            statistics.median(ours / bare for bare, ours, _ in rows))


def main():
    check = pythons.Check()
    directory = tempfile.mkdtemp(prefix="battprof-cost-")
    write(directory)
    for version, python in pythons.find().items():
        for _ in range(TRIES):
            left, cost = left_over(python, directory)
            if abs(left) <= LEFT:
                break
        print("%d.%d: %.2f x bare, %+.2f of the cost left after the subtraction" % (*version, cost, left))
        check.that(cost > 1.03, "%d.%d: no cost: is anything measured?" % version)
        check.that(abs(left) <= LEFT, "%d.%d: %+.2f of the cost is left" % (*version, left))
    shutil.rmtree(directory)
    check.finish()


if __name__ == "__main__":
    main()
