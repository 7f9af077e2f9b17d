# SPDX-License-Identifier: MIT
"""A program with 200 DSL functions and nested combinators: the calls of every DSL function, closure
and boundary function equal cProfile's, and the split is what clock readings by hand say."""
import json
import os
import shutil
import tempfile
import time

import generate
from harness import pythons

ROUNDS = 60
TRIES = 3  # of the split: two busy cores may spoil one
POINTS = 1
# The kernel takes 50 ms of a second from real-time tasks that need all of it. Where that falls into
# the statements around a call of another module, they are no DSL by hand, and 4 points are missing.
PAUSE = 0.5
# cProfile counts every resumption of a generator; the rest is ours to count only at the boundary.
UNCOUNTED = ("<module>", "<genexpr>", "counted")
# Functions of other modules, by whether all calls come from DSL code.
BOUNDARY = ("outer", "key", "__init__", "__instancecheck__", "debug", "copy", "reached_spread",
            "reached_enclosed", "reached_table", "reached_list")
NO_FRAME = ("inner", "framework", "isEnabledFor")


def cprofile_counts(python, directory):
    out = os.path.join(directory, "counts.json")
    done = pythons.bare(python, ["program.py", str(ROUNDS), "--cprofile", out], directory)
    with open(out, encoding="utf-8") as file:
        return done.stdout, json.load(file)


def our_counts(report):
    """{(file name, line): calls}; one function has several rows if processes do."""
    counts = {}
    for function in report["functions"]:
        if function.get("file"):
            key = (os.path.basename(function["file"]), function["line"])
            counts[key] = counts.get(key, 0) + function["calls"]
    return counts


def compare(check, where, cprofile, ours, notes):
    dsl = boundary = 0
    for file, line, name, calls, _ in cprofile:
        base = os.path.basename(file)
        got = ours.get((base, line), 0)
        if base == "dsl.py" and name not in UNCOUNTED:
            dsl += 1
            check.that(got == calls, "%s: %s:%d %s: %d calls, cProfile %d %s"
                       % (where, base, line, name, got, calls, notes))
        elif base in ("helper.py", "copy.py", "__init__.py"):
            wanted = calls if name in BOUNDARY else 0 if name in NO_FRAME else None
            boundary += wanted is not None
            if wanted is not None:
                check.that(got == wanted, "%s: %s:%d %s: %d calls, want %d"
                           % (where, base, line, name, got, wanted))
    check.that(dsl > 240, "%s: only %d DSL functions compared" % (where, dsl))
    check.that(boundary >= 10, "%s: only %d other functions compared" % (where, boundary))


def check_names(check, where, report):
    names = {f["name"]: f for f in report["functions"]}
    check.that("dsl.f2.<locals>.inner" in names, where + ": no dsl.f2.<locals>.inner")
    check.that("dsl.compose.<locals>.<lambda>" in names, where + ": no lambda of compose")
    outer = names.get("helper.outer", {})
    check.that(outer.get("category") == "framework", where + ": helper.outer is not framework")
    check.that(outer.get("called_from", "").startswith("dsl.f"), where + ": who called outer?")
    check.that(not any(n in ("f", "dsl.f", "<lambda>") for n in names), where + ": mystery rows")


def truth_of(run, python, directory):
    out = os.path.join(directory, "truth.json")
    time.sleep(PAUSE)
    result = run(python, ["program.py", str(2 * ROUNDS), "--truth", out], directory)
    with open(out, encoding="utf-8") as file:
        return result, json.load(file)


def own_cost_in_dsl(report):
    """The part of our own cost that readings by hand have in the DSL: what was taken out of its
    functions, of which self_error_s is a third."""
    return sum(3 * f["self_error_s"] for f in report["functions"] if f["category"] == "dsl")


def split(python, directory):
    """DSL part of the program's loop in percent: by hand and by the profile of the same run, and by
    hand in a bare run. The readings by hand contain our own cost."""
    (_, output), truth = truth_of(pythons.profiled, python, directory)
    report = pythons.report(output)
    shutil.rmtree(output)
    ours = report["categories"]["dsl"]["thread_s"] + own_cost_in_dsl(report)
    _, bare = truth_of(pythons.bare, python, directory)
    return (100 * truth["dsl"] / truth["whole"], 100 * ours / truth["whole"],
            100 * bare["dsl"] / bare["whole"])


def prefer_us(policy):
    """Time that others take from the program is not the DSL's by the profile, but is by hand."""
    try:
        os.sched_setscheduler(0, policy, os.sched_param(1 if policy == os.SCHED_FIFO else 0))
    except PermissionError:
        pass


def check_split(check, where, python, directory):
    prefer_us(os.SCHED_FIFO)
    truth, ours, bare = pythons.tries(TRIES, "split_" + where, lambda: split(python, directory),
                                      lambda got: abs(got[0] - got[1]) <= POINTS)
    prefer_us(os.SCHED_OTHER)
    print("%s: DSL %.1f %% by hand, %.1f %% by battprof; bare %.1f %%" % (where, truth, ours, bare))
    check.time(abs(truth - ours) <= POINTS, "%s: DSL %.1f %%, by hand %.1f %%" % (where, ours, truth))


def main():
    check = pythons.Check()
    directory = tempfile.mkdtemp(prefix="battprof-counts-")
    generate.write(directory)
    for version, python in pythons.find().items():
        where = "%d.%d" % version
        want, cprofile = cprofile_counts(python, directory)
        done, output = pythons.profiled(python, ["program.py", str(ROUNDS)], directory)
        check.that(done.stdout == want, where + ": other output")
        report = pythons.report(output)
        compare(check, where, cprofile, our_counts(report), report["notes"])
        check_names(check, where, report)
        shutil.rmtree(output)
        check_split(check, where, python, directory)
    shutil.rmtree(directory)
    check.finish()


if __name__ == "__main__":
    main()
