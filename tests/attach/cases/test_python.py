# SPDX-License-Identifier: MIT
"""battprof attach on Python programs, of every version that is here, and on a notebook's kernel; a
Python that runs scripts of others on request loads the library itself."""
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import notebook
from harness import pythons
from harness.attach import SUBJECTS, Target, calls, environment, tool, wait_until
from harness.command import CMD, main

CALLS = 500
VERSIONS = pythons.find()
REMOTE = (3, 14)  # loads the library by itself
WORKS = """
import os, sys, time, zlib
modules, variables = set(sys.modules), dict(os.environ)
while not os.path.exists(sys.argv[1]):
    zlib.crc32(b"x" * 10000)
    time.sleep(float(sys.argv[2]))
print(dict(os.environ) == variables, "load" in globals())
"""


class Python(unittest.TestCase):
    def test_versions(self):
        for version, python in VERSIONS.items():
            with self.subTest(version=version):
                self.check_version(version, python)

    def test_a_seccomp_filter(self):
        """As in a container: no thread may be borrowed, and the interpreter needs no help."""
        for version, python in VERSIONS.items():
            with self.subTest(version=version):
                if version >= REMOTE:
                    self.check_version(version, python, "seccomp")

    def check_version(self, version, python, *words):
        target = Target([python, os.path.join(SUBJECTS, "calls.py"), None, *words])
        self.addCleanup(target.drop)
        wait_until(lambda: target.words[4] > 5, "work of the target")
        done = target.attach("--dsl", "chosen")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual("its Python loaded" in done.stderr, version >= REMOTE, done.stderr)
        # From here on everything is counted: the pending call of the library has run.
        worked = target.words[4]
        wait_until(lambda: (target.words[4] - worked) % 256 > 20, "work of the target")
        expected = "total %d\n" % sum((i + 1) * 2 for i in range(CALLS))
        self.assertEqual(target.end(), (0, expected, ""))
        report = target.report()
        self.assertEqual(calls(report, "chosen.after"), CALLS)
        self.assertEqual(calls(report, "chosen.inside"), CALLS)
        self.assertGreater(calls(report, "chosen.before"), CALLS)

    def check_remote(self, python, sleep_s, *words, **variables):
        directory = tempfile.mkdtemp(prefix="battprof-attach-")
        self.addCleanup(shutil.rmtree, directory, True)
        stop = os.path.join(directory, "stop")
        process = subprocess.Popen([python, "-c", WORKS, stop, sleep_s], cwd=directory, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(environment(), **variables))
        time.sleep(0.5)
        done = subprocess.run([CMD, "attach", "-o", "out", str(process.pid)], cwd=directory,
                              capture_output=True, text=True, env=tool(), check=False)
        with open(stop, "w", encoding="utf-8"):
            pass
        self.assertEqual(process.communicate(timeout=60), ("True False\n", ""))
        self.assertEqual((process.returncode, done.returncode), (0, 0), done)
        self.assertEqual(os.listdir(os.path.join(directory, "out")),
                         ["battprof.%d.bp" % process.pid])
        for word in words:
            self.assertIn(word, done.stderr)

    def test_by_its_own_interpreter(self):
        for version, python in VERSIONS.items():
            with self.subTest(version=version):
                if version < REMOTE:
                    continue
                self.check_remote(python, "0.01", "its Python loaded the library")
                self.check_remote(python, "0.01", "stood still", PYTHON_DISABLE_REMOTE_DEBUG="1")
                self.check_remote(python, "2", "is being recorded")

    def test_notebook(self):
        env = environment()
        if not notebook.is_there(env):
            self.skipTest(notebook.MISSING)
        directory = tempfile.mkdtemp(prefix="battprof-attach-")
        self.addCleanup(shutil.rmtree, directory, True)
        jupyter = subprocess.Popen([notebook.KERNEL, os.path.join(SUBJECTS, "kernel.py")],
                                   cwd=directory, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   env=dict(env, PYTHONPATH=os.environ["PYTHONPATH"]))
        self.addCleanup(jupyter.communicate)
        first = jupyter.stdout.readline()
        self.assertRegex(first, r"^\d+$", first or jupyter.communicate()[1])
        kernel = int(first)
        time.sleep(0.5)  # it is idle
        done = subprocess.run([CMD, "attach", "--dsl", "chosen", "-o", "out", str(kernel)],
                              cwd=directory, capture_output=True, text=True, env=tool(),
                              check=False)
        self.assertEqual(done.returncode, 0, done)
        out, err = jupyter.communicate("go\n", timeout=120)
        self.assertIn(str(sum((i + 1) * 2 for i in range(500))), out)
        self.assertNotIn("Traceback", out)  # err has what jupyter_client says at its end
        self.assertEqual(jupyter.returncode, 0, err)
        shown = subprocess.run([CMD, "report", "--json", "out"], cwd=directory, env=tool(),
                               capture_output=True, text=True, check=True)
        self.assertEqual(calls(json.loads(shown.stdout), "chosen.after"), 500)


if __name__ == "__main__":
    main()
