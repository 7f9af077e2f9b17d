# SPDX-License-Identifier: MIT
"""Output, exit status and errors of Python programs are the same with and without the profiler,
whatever they do with functions, threads, processes and tools; and their calls are in the profile.
test_features.py [NAME...]"""
import os
import shutil
import sys

from harness import pythons

FEATURES = ("generators", "coroutines", "exceptions", "recursion", "deep", "threads", "handed_over",
            "fork", "processes", "children", "signals", "collected", "tools", "monitored", "debugged",
            "subinterpreters", "looks", "extras", "late", "loky", "covered")
# With these where they are: module -> Debian's package.
NEEDED = {"loky": ("joblib.externals.loky", "python3-joblib"),
          "covered": ("coverage", "python3-coverage")}
# Of the interpreter; the first two change its allocator after we came.
OPTIONS = (["-X", "dev"], ["-X", "tracemalloc"], ["-O"], ["-E", "-s"])
SUBJECTS = os.path.join(pythons.AREA, "subjects")
# Calls that are known from reading features.py: feature -> {function: calls}, over all processes.
CALLS = {
    "recursion": {"dsl.depth": None},
    "exceptions": {"dsl.fail": 3 * 6 + 3, "dsl.call": 1},
    "threads": {"dsl.identity": 20, "dsl.depth": 40 * 51},
    "coroutines": {"dsl.slow": 20, "dsl.ticks": 2, "dsl.identity": 20},
    "fork": {"dsl.add": 1, "dsl.depth": 6, "dsl.numbers": 1, "dsl.call": 1},
    "children": {"dsl.add": 2},
    "generators": {"dsl.guarded": 1, "dsl.delegated": 1, "dsl.identity": 10},
    "handed_over": {"dsl.numbers": 1},
    "monitored": {"dsl.depth": 11 + 4, "dsl.numbers": 1, "dsl.fail": 3},
    "debugged": {"dsl.add": 2, "dsl.call": 1},
    "subinterpreters": {"dsl.add": 3, "dsl.depth": 0},
    "loky": {"dsl.identity": 8, "dsl.depth": 4},
    "covered": {"dsl.add": 1, "dsl.depth": 4, "dsl.numbers": 1},
    "processes": {"dsl.add": 6, "dsl.identity": 24, "dsl.depth": 21},
}


# Functions of subjects/dsl.py that run by pieces: nothing but a mean can be said of their calls.
PIECES = {"dsl.numbers", "dsl.guarded", "dsl.delegated", "dsl.slow", "dsl.ticks"}


def check_durations(check, where, report):
    for function in report["functions"]:
        order = [function[key] for key in ("min_s", "median_s", "p99_s", "max_s")]
        if function["name"] in PIECES:
            check.that(order == 4 * [None], "%s: %s: %r" % (where, function["name"], order))
        elif None not in order and not function["aborted"] and function["calls"]:
            check.that(order == sorted(order) and
                       order[0] - 1e-8 <= function["mean_s"] <= 1.01 * order[3] + 1e-8,
                       "%s: %s: mean %r of %r" % (where, function["name"], function["mean_s"], order))


def check_calls(check, name, where, report):
    counts = {}
    for function in report["functions"]:
        counts[function["name"]] = counts.get(function["name"], 0) + function["calls"]
    for function, calls in CALLS.get(name, {}).items():
        got = counts.get(function, 0)
        check.that(got == calls if calls is not None else got > 0,
                   "%s: %s: %d calls, not %s" % (where, function, got, calls))
    check.that(any(f.startswith("dsl.") for f in counts), "%s: no DSL function seen" % where)
    check_durations(check, where, report)


def check_feature(check, python, version, name, options=()):
    with pythons.scratch(SUBJECTS) as place:
        compare(check, python, version, name, options, place)


def compare(check, python, version, name, options, place):
    where = "%d.%d %s" % (*version, " ".join([*options, name]))
    argv = [*options, "features.py", name]
    want = pythons.bare(python, argv, place)
    got, output = pythons.profiled(python, argv, place, prepare=pythons.with_cores)
    for death in pythons.deaths(place, got.returncode, python):
        check.that(False, "%s: %s" % (where, death))
    check.that(got.returncode == want.returncode,
               "%s: status %d, not %d" % (where, got.returncode, want.returncode))
    check.that(pythons.normal(got.stdout) == pythons.normal(want.stdout),
               "%s: stdout %r, not %r" % (where, got.stdout[-300:], want.stdout[-300:]))
    check.that(pythons.normal(got.stderr) == pythons.normal(want.stderr),
               "%s: stderr %r, not %r" % (where, got.stderr[-300:], want.stderr[-300:]))
    if os.path.isdir(output):
        check_calls(check, name, where, pythons.report(output))
    shutil.rmtree(output, ignore_errors=True)


def is_there(python, name):
    module, package = NEEDED.get(name, ("", ""))
    there = not module or pythons.bare(python, ["-c", "import " + module], "/").returncode == 0
    if not there:
        print("%s has no %s; Debian: %s" % (python, module, package))
    return there


def main():
    check = pythons.Check()
    for version, python in pythons.find().items():
        for name in sys.argv[1:] or FEATURES:
            if is_there(python, name):
                check_feature(check, python, version, name)
        for options in () if sys.argv[1:] else OPTIONS:
            check_feature(check, python, version, "generators", options)
    check.finish()


if __name__ == "__main__":
    main()
