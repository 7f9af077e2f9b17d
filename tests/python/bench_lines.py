# SPDX-License-Identifier: MIT
"""How true the times of `run --lines` are, beside the truth and beside line_profiler.

bench_lines.py [-v 3.11]... [--line-profiler DIRECTORY]... [--runs 7]

A function of twelve lines, from 30 ns to 100 us each, is run in turn bare, with its lines counted by
battprof and, where line_profiler can be imported (from a DIRECTORY with site-packages, the one that
fits the version), by that. The truth is a run of its own without any profiler in which the clock is
read before and after each line; what an empty pair of readings takes is taken out. A row is a line:
its true time, and the median over all runs of what the others say, as a multiple of it.

Run it as `chrt -f 50 taskset -c 1 python3 tests/python/bench_lines.py` with BATTPROF_CMD set.
"""
import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import tempfile

import bench  # sets the path of the harness
from harness import pythons

SLICES = 60

# What a line does: its text. `helper` is measured by nobody, `dsl` is intercepted.
LINES = {
    "arithmetic": "a = b + c * b",
    "attributes": "a = box.left + box.right",
    "% of a string": "s = '%d,%d' % (b, c)",
    "builtins": "n = len(max(grid, key=len))",
    "a function": "h = helper.shape(grid)",
    "a DSL function": "m = dsl.mirror(grid)",
    "a comprehension": "g = [[v + 1 for v in row] for row in grid]",
    "a generator": "n = sum(v == 3 for row in grid for v in row)",
    "a lambda": "k = sorted(grid[0], key=lambda v: -v)",
    "strings": "t = ';'.join([','.join(map(str, row)) for row in grid])",
    "sorted": "o = sorted(numbers)",
    "json": "j = json.dumps(grid)",
}

HELPER = """
def shape(grid):
    height = len(grid)
    width = max(len(row) for row in grid) if grid else 0
    return height, width, height * width
"""

DSL = """
def mirror(grid):
    return tuple(row[::-1] for row in grid)
"""

# Answers a slice of work with an empty line; at its end, what it knows, as JSON.
RUN = """
import json, sys
import helper, work
ROUNDS = 20
if sys.argv[1] == "truth":
    times = [0] * (work.COUNT + 1)
    run, arguments = work.clocked, (ROUNDS, times)
else:
    run, arguments = work.lines, (ROUNDS,)
if sys.argv[1] == "line_profiler":
    import line_profiler
    profiler = line_profiler.LineProfiler(work.lines)
    profiler.enable()
slices = 0
for line in sys.stdin:
    run(*arguments)
    slices += 1
    print(flush=True)
if sys.argv[1] == "truth":
    each = [time / (slices * ROUNDS) for time in times]
    print(json.dumps({work.FIRST + i: time - each[-1] for i, time in enumerate(each[:-1])}))
elif sys.argv[1] == "line_profiler":
    profiler.disable()
    stats = profiler.get_stats()
    print(json.dumps({line: time * stats.unit * 1e9 / hits for timings in stats.timings.values()
                      for line, hits, time in timings}))
"""

WORK = """
import json, random, time
import dsl, helper
COUNT, FIRST = %d, %d
class Box:
    left, right = 3, 5
    def __init__(self):
        self.left, self.right = 4, 6
source = random.Random(1)
GRID = tuple(tuple(source.randrange(10) for _ in range(10)) for _ in range(10))
NUMBERS = [source.random() for _ in range(300)]
"""


def write(directory):
    """Returns the first line of the function's loop."""
    arguments = "b=3, c=5, box=Box(), grid=GRID, numbers=NUMBERS, clock=time.perf_counter_ns"
    head = "def %s, " + arguments + "):\n    for _ in range(rounds):\n"
    first = WORK.count("\n") + 3
    text = WORK % (len(LINES), first) + head % "lines(rounds"
    text += "".join("        %s\n" % line for line in LINES.values())
    text += head % "clocked(rounds, times"
    for number, line in enumerate(list(LINES.values()) + ["pass"]):
        text += "        start = clock()\n        %s\n        times[%d] += clock() - start\n" % (
            line, number)
    for name, content in (("work", text), ("helper", HELPER), ("dsl", DSL), ("run", RUN)):
        with open(os.path.join(directory, name + ".py"), "w", encoding="utf-8") as file:
            file.write(content)
    return first


