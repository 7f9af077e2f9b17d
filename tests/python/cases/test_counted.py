# SPDX-License-Identifier: MIT
"""run --count: functions that are no DSL, each call of them, with and without a DSL beside them; and
of modules that the interpreter itself loads before anybody can look."""
import os
import shutil

from harness import pythons

SUBJECTS = os.path.join(pythons.AREA, "subjects")
PATTERNS = ("toolbox:[!u]*", "counted:ma*", "genericpath:exists", "nothing.*")
# By reading counted.py: {function: (calls, left by an exception)}
WANTED = {
    "toolbox.plain": (7, 0), "toolbox.fail": (5, 5), "toolbox.numbers": (2, 0),
    "toolbox.cached": (3, 0), "toolbox.Box.__init__": (1, 0), "toolbox.Box.get": (7, 0),
    "toolbox.Box.value": (7, 0), "toolbox.Box.one": (7, 0), "toolbox.Box.of_three": (1, 0),
    "toolbox.Box.Inner.deep": (7, 0), "counted.main": (1, 0), "genericpath.exists": (6, 0),
}


def python_rows(report):
    return {f["name"]: f for f in report["functions"]
            if f.get("module") and f["name"] != "importlib.import"}


def run(check, where, python, options, arguments):
    want = pythons.bare(python, ["counted.py"] + arguments, SUBJECTS)
    got, output = pythons.profiled(python, ["counted.py"] + arguments, SUBJECTS, options)
    check.that((got.stdout, got.stderr) == (want.stdout, want.stderr),
               "%s: %r, not %r" % (where, got.stdout + got.stderr, want.stdout + want.stderr))
    report = pythons.report(output)
    shutil.rmtree(output)
    return report


def check_counts(check, where, rows, wanted):
    counts = {name: (row["calls"], row["aborted"]) for name, row in rows.items()
              if row["category"] == "framework"}
    check.that(counts == wanted, "%s: %r, not %r" % (where, counts, wanted))
    main = rows.get("counted.main", {"total_s": 0, "self_s": 0})
    inner = sum(row["self_s"] for row in rows.values())
    check.that(inner <= 1.01 * main["total_s"] and main["self_s"] < main["total_s"],
               "%s: main %r, all within it %r" % (where, main, inner))


def check_version(check, where, python):
    options = [word for pattern in PATTERNS for word in ("--count", pattern)]
    rows = python_rows(run(check, where, python, options, []))
    check_counts(check, where, rows, WANTED)
    wanted = dict(WANTED, **{"toolbox.plain": (11, 0)})
    rows = python_rows(run(check, where + " dsl", python, options, ["dsl"]))
    check_counts(check, where + " dsl", rows, wanted)
    check.that(rows["dsl.call"]["calls"] == 4 and rows["dsl.call"]["category"] == "dsl",
               "%s: dsl.call %r" % (where, rows["dsl.call"]))
    rows = python_rows(run(check, where + " none", python, options + ["--python", "none"], ["dsl"]))
    check_counts(check, where + " none", rows, wanted)
    check.that("dsl.call" not in rows, where + ": DSL with --python none")


if __name__ == "__main__":
    pythons.check_all(check_version)
