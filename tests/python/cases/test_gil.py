# SPDX-License-Identifier: MIT
"""Waiting for the GIL is its own kind of waiting: of two threads that compute one has it at any time.
What the kernel says of them bounds it: they waited at least while neither running nor runnable, at
most while not running."""
import json
import os
import shutil

from harness import pythons

SUBJECTS = os.path.join(pythons.AREA, "subjects")
SECONDS = 0.8


def measure(check, where, python, options):
    """One run: whether the kernel's figures allow its seconds for the GIL, and these."""
    done, output = pythons.profiled(python, ["gil.py", str(SECONDS)], SUBJECTS, options)
    report = pythons.report(output)
    shutil.rmtree(output)
    whole, cpu, queued = json.loads(done.stdout)
    gil = report["framework"]["gil_s"]
    print("%s: %.3f s of %.3f s for the GIL, %.3f to %.3f s by the kernel" % (
        where, gil, whole, whole - cpu - queued, whole - cpu))
    check_report(check, where, report, gil)
    slack = 0.06 * whole
    return max(0.05 * whole, whole - cpu - queued - slack) < gil < whole - cpu + slack, gil


def check_version(check, where, python, options=()):
    """A machine that is taken away for a while is time that the kernel calls neither: three tries."""
    right, gil = pythons.tries(3, "gil_" + where, lambda: measure(check, where, python, options),
                               lambda got: got[0])
    check.time(right, where + ": " + repr(gil))


def check_report(check, where, report, gil):
    """Facts of every run."""
    rows = [f for f in report["functions"] if f["name"] == "GIL"]
    locks = sum(f["self_s"] for f in report["functions"] if f["name"].startswith("sem_"))
    check.that(all(f["kind"] == "wait" and f["category"] == "framework" for f in rows) and
               abs(sum(f["self_s"] for f in rows) - gil) < 1e-6, "%s: rows %r" % (where, rows))
    check.that(locks > SECONDS / 4, "%s: locks %r" % (where, locks))
    check.that(report["framework"]["waiting_s"] >= gil + locks - 1e-6, where + ": waiting")


def main():
    check = pythons.Check()
    for version, python in pythons.find().items():
        check_version(check, "%d.%d" % version, python)
    check_version(check, "none", python, ["--python", "none"])
    check.finish()


if __name__ == "__main__":
    main()
