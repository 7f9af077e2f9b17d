# SPDX-License-Identifier: MIT
"""CPython's own regression tests, bare and under the profiler with every function measured: the
same modules pass and fail. Run by hand: regrtest.py [PYTHON [MODULE...]]"""
import re
import subprocess
import sys
import tempfile

import pythons

MODULES = """test_generators test_coroutines test_exceptions test_threading test_fork1
test_subprocess test_concurrent_futures test_multiprocessing_fork test_asyncio test_sys
test_sys_settrace test_sys_setprofile test_monitoring test_gc test_pickle test_inspect test_frame
test_ctypes""".split()
LIMIT = 900


def outcome(python, module, profiled):
    """What unittest says of the module: counts and the names of failed tests."""
    env = pythons.environment()
    if profiled:
        env.update(LD_PRELOAD=pythons.LIB, BATTPROF_DIR=tempfile.mkdtemp(prefix="battprof-regr-"),
                   BATTPROF_QUIET="1", BATTPROF_PYTHON="*")
    command = [python, "-m", "test", "-v", module]
    try:
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, timeout=LIMIT, cwd=tempfile.gettempdir())
    except subprocess.TimeoutExpired:
        return "timeout", set()
    text = done.stdout.decode(errors="replace")
    failed = set(re.findall(r"^(?:FAIL|ERROR): (.*)$", text, re.M))
    ran = sum(map(int, re.findall(r"^Ran (\d+) tests", text, re.M)))
    return "status %d, %d tests" % (done.returncode, ran), failed


def main():
    python = sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/python3"
    if subprocess.run([python, "-c", "import test.support"], stderr=subprocess.DEVNULL).returncode:
        print(python, "has no test package; Debian: libpython3.11-testsuite")
        sys.exit(77)
    different = 0
    for module in sys.argv[2:] or MODULES:
        bare, with_us = outcome(python, module, False), outcome(python, module, True)
        same = bare == with_us
        different += not same
        print(module, bare[0], "same" if same else "DIFFERENT: " + with_us[0], flush=True)
        for name in sorted(with_us[1] ^ bare[1]):
            print("   ", "only with us:" if name in with_us[1] else "only without:", name)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
