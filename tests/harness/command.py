# SPDX-License-Identifier: MIT
"""A fresh directory for each test of the command, and ways to run it. meson gives BATTPROF_CMD and
BATTPROF_LIB."""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

CMD = os.environ["BATTPROF_CMD"]
LIB = os.environ["BATTPROF_LIB"]
# A shell cannot trap what was ignored when it started: SIGINT and SIGQUIT in jobs with &, SIGHUP
# with nohup.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


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
                                     check=False, timeout=60, **options))

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
