# SPDX-License-Identifier: MIT
"""Module import is a function of its own, around the outermost import; what the interpreter imports
for itself is in it. DSL functions called meanwhile are DSL. What we look at in code that is executed
is said as overhead."""
import os
import shutil

from harness import pythons

SUBJECTS = os.path.join(pythons.AREA, "subjects")
EXECUTED = 20000
MORE = 3  # times the overhead without them; 10 and more by hand, 1.0 if it is not counted


def check_version(check, where, python):
    want = pythons.bare(python, ["imports.py"], SUBJECTS)
    done, output = pythons.profiled(python, ["imports.py"], SUBJECTS)
    report = pythons.report(output)
    shutil.rmtree(output)
    check.that((done.returncode, done.stderr) == (0, want.stderr), where + ": %r" % done.stderr)
    byhand, below, whole = map(float, done.stdout.split())
    rows = {f["name"]: f for f in report["functions"]}
    row = rows["importlib.import"]
    start = report["wall_s"] - whole
    print("%s: %.4f s by hand, %.4f s by battprof, start of the interpreter %.4f s"
          % (where, byhand, row["total_s"], start))
    check.time(byhand - 0.01 < row["total_s"] < byhand + start, "%s: total %r" % (where, row))
    # slow.work called from the DSL is a frame of its own, the only time that is not import's.
    check.time(abs(rows["slow.work"]["total_s"] - below) < 0.01, "%s: %r" % (where, rows["slow.work"]))
    check.time(row["self_s"] < row["total_s"] - 0.9 * below, "%s: self %r" % (where, row))
    check.that((row["category"], row["group"]) == ("framework", "module import"),
               "%s: %r" % (where, row))
    check.that(row["aborted"] == 2, "%s: %d imports failed" % (where, row["aborted"]))
    check.that(row["called_from"] == "dsl.call", "%s: from %r" % (where, row.get("called_from")))
    group = [g for g in report["groups"] if g["name"] == "module import"][0]
    check.time(group["self_s"] > 0.8 * (byhand - below), "%s: group %r" % (where, group))


def overhead(python, count):
    """Of a program that executes code so often, as an import does, and has no files to read."""
    program = "code = compile('1', 'x', 'exec')\nfor i in range(%d): exec(code, {})" % count
    done, output = pythons.profiled(python, ["-c", program], SUBJECTS, ["--no-sampling"])
    report = pythons.report(output)
    shutil.rmtree(output)
    return report["overhead_s"]


def check_overhead(check, where, python):
    few, many = overhead(python, 1), overhead(python, EXECUTED)
    print("%s: overhead %.2f ms, with %d times code %.2f ms" % (where, 1e3 * few, EXECUTED, 1e3 * many))
    check.time(many > MORE * few, "%s: overhead %r with code, %r without" % (where, many, few))


def check_all(check, where, python):
    if where == "3.15":
        print("3.15: imports are sampled")  # docs/limits.md
        check.that(True, where)
        return
    check_version(check, where, python)
    check_overhead(check, where, python)


if __name__ == "__main__":
    pythons.check_all(check_all)
