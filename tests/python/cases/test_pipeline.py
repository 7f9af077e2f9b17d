# SPDX-License-Identifier: MIT
"""dsl/python/run_batt.py, the pipeline: with --log it writes one line per DSL call, which is what the
profile must count, in threads and in processes of every kind."""
import collections
import glob
import os
import re
import shutil
import tempfile

from harness import pythons

PROGRAM = os.path.join(pythons.AREA, "..", "..", "dsl", "python", "run_batt.py")
WAYS = (["-c", "3", "-j", "3"], ["-c", "3", "--processes", "2"],
        ["-c", "3", "--processes", "2", "--method", "spawn"])


def logged(directory):
    """{function: lines} of all logs."""
    lines = collections.Counter()
    for path in glob.glob(os.path.join(directory, "calls.log*")):
        with open(path, encoding="utf-8") as file:
            lines.update(re.search(r" INFO (\w+)", line).group(1) for line in file)
    return lines


def count(report):
    """{function: calls} of the DSL's named functions, and the calls of the logger under them."""
    calls, info = collections.Counter(), 0
    for function in report["functions"]:
        if function["name"].startswith("dsl.") and "<" not in function["name"]:
            calls[function["name"][4:]] += function["calls"]
        if function["name"] == "logging.Logger.info":
            info += function["calls"]
    calls.pop("log_to", None)
    return calls, info


def run(python, way, log=True):
    directory = tempfile.mkdtemp(prefix="battprof-pipeline-")
    arguments = [PROGRAM] + way + (["--log", "calls.log"] if log else [])
    done, output = pythons.profiled(python, arguments, directory)
    report = pythons.report(output)
    lines = logged(directory)
    shutil.rmtree(output)
    shutil.rmtree(directory)
    return done, report, lines


def loading(check, where, python, way):
    """What is called before the log is open: the same tasks, made and not solved."""
    script = "import sys; sys.path.insert(0, %r); import tasks; tasks.generate(%s, 0, 1)"
    done, output = pythons.profiled(
        python, ["-c", script % (os.path.dirname(PROGRAM), way[1])], pythons.AREA)
    calls, _ = count(pythons.report(output))
    shutil.rmtree(output)
    check.that((done.returncode, done.stderr) == (0, b"") and calls,
               "%s: the run that only loads: %r, %r" % (where, done, calls))
    return calls


def check_way(check, where, python, way):
    bare = pythons.bare(python, [PROGRAM] + way, pythons.AREA)
    done, report, lines = run(python, way)
    check.that((done.returncode, done.stdout, pythons.normal(done.stderr)) ==
               (0, bare.stdout, bare.stderr),
               "%s: %r %r" % (where, done.stdout, done.stderr))
    calls, info = count(report)
    calls.subtract(loading(check, where, python, way))
    check.that(+calls == lines, "%s: calls %r" % (where, {
        name: (calls[name], lines[name]) for name in calls if calls[name] != lines[name]}))
    check.that(len(lines) > 40, "%s: only %d functions" % (where, len(lines)))
    check.that(info == sum(lines.values()),
               "%s: logger %d, %d lines" % (where, info, sum(lines.values())))


def main():
    check = pythons.Check()
    for version, python in pythons.find().items():
        for way in WAYS:
            check_way(check, "%d.%d %s" % (*version, " ".join(way)), python, way)
    check.finish()


if __name__ == "__main__":
    main()
