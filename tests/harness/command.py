# SPDX-License-Identifier: MIT
"""A fresh directory for each test of the command, and ways to run it. meson gives BATTPROF_CMD and
BATTPROF_LIB."""
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CMD = os.environ["BATTPROF_CMD"]
LIB = os.environ["BATTPROF_LIB"]
# A shell cannot trap what was ignored when it started: SIGINT and SIGQUIT in jobs with &, SIGHUP
# with nohup.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


NOISE = 3  # the exit status if times alone were wrong, as in tests/harness/__init__.py
TRIES = 5


class WrongTime(AssertionError):
    """Perhaps because of what else the machine does. Never for a fact."""


def timed(test):
    """A test that is tried again if times alone were wrong."""
    @functools.wraps(test)
    def go(self):
        for n in range(TRIES):
            self.wrong_times = []
            test(self)
            if not self.wrong_times:
                return
            if n < TRIES - 1:
                print("   retry %s: %s" % (test.__name__, "; ".join(self.wrong_times)),
                      flush=True)  # for check_summary.py
                time.sleep(2 ** n / 2)
        raise WrongTime("; ".join(self.wrong_times))
    return go


class Outcome(unittest.TextTestResult):
    """Tells failures by times alone from others."""
    facts = 0

    def addFailure(self, test, err):
        self.facts += not issubclass(err[0], WrongTime)
        super().addFailure(test, err)

    def addSubTest(self, test, subtest, err):
        self.facts += err is not None and not issubclass(err[0], WrongTime)
        super().addSubTest(test, subtest, err)


def main():
    runner = unittest.TextTestRunner(resultclass=Outcome)
    result = unittest.main(exit=False, testRunner=runner).result
    if not result.testsRun:
        sys.exit(1)
    sys.exit(0 if result.wasSuccessful() else 1 if result.facts or result.errors else NOISE)


class Result:
    def __init__(self, process):
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def __repr__(self):
        return f"status {self.status}\nstdout: {self.out}\nstderr: {self.err}"


class CommandTest(unittest.TestCase):
    """`self.battprof("run", "--", "true")` in a directory of its own."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="battprof-command-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.directory, "LC_ALL": "C"}
        # The command may be built with sanitizers, which mind an LD_PRELOAD of others.
        self.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"
        self.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"

    def assert_time(self, condition, message):
        """In a @timed test. Notes a wrong time and goes on: it must not keep the facts after it from
        being checked."""
        if not condition:
            self.wrong_times.append(str(message))

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text="", mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def battprof(self, *arguments, **options):
        return Result(subprocess.run([CMD, *arguments], cwd=self.directory, env=self.environment,
                                     capture_output=True, text=True, errors="replace",
                                     check=False, timeout=120, **options))

    def start(self, *arguments, **options):
        process = subprocess.Popen([CMD, *arguments], cwd=self.directory, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def assert_one_sentence(self, result, *words):
        """Exactly one line of ours (the report aside), which says all of this."""
        lines = [line for line in result.err.splitlines() if line.startswith("battprof: ")]
        self.assertEqual(len(lines), 1, result)
        for word in words:
            self.assertIn(word, lines[0])
