# SPDX-License-Identifier: MIT
"""Pythons whose insides the profiler does not know run as without it, have no Python frames, and the
report says why: unknown versions and free-threaded builds, which a stand-in plays, and a debug build
where there is one."""
import os
import shutil

from harness import pythons

FAKE = os.environ["FAKE_PYTHON"]
DEBUG = "/usr/bin/python3.11-dbg"
SUBJECTS = os.path.join(pythons.AREA, "subjects")
CASES = (
    ("3.16.0 (main)", "", "a version that battprof does not know"),
    ("3.99.1+", "", "a version that battprof does not know"),
    ("3.7.4", "", "a version that battprof does not know"),
    ("4.0.0", "", "a version that battprof does not know"),
    ("3.13.0 experimental free-threading build", "t", "a free-threaded build"),
    ("3.12.1", "d", "a debug build"),
)


def notes_of(output):
    report = pythons.report(output)
    shutil.rmtree(output)
    frames = [f["name"] for f in report["functions"] if f.get("module") == "dsl" and f["calls"]]
    return " ".join(report["notes"]), frames


def main():
    check = pythons.Check()
    for version, flags, note in CASES:
        done, output = pythons.profiled(FAKE, [version, flags], "/")
        check.that((done.returncode, done.stdout, done.stderr) == (0, b"imported\n", b""),
                   "%s: %r" % (version, done))
        notes, frames = notes_of(output)
        check.that("Python: " + note in notes and not frames, "%s: %r" % (version, notes))
    if os.path.exists(DEBUG):
        want = pythons.bare(DEBUG, ["features.py", "generators"], SUBJECTS)
        done, output = pythons.profiled(DEBUG, ["features.py", "generators"], SUBJECTS)
        check.that((done.stdout, done.stderr) == (want.stdout, want.stderr), "debug: %r" % done)
        notes, frames = notes_of(output)
        check.that("a debug build" in notes and not frames, "debug: %r" % notes)
    else:
        print("no debug build here; Debian: python3.11-dbg")
    check.finish()


if __name__ == "__main__":
    main()
