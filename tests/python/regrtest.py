# SPDX-License-Identifier: MIT
"""CPython's own regression tests, bare and under the profiler: as every program runs, and with every
function measured. The same tests must pass and fail. A test that fails in one of two bare runs is
nobody's. Run by hand, which takes an hour: regrtest.py [PYTHON [MODULE...]]"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pythons

MODULES = """test_generators test_coroutines test_exceptions test_threading test_fork1
test_subprocess test_concurrent_futures test_multiprocessing_fork test_asyncio test_sys
test_sys_settrace test_sys_setprofile test_monitoring test_gc test_pickle test_inspect test_frame
test_ctypes""".split()
LIMIT = 1200
# How the profiler is there: not at all, waiting for a module dsl, measuring everything. With the
# third a tool id of sys.monitoring is taken, which is what test_monitoring looks at.
WAYS = {"bare": None, "default": {}, "everything": {"BATTPROF_PYTHON": "*"}}
EXPECTED = {("test_monitoring", "everything")}


def environment(way, directory):
    env = pythons.environment()
    if WAYS[way] is not None:
        env.update(LD_PRELOAD=pythons.LIB, BATTPROF_DIR=directory, BATTPROF_QUIET="1", **WAYS[way])
    return env


def outcome(python, module, way):
    """The tests that ran and did not pass, by name; None for the whole module."""
    directory = tempfile.mkdtemp(prefix="battprof-regr-")
    command = [python, "-m", "test", "-v", module]
    try:
        done = subprocess.run(command, env=environment(way, directory), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=LIMIT,
                              cwd=directory)
    except subprocess.TimeoutExpired:
        return {"(timeout)"}, 0
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    text = done.stdout.decode(errors="replace")
    failed = set(re.findall(r"^(?:FAIL|ERROR): (.*)$", text, re.M))
    if done.returncode and not failed:
        failed = {"(status %d)" % done.returncode}
    return failed, sum(map(int, re.findall(r"^Ran (\d+) tests", text, re.M)))


def compare(python, module, ways):
    """Prints one line; whether all ways agree."""
    bare, ran = outcome(python, module, "bare")
    words, fine = ["%s: %d tests, %d fail bare" % (module, ran, len(bare))], True
    for way in ways:
        failed, count = outcome(python, module, way)
        if (failed, count) != (bare, ran):
            again, _ = outcome(python, module, "bare")
            failed, count = outcome(python, module, way)
            bare |= again & failed | bare & failed
        wrong = sorted(failed - bare) or (["%d tests ran" % count] if count != ran else [])
        excused = wrong and (module, way) in EXPECTED
        fine = fine and (not wrong or excused)
        words.append("%s: %s" % (way, "as bare" if not wrong else
                                 ("known: " if excused else "DIFFERENT: ") + ", ".join(wrong)))
    print("; ".join(words), flush=True)
    return fine


def main():
    python = sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/python3"
    modules = sys.argv[2:] or MODULES
    ways = os.environ.get("WAYS", "default everything").split()
    if subprocess.run([python, "-c", "import test.support"], stderr=subprocess.DEVNULL,
                      env=pythons.environment()).returncode:
        print(python, "has no test package; Debian: libpython3.11-testsuite")
        sys.exit(77)
    print(python, flush=True)
    results = [compare(python, module, ways) for module in modules]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
