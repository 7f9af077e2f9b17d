# SPDX-License-Identifier: MIT
"""Empty DSL functions called by a DSL function: what the report says of both, its own cost taken out,
is what the bare program takes. And calls of functions that are not measured, which cost something up
to 3.11: what the report says is our own cost is what they take longer. A bare and a profiled process are asked in turn for a twentieth of a
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
PASSED = 5000
PASSED_LEFT = 0.2  # of the bare time: without the subtraction it is 0.6 on 3.11

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
PASSED_PROGRAM = """
import sys, dsl
from time import perf_counter as clock
r = range(%d)
def same(x):
    return x
def calls():
    for i in r: same(i)
for line in sys.stdin:
    before = clock()
    calls()
    print(clock() - before, flush=True)
""" % PASSED


def write(directory):
    for name, text in ("dsl.py", DSL), ("program.py", PROGRAM), ("passed.py", PASSED_PROGRAM):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


def reported(output):
    """Seconds of the calls that were asked for."""
    report = pythons.report(output)
    own = sum(f["self_s"] for f in report["functions"] if f["name"] in ("dsl.same", "dsl.calls"))
    return own * ROUNDS / (ROUNDS + 1)


def own_cost(output):
    return pythons.report(output)["overhead_s"]


def measure(command, directory, rounds, ask):
    """Seconds of the bare and the profiled program, and what `ask` finds in the profile."""
    output = os.path.join(directory, "out")
    subjects = [bench.Subject(command, directory), bench.Subject(
        [pythons.CMD, "run", "-q", "--no-sampling", "-o", output, "--"] + command, directory)]
    spent = [0.0, 0.0]
    for _ in range(rounds):
        for i, subject in enumerate(subjects):
            spent[i] += subject.ask("go")
    for subject in subjects:
        subject.end()
    says = ask(output)
    shutil.rmtree(output)
    return spent[0], spent[1], says


def left_over(python, directory):
    """The part of our cost that is not taken out, and the cost as a multiple of the bare time."""
    command = [python, "program.py"]
    rows = [measure(command, directory, ROUNDS, reported) for _ in range(PROCESSES)]
    return (statistics.median((says - bare) / (ours - bare) for bare, ours, says in rows),
            statistics.median(ours / bare for bare, ours, _ in rows))


def passed_left_over(python, directory):
    """What is left of the cost of calls that are not measured, as a part of their bare time."""
    left = []
    for _ in range(PROCESSES):
        _, _, at_start = measure([python, "passed.py"], directory, 0, own_cost)
        bare, ours, said = measure([python, "passed.py"], directory, ROUNDS, own_cost)
        left.append((ours - bare - (said - at_start)) / bare)
    return statistics.median(left)


def check_passed(check, version, python, directory):
    for _ in range(TRIES):
        left = passed_left_over(python, directory)
        if abs(left) <= PASSED_LEFT:
            break
    print("%d.%d: %+.2f of the bare time left of calls that are not measured" % (*version, left))
    check.that(abs(left) <= PASSED_LEFT, "%d.%d: %+.2f of their time is cost that is not said"
               % (*version, left))


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
        check_passed(check, version, python, directory)
    shutil.rmtree(directory)
    check.finish()


if __name__ == "__main__":
    main()
