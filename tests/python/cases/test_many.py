# SPDX-License-Identifier: MIT
"""A hundred processes started and finished: one report that has them all, and no file is left beyond
the profiles."""
import os
import shutil
import tempfile

from harness import pythons

SUBJECTS = os.path.join(pythons.AREA, "subjects")
FILES = ("many.py", "dsl.py")
CALLS = sum(n * (n + 1) // 2 for n in (50, 10, 40))  # as many.py starts them


def memory_files():
    return {name for name in os.listdir("/dev/shm") if "battprof" in name}


def check_files(check, where, directory, output, before):
    found = {name for name in os.listdir(directory)}
    check.that(found == set(FILES), "%s: left in the working directory: %r" % (where, found))
    names = os.listdir(output)
    check.that(all(name.endswith(".bp") for name in names), "%s: %r" % (where, names))
    check.that(memory_files() <= before, "%s: left in /dev/shm" % where)
    return len(names)


def check_report(check, where, report):
    # The tracker that spawning starts is one more, beside the program itself.
    check.that(101 <= report["processes"] <= 102, "%s: %d processes" % (where, report["processes"]))
    calls = sum(f["calls"] for f in report["functions"] if f["name"] == "dsl.add")
    check.that(calls == CALLS, "%s: %d calls, not %d" % (where, calls, CALLS))
    parts = sum(category["s"] for category in report["categories"].values())
    check.that(abs(parts - report["wall_s"]) < 0.01 * report["wall_s"],
               "%s: parts %r, wall %r" % (where, parts, report["wall_s"]))


def check_version(check, where, python):
    directory, before = tempfile.mkdtemp(prefix="battprof-many-"), memory_files()
    for name in FILES:
        shutil.copy(os.path.join(SUBJECTS, name), directory)
    done, output = pythons.profiled(python, ["many.py"], directory, timeout=300)
    check.that((done.returncode, done.stdout) == (0, b"100 0\n"), "%s: %r" % (where, done))
    files = check_files(check, where, directory, output, before)
    report = pythons.report(output)
    print("%s: %d processes, %d files, %.1f s" % (where, report["processes"], files,
                                                  report["wall_s"]))
    check_report(check, where, report)
    shutil.rmtree(output)
    shutil.rmtree(directory)


def main():
    check = pythons.Check()
    found = list(pythons.find().items())
    for version, python in sorted({found[0], found[-1]}):
        check_version(check, "%d.%d" % version, python)
    check.finish()


if __name__ == "__main__":
    main()
