# SPDX-License-Identifier: MIT
"""Empty DSL functions called by a DSL function: what the report takes out as our own cost is what a
profiled call takes longer than a bare one. And calls of functions that are not measured, which cost
something up to 3.11: what the report says is our own cost is what they take longer. And what is no
call but costs something: steps of generators, recursion beyond the boundary, audited functions.

A bare and a profiled process are asked in turn for a twentieth of a millisecond, on one processor,
and each starts anew a few times, since own cost is measured at the start. What a round takes longer
is the median of pairs: the machine may be taken away in many of them. The report's sum has these
interruptions, and so has that of the process's own readings: they cancel."""
import os
import shutil
import statistics
import tempfile

import bench
from harness import pythons

CALLS, ROUNDS = 500, 100
PROCESSES = 5
TRIES = 4  # for a processor whose speed changes within a start
MEASURED = 1.03  # times the bare time, at least
LEFT = 0.5  # of our own cost; 1 if nothing is subtracted, negative if too much is
LEFT_SMALL = 0.3  # of the bare time: where calls cost little, what is left is small against them
PASSED = 5000
PASSED_LEFT = 0.45  # of the bare time: without the subtraction it is 0.6 on 3.11; 0.0 to 0.3 by CPU

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
UNCOUNTED_LEFT = 0.85  # of the cost: 1 if it is not counted at all
UNCOUNTED_MORE = 1.5  # times the cost that is said and was not there
UNCOUNTED_PROCESSES = 3

OTHER = """
def deep(n):
    return deep(n - 1) if n else 0
"""
UNCOUNTED_DSL = """
import other
def items(n):
    for i in range(n): yield i
def steps():
    for i in items(5000): pass
def recursion():
    for i in range(60): other.deep(80)
def audited():
    for i in range(5000): id(i)
"""
UNCOUNTED_PROGRAM = """
import sys, uncounted
from time import perf_counter as clock
function = getattr(uncounted, sys.argv[1])
for line in sys.stdin:
    before = clock()
    function()
    print(clock() - before, flush=True)
"""


def write(directory):
    for name, text in (("dsl.py", DSL), ("program.py", PROGRAM), ("passed.py", PASSED_PROGRAM),
                       ("other.py", OTHER), ("uncounted.py", UNCOUNTED_DSL),
                       ("ask.py", UNCOUNTED_PROGRAM)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


def reported(output):
    """Seconds of the calls that were asked for."""
    report = pythons.report(output)
    return sum(f["self_s"] for f in report["functions"] if f["name"] in ("dsl.same", "dsl.calls"))


def own_cost(output):
    return pythons.report(output)["overhead_s"]


def measure(command, directory, rounds, ask, options=()):
    """(bare, profiled) seconds of each round, and what `ask` finds in the profile."""
    output = os.path.join(directory, "out")
    subjects = [bench.Subject(command, directory), bench.Subject(
        [pythons.CMD, "run", "-q", "--no-sampling", *options, "-o", output, "--"] + command, directory)]
    spent = [[subject.ask("go") for subject in subjects] for _ in range(rounds)]
    for subject in subjects:
        subject.end()
    says = ask(output)
    shutil.rmtree(output)
    return spent, says


def longer(spent):
    """What all rounds take longer, without interruptions."""
    return len(spent) * statistics.median(ours - bare for bare, ours in spent)


def typical(spent, which):
    return statistics.median(pair[which] for pair in spent)


def left_over(python, directory):
    """The part of our cost that is not taken out, and the cost as a multiple of the bare time."""
    left, cost = [], []
    for _ in range(PROCESSES):
        spent, says = measure([python, "program.py"], directory, ROUNDS, reported)
        taken_out = sum(ours for _, ours in spent) - says
        left.append(1 - taken_out / longer(spent))
        cost.append(typical(spent, 1) / typical(spent, 0))
    return statistics.median(left), statistics.median(cost)


def passed_left_over(python, directory):
    """What is left of the cost of calls that are not measured, as a part of their bare time."""
    left = []
    for _ in range(PROCESSES):
        _, at_start = measure([python, "passed.py"], directory, 0, own_cost)
        spent, said = measure([python, "passed.py"], directory, ROUNDS, own_cost)
        left.append((longer(spent) - (said - at_start)) / (ROUNDS * typical(spent, 0)))
    return statistics.median(left)


def is_little(left, cost):
    return abs(left) <= LEFT or abs(left) * (cost - 1) <= LEFT_SMALL


def check_measured(check, version, python, directory):
    left, cost = pythons.tries(TRIES, "cost_%d.%d" % version, lambda: left_over(python, directory),
                               lambda got: got[1] > MEASURED and is_little(*got))
    print("%d.%d: %.2f x bare, %+.2f of the cost left after the subtraction" % (*version, cost, left))
    check.time(cost > MEASURED, "%d.%d: no cost: is anything measured?" % version)
    check.time(is_little(left, cost), "%d.%d: %+.2f of the cost is left" % (*version, left))


def check_passed(check, version, python, directory):
    left = pythons.tries(TRIES, "passed_%d.%d" % version, lambda: passed_left_over(python, directory),
                         lambda left: abs(left) <= PASSED_LEFT)
    print("%d.%d: %+.2f of the bare time left of calls that are not measured" % (*version, left))
    check.time(abs(left) <= PASSED_LEFT, "%d.%d: %+.2f of their time is cost that is not said"
               % (*version, left))


def uncounted_left_over(python, name, directory):
    """The part of the cost of what is no call that the report does not say."""
    left, command = [], [python, "ask.py", name]
    for _ in range(UNCOUNTED_PROCESSES):
        options = ("--python", "uncounted")
        _, at_start = measure(command, directory, 0, own_cost, options)
        spent, said = measure(command, directory, ROUNDS // 2, own_cost, options)
        left.append(1 - (said - at_start) / longer(spent))
    return statistics.median(left)


def check_uncounted(check, version, python, directory):
    """Up to 3.11 recursion is what check_passed has."""
    names = ["steps", "audited"] + (["recursion"] if version >= (3, 12) else [])
    for name in names:
        left = pythons.tries(TRIES, "%s_%d.%d" % (name, *version),
                             lambda: uncounted_left_over(python, name, directory),
                             lambda left: -UNCOUNTED_MORE <= left <= UNCOUNTED_LEFT)
        print("%d.%d: %s: %+.2f of the cost is not said" % (*version, name, left))
        check.time(-UNCOUNTED_MORE <= left <= UNCOUNTED_LEFT,
                   "%d.%d: %s: %+.2f of the cost is not said" % (*version, name, left))


def stay_here():
    """Two processors are not always as fast as each other."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main():
    check = pythons.Check()
    stay_here()
    directory = tempfile.mkdtemp(prefix="battprof-cost-")
    write(directory)
    for version, python in pythons.find().items():
        check_measured(check, version, python, directory)
        check_passed(check, version, python, directory)
        check_uncounted(check, version, python, directory)
    shutil.rmtree(directory)
    check.finish()


if __name__ == "__main__":
    main()
