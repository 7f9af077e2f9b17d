# SPDX-License-Identifier: MIT
"""What Python programs pay for being measured, beside what they pay for cProfile.

bench.py [calls] [program] [process] [lines] [empty] [-v 3.11]...    all, under every Python that is found

calls    nanoseconds added to an empty function of the DSL, another function, a builtin, and a step
         of a generator of the DSL
program  the loop of a program with 200 DSL functions (pipeline.py), as a multiple of the bare one
process  the same from start to exit
lines    nanoseconds added to an empty function of the DSL and another, without and with --lines of
         other functions; to a round of a loop of two lines that are counted ("lines"), and of one
         that calls those functions: what is more than in "lines" is the switch for the callee
empty    an empty program, in milliseconds more: under the command; and preloaded alone, as worker
         processes are, with nothing but the library loaded ("off") and with single parts left out

Run it as `chrt -f 50 taskset -c 1 python3 tests/python/bench.py` with BATTPROF_CMD set. The subjects
stay alive and are asked in turn: what else the machine does is not in all of the answers. Of calls
each answer takes less than a millisecond and stands beside a bare one before and after it, and
medians are of rounds whose bare answers are within 6 % of the best. The program answers with a pass
over its solvers, as it runs in earnest: asked for one solver only, each began with the caches that
the others had filled (3 to 4 % more). The least answers of each solver are added up, over some
starts of all subjects; "again" is bare once more. Samples are rarely in them. Processes are run in
turn, and each says when it began and when each of its solvers was done; the least of each of these
stretches are added up, from the start of the process to its end.
"""
import argparse
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pipeline  # noqa: E402
from harness import pythons  # noqa: E402

QUIET = 1.06
ROUNDS = 15  # quiet ones
SECONDS = int(os.environ.get("BENCH_SECONDS", 40))  # and then whatever there is
STARTS, PASSES_EACH = 4, 10
TURNS = 12
EMPTY_TURNS = 80
PASSES = "20"

EMPTY = """
import sys, time
import dsl
clock = time.perf_counter_ns
N = 2000
def other(x): return x
def loop(function):
    r = range(N)
    before = clock()
    for i in r: function(i)
    return (clock() - before) / N
def steps(function):
    it = function(N)
    before = clock()
    for i in it: pass
    return (clock() - before) / N
def lines(function, *arguments):
    r = range(N)
    before = clock()
    function(r, *arguments)
    return (clock() - before) / N
if len(sys.argv) > 1:
    import cProfile
    cProfile.Profile().enable()
for line in sys.stdin:
    name = line.strip()
    if name == "lines":
        print(min(lines(dsl.empty_lines) for _ in range(3)), flush=True)
    elif name.startswith("lines "):
        function = {"dsl": dsl.same, "other": other}[name[6:]]
        print(min(lines(dsl.call_lines, function) for _ in range(3)), flush=True)
    elif name == "steps":
        print(min(steps(dsl.steps) for _ in range(3)), flush=True)
    else:
        function = {"dsl": dsl.same, "other": other, "builtin": abs}[name]
        print(min(loop(function) for _ in range(3)), flush=True)
"""

EMPTY_DSL = """
def same(x):
    return x
def steps(n):
    for i in range(n):
        yield i
def empty_lines(r):
    for i in r:
        a = i
def call_lines(r, function):
    for i in r:
        function(i)
"""


class Subject:
    """A program that answers a line of input with a number, or some."""

    def __init__(self, command, directory):
        self.process = subprocess.Popen(
            command, cwd=directory, env=pythons.environment(), bufsize=1, universal_newlines=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, question):
        return float(self.ask_text(question))

    def ask_text(self, question):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def ways(python, program, directory, cprofile):
    """{name: command}"""
    run = [pythons.CMD, "run", "-q", "-o"]
    return {
        "bare": [python] + program,
        "battprof": run + [os.path.join(directory, "out"), "--", python] + program,
        "none": run + [os.path.join(directory, "none"), "--python", "none", "--", python] + program,
        "cProfile": [python] + (cprofile or program),
    }


