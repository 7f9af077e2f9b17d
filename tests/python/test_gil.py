# SPDX-License-Identifier: MIT
"""Waiting for the GIL is its own kind of waiting: of two threads that compute one has it at any time.
What the kernel says of them bounds it: they waited at least while neither running nor runnable, at
most while not running."""
import json
import os
import shutil

import pythons

SUBJECTS = os.path.join(pythons.HERE, "subjects")
SECONDS = 0.8


def check_version(check, where, python, options=()):
    done, output = pythons.profiled(python, ["gil.py", str(SECONDS)], SUBJECTS, options)
    report = pythons.report(output)
    shutil.rmtree(output)
    whole, cpu, queued = json.loads(done.stdout)
    gil = report["framework"]["gil_s"]
    rows = [f for f in report["functions"] if f["name"] == "GIL"]
    locks = sum(f["self_s"] for f in report["functions"] if f["name"].startswith("sem_"))
    print("%s: %.3f s of %.3f s for the GIL, %.3f to %.3f s by the kernel" % (
        where, gil, whole, whole - cpu - queued, whole - cpu))
    slack = 0.06 * whole
    check.that(whole - cpu - queued - slack < gil < whole - cpu + slack, where + ": " + repr(gil))
    check.that(gil > 0.05 * whole, "%s: hardly any: %r" % (where, gil))
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
