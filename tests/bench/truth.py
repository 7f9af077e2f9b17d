#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether calls that are counted only get the time that they have when all are timed.

    python3 tests/bench/truth.py BUILD [PAIRS [ROUNDS]]

Runs the subject of tests/core/cases/test_adaptive.py (BUILD/tests/core/e2e_short) with and without
BATTPROF_EXACT in turn. A row is a function with 1 % of the wall or more: ns a call; the part of its
calls that were counted only; the difference of the medians, how far a pair was apart (median), and
two exact runs; the error that the adaptive run says; in how many pairs both agreed within the
errors that they say, and in how many of two exact runs. On a busy machine put `chrt -f 50` before
it."""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time


# The kernel stops what has real-time priority for 50 ms once it has run for 950 ms of a second:
# these would be in the call that was open, if it is timed.
PAUSE_S = 0.5


def run(build, rounds, exact):
    time.sleep(PAUSE_S)
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, BATTPROF_DIR=folder, BATTPROF_QUIET="1",
                   LD_PRELOAD=os.path.join(build, "interpose", "libbattprof.so"))
        if exact:
            env["BATTPROF_EXACT"] = "1"
        subprocess.run([os.path.join(build, "tests", "core", "e2e_short"), rounds], env=env,
                       check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run([os.path.join(build, "tools", "battprof"), "report", "--json",
                               folder], check=True, stdout=subprocess.PIPE).stdout
    report = json.loads(text)
    named = {f["name"]: f for f in report["functions"] if f["name"].startswith("short_")}
    return report, named


def apart(a, b):
    return abs(a - b) / b


def times(name, runs):
    """Self times, as they would be if the processor were as fast in all runs: short_milli is timed in
    every call, and takes always the same number of cycles."""
    usual = statistics.median(f["short_milli"]["self_s"] for f in runs)
    return [f[name]["self_s"] * usual / f["short_milli"]["self_s"] for f in runs]


def show(name, runs, calls):
    """`runs`: adaptive and exact in turn."""
    all_s, errors = times(name, runs), [f[name]["self_error_s"] for f in runs]
    a, e = all_s[::2], all_s[1::2]
    middle = statistics.median(e)
    hold = sum(abs(x - y) <= math.hypot(p, q)
               for x, y, p, q in zip(a, e, errors[::2], errors[1::2]))
    same = sum(abs(x - y) <= math.hypot(p, q)
               for x, y, p, q in zip(e, e[1:], errors[1::2], errors[3::2]))
    untimed = statistics.median(f[name].get("untimed", 0) for f in runs[::2]) / calls
    print(f"| {name[6:]} | {1e9 * middle / calls:.1f} | {100 * untimed:.0f} % "
          f"| {100 * (statistics.median(a) - middle) / middle:+.2f} % "
          f"| {100 * statistics.median(map(apart, a, e)):.2f} % "
          f"| {100 * statistics.median(map(apart, e[1:], e)):.2f} % "
          f"| {100 * statistics.median(errors[::2]) / middle:.2f} % "
          f"| {hold} of {len(a)} | {same} of {len(e) - 1} |")


def main(build, pairs="10", rounds="150000"):
    found = [run(build, rounds, exact) for _ in range(int(pairs)) for exact in (False, True)]
    runs = [named for _, named in found]
    wall = statistics.median(report["wall_s"] for report, _ in found[1::2])
    print("| | ns | counted | medians | a pair | exact | said | agree | exact |\n" + "|---" * 9 + "|")
    for name in runs[0]:
        calls = runs[0][name]["calls"]
        if any(f[name]["calls"] != calls for f in runs):
            sys.exit(f"calls of {name} differ")
        if statistics.median(f[name]["self_s"] for f in runs[1::2]) >= 0.01 * wall:
            show(name, runs, calls)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
