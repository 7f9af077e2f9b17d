# SPDX-License-Identifier: MIT
"""CPython's own regression tests, bare and under the profiler: as every program runs, and with every
function measured. The same tests must pass and fail. A test that fails in one of two bare runs is
nobody's. By hand, which takes an hour: test_regrtest.py [PYTHON [MODULE...]]; a part of it in a minute, on
the system's Python and the newest: test_regrtest.py --short"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(__file__).rpartition("/tests/")[0]
sys.path.insert(0, os.path.join(ROOT, "tests"))
from harness import pythons  # noqa: E402

MODULES = """test_generators test_coroutines test_exceptions test_threading test_fork1
test_subprocess test_concurrent_futures test_multiprocessing_fork test_asyncio test_sys
test_sys_settrace test_sys_setprofile test_monitoring test_gc test_pickle test_inspect test_frame
test_ctypes test_code test_dis""".split()
LIMIT = 1200
SHORT = "test_generators test_frame test_sys_setprofile test_monitoring test_code test_dis".split()
# How the profiler is there: not at all, waiting for a module dsl, measuring everything.
WAYS = {"bare": None, "default": {}, "everything": {"BATTPROF_PYTHON": "*"}}
# Measuring everything takes a tool id of sys.monitoring and events, which is what test_monitoring
# looks at; and a call of sys.setprofile that has an event of ours returns to the new profiler, too.
# CPython 3.11 specialises no call of a Python function while a frame evaluation function is set
# (specialize.c), and test_loop_quicken reads the specialised instructions.
EXPECTED = {("test_monitoring", "everything"): "", ("test_sys_setprofile", "everything"):
            "test_method_with_c_function", ("test_dis", "everything"):
            # What it disassembles is not specialised, or instrumented, while it is measured.
            ("test_binary_specialize", "test_call_specialize",
             "test_co_positions_with_lots_of_caches", "test_load_attr_specialize",
             "test_loop_quicken", "test_super_instructions")}


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
        known = EXPECTED.get((module, way))
        excused = known is not None and all(name.startswith(known) for name in wrong)
        fine = fine and (not wrong or excused)
        words.append("%s: %s" % (way, "as bare" if not wrong else "%d known to differ" % len(wrong)
                                 if excused else "DIFFERENT: " + ", ".join(wrong)))
    print("; ".join(words), flush=True)
    return fine


def has_tests(python):
    found = subprocess.run([python, "-c", "import test.test_generators"], env=pythons.environment(),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    if not found:
        print(python, "has no test package; Debian: libpython3.11-testsuite")
    return found


def compare_all(python, modules):
    print(python, flush=True)
    ways = os.environ.get("WAYS", "default everything").split()
    there = [m for m in modules if m != "test_monitoring" or pythons.version(python) >= (3, 12)]
    return all([compare(python, module, ways) for module in there])


def main():
    if sys.argv[1:] == ["--short"]:
        found = list(pythons.find().values())
        chosen, modules = sorted({"/usr/bin/python3", found[-1]}), SHORT
    else:
        chosen, modules = sys.argv[1:2] or ["/usr/bin/python3"], sys.argv[2:] or MODULES
    chosen = [python for python in chosen if os.path.exists(python) and has_tests(python)]
    if not chosen:
        sys.exit(77)
    sys.exit(0 if all([compare_all(python, modules) for python in chosen]) else 1)


if __name__ == "__main__":
    main()