def quiet(rows):
    best = min(min(before, after) for before, after, _ in rows)
    return [row for row in rows if max(row[0], row[1]) <= QUIET * best]


def ask_in_turn(subjects, question):
    """Rounds of (bare, bare, {name: answer}), the quiet ones, and how many there were."""
    others = {name: subject for name, subject in subjects.items() if name != "bare"}
    rows, end = [], time.monotonic() + SECONDS
    for subject in subjects.values():
        subject.ask(question)
    while len(rows) < ROUNDS or (len(quiet(rows)) < ROUNDS and time.monotonic() < end):
        before = subjects["bare"].ask(question)
        answers = {name: subject.ask(question) for name, subject in others.items()}
        rows.append((before, subjects["bare"].ask(question), answers))
    return quiet(rows) or sorted(rows, key=lambda row: max(row[:2]))[:3], len(rows)


def median_of(rows, name, how):
    return statistics.median(how(row[2][name], (row[0] + row[1]) / 2) for row in rows)


def bench_calls(python, where, directory):
    with open(os.path.join(directory, "empty.py"), "w", encoding="utf-8") as file:
        file.write(EMPTY)
    with open(os.path.join(directory, "dsl.py"), "w", encoding="utf-8") as file:
        file.write(EMPTY_DSL)
    commands = ways(python, ["empty.py"], directory, ["empty.py", "cProfile"])
    subjects = {name: Subject(commands[name], directory) for name in ("bare", "battprof", "cProfile")}
    for question in ("dsl", "other", "builtin", "steps"):
        rows, count = ask_in_turn(subjects, question)
        bare = min(min(row[:2]) for row in rows)
        print("%s calls: %-7s bare %5.1f ns  battprof %+6.1f  cProfile %+6.1f  (%d of %d rounds quiet)" % (
            where, question, bare, median_of(rows, "battprof", lambda a, b: a - b),
            median_of(rows, "cProfile", lambda a, b: a - b), len(rows), count), flush=True)
    for subject in subjects.values():
        subject.end()


def bench_lines(python, where, directory):
    with open(os.path.join(directory, "empty.py"), "w", encoding="utf-8") as file:
        file.write(EMPTY)
    with open(os.path.join(directory, "dsl.py"), "w", encoding="utf-8") as file:
        file.write(EMPTY_DSL)
    commands = ways(python, ["empty.py"], directory, None)
    subjects = {name: Subject(commands[name], directory) for name in ("bare", "battprof")}
    subjects["lines"] = Subject([pythons.CMD, "run", "-q", "-o", os.path.join(directory, "counted"),
                                 "--lines", "dsl:*_lines", "--", python, "empty.py"], directory)
    for question in ("dsl", "other", "lines", "lines other", "lines dsl"):
        rows, count = ask_in_turn(subjects, question)
        print("%s lines: %-11s bare %5.1f ns  battprof %+6.1f  --lines %+6.1f  (%d of %d rounds quiet)" % (
            where, question, min(min(row[:2]) for row in rows),
            median_of(rows, "battprof", lambda a, b: a - b),
            median_of(rows, "lines", lambda a, b: a - b), len(rows), count), flush=True)
    for subject in subjects.values():
        subject.end()


def passes(commands, directory, least):
    subjects = {name: Subject(command, directory) for name, command in commands.items()}
    for _ in range(PASSES_EACH):
        for name, subject in subjects.items():
            answers = map(int, subject.ask_text("go").split())
            least[name] = [min(pair) for pair in zip(least[name], answers)]
    for subject in subjects.values():
        subject.end()