def our_times(output):
    report = pythons.report(output)
    shutil.rmtree(output)
    rows = [f for f in report["functions"] if f["name"] == "work.lines"][0]["lines"]
    return {row["line"]: (row["total_s"] / row["hits"] * 1e9, row["error_s"] / row["hits"] * 1e9)
            for row in rows if row["hits"]}


def start(python, directory, places):
    run, output = [python, "run.py"], os.path.join(directory, "out")
    ours = [pythons.CMD, "run", "-q", "-o", output, "--lines", "work:lines", "--"] + run
    subjects = {"truth": bench.Subject(run + ["truth"], directory),
                "battprof": bench.Subject(ours + ["count"], directory)}
    for version, place in places.items():
        command = ["env", "PYTHONPATH=" + place] + run + ["line_profiler"]
        subjects[version] = bench.Subject(command, directory)
    return subjects, output


def measure_once(python, directory, places):
    """{name: {line: ns}}. The subjects work in turn, a few milliseconds each: what else the machine
    does is in all of them."""
    subjects, output = start(python, directory, places)
    for _ in range(SLICES):
        for subject in subjects.values():
            subject.ask_text("go")
    answers = {}
    for name, subject in subjects.items():
        subject.process.stdin.close()
        text = subject.process.stdout.read()
        subject.process.wait()
        answers[name] = our_times(output) if name == "battprof" else {
            int(line): time for line, time in json.loads(text).items()}
    return answers


def measure(python, directory, runs, places):
    """{name: [{line: ns}]}"""
    first = write(directory)
    rounds = [measure_once(python, directory, places) for _ in range(runs)]
    return first, {name: [answers[name] for answers in rounds] for name in rounds[0]}


def ratio(answers, name, line, part=None):
    """To the truth of the same run, the median of all."""
    return statistics.median(
        (a[line] if part is None else a[line][part]) / truth[line]
        for a, truth in zip(answers[name], answers["truth"]))


def say(where, first, answers):
    others = [name for name in answers if name not in ("truth", "battprof")]
    print("%-6s%-18s%8s  %8s  %8s  %s" % (where, "a line with", "truth", "battprof", "its error",
                                        "  ".join(others)))
    for line, name in enumerate(LINES, first):
        print("%-6s%-16s%7.0f ns  %8.2f  %9.2f  %s" % (
            where, name, statistics.median(truth[line] for truth in answers["truth"]),
            ratio(answers, "battprof", line, 0), ratio(answers, "battprof", line, 1),
            "  ".join("%*.2f" % (len(o), ratio(answers, o, line)) for o in others)), flush=True)


def line_profilers(python, directory, places):
    """{"line_profiler 5.1.0": the directory}, those that this Python can import."""
    found = {}
    for place in [""] + places:
        done = subprocess.run([python, "-c", "import line_profiler as l; print(l.__version__)"],
                              cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=pythons.environment(PYTHONPATH=place))
        if done.returncode == 0:
            found.setdefault("line_profiler " + done.stdout.decode().strip(), place)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="append", help="version, as 3.11")
    parser.add_argument("--python", action="append", help="this one instead of those that are found")
    parser.add_argument("--line-profiler", action="append", default=[], metavar="GLOB")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    given = {pythons.version(path)[:2]: path for path in options.python or ()}
    places = [place for pattern in options.line_profiler for place in sorted(glob.glob(pattern))]
    for version, python in (given or pythons.find()).items():
        where = "%d.%d" % version
        if options.v and where not in options.v:
            continue
        directory = tempfile.mkdtemp(prefix="battprof-bench-")
        fitting = [place for place in places if "python%s/" % where in place + "/"]
        say(where, *measure(python, directory, options.runs,
                            line_profilers(python, directory, fitting)))
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