def bench_program(python, where, directory):
    pipeline.write(directory)
    calls = int(pythons.bare(python, ["run.py", "--calls"], directory).stdout)
    commands = ways(python, ["run.py", "--serve"], directory, ["run.py", "--serve", "cProfile"])
    commands["again"] = commands["bare"]
    least = {name: [float("inf")] * pipeline.SOLVERS for name in commands}
    for _ in range(STARTS):
        passes(commands, directory, least)
    bare = sum(least["bare"])
    print("%s program: %d DSL calls of %.2f us  " % (where, calls, bare / calls / 1e3) + "  ".join(
        "%s %.3f" % (name, sum(least[name]) / bare) for name in commands), flush=True)


def clean(directory):
    for path in glob.glob(os.path.join(directory, "battprof.*.bp")):
        os.unlink(path)
    for name in ("out", "none"):
        shutil.rmtree(os.path.join(directory, name), ignore_errors=True)


def stretches(command, directory, extra):
    """Nanoseconds from the start of a process to its first stamp, from stamp to stamp, and to its end;
    there may be no stamps."""
    before = time.perf_counter_ns()
    done = subprocess.run(command, cwd=directory, env=pythons.environment(**extra), check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    stamps = [before, *map(int, done.stdout.split()), time.perf_counter_ns()]
    clean(directory)
    return [b - a for a, b in zip(stamps, stamps[1:])]


def least_of(commands, directory, turns):
    """{name: the least of each stretch}, the processes run in turn."""
    least = {}
    for turn in range(turns):
        names = list(commands)
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            command, extra = commands[name]
            spent = stretches(command, directory, extra)
            least[name] = [min(pair) for pair in zip(least.get(name, spent), spent)]
    return least


def bench_process(python, where, directory):
    pipeline.write(directory)
    found = ways(python, ["run.py", "--stamps", PASSES], directory, None)
    commands = {name: (found[name], {}) for name in ("bare", "battprof", "none")}
    commands["again"] = commands["bare"]
    least = least_of(commands, directory, TURNS)
    whole = sum(least["bare"])
    for name in ("battprof", "none", "again"):
        start, *loop, end = least[name]
        first, *bare, last = least["bare"]
        print("%s process of %.2f s: %-8s %.4f  its loop %.4f, begins %+.1f and ends %+.1f ms later" % (
            where, whole / 1e9, name, sum(least[name]) / whole, sum(loop) / sum(bare),
            (start - first) / 1e6, (end - last) / 1e6), flush=True)


def bench_empty(python, where, directory):
    program = [python, "-c", "pass"]
    loaded = {"LD_PRELOAD": pythons.LIB, "BATTPROF_DIR": directory, "BATTPROF_QUIET": "1"}
    found = ways(python, ["-c", "pass"], directory, None)
    commands = {"bare": (program, {}), "run": (found["battprof"], {}), "run none": (found["none"], {}),
                "preloaded": (program, loaded)}
    for name, extra in (("off", {"BATTPROF": "off"}), ("none", {"BATTPROF_PYTHON": "none"}),
                        ("no samples", {"BATTPROF_SAMPLE": "0"}), ("no waits", {"BATTPROF_WAIT": "0"})):
        commands[name] = (program, dict(loaded, **extra))
    least = {name: spent[0] / 1e6 for name, spent in least_of(commands, directory, EMPTY_TURNS).items()}
    bare = least.pop("bare")
    print("%s empty: bare %.1f ms  " % (where, bare) + "  ".join(
        "%s %+.2f" % (name, ms - bare) for name, ms in least.items()), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=[])
    parser.add_argument("-v", action="append", help="version, as 3.11")
    options = parser.parse_args()
    parts = {"calls": bench_calls, "program": bench_program, "process": bench_process,
             "lines": bench_lines, "empty": bench_empty}
    for version, python in pythons.find().items():
        where = "%d.%d" % version
        for name, bench in parts.items():
            if (options.v and where not in options.v) or (options.what and name not in options.what):
                continue
            directory = tempfile.mkdtemp(prefix="battprof-bench-")
            bench(python, where, directory)
            shutil.rmtree(directory)


if __name__ == "__main__":
    main()
