# SPDX-License-Identifier: MIT
"""battprof attach on Python programs, of every version that is here, and on a notebook's kernel."""
import glob
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


def leftovers():
    return glob.glob("/tmp/battprof-load-*")


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
        self.assertEqual("its own interpreter" in done.stderr, version >= REMOTE, done.stderr)
        # From here on everything is counted: the pending call of the library has run.
        worked = target.words[4]
        wait_until(lambda: (target.words[4] - worked) % 256 > 20, "work of the target")
        expected = "total %d\n" % sum((i + 1) * 2 for i in range(CALLS))
        self.assertEqual(target.end(), (0, expected, ""))
        report = target.report()
        self.assertEqual(calls(report, "chosen.after"), CALLS)
        self.assertEqual(calls(report, "chosen.inside"), CALLS)
        self.assertGreater(calls(report, "chosen.before"), CALLS)
        self.assertEqual(leftovers(), [])

    def test_a_main_thread_that_waits(self):
        """It does not run the script in time: a thread is borrowed, and the script finds the library
        loaded when it runs at last."""
        for version, python in VERSIONS.items():
            with self.subTest(version=version):
                if version >= REMOTE:
                    self.check_waiting(python)

    def check_waiting(self, python):
        target = Target([python, os.path.join(SUBJECTS, "waits.py"), None])
        self.addCleanup(target.drop)
        wait_until(lambda: target.words[4], "the target's wait")
        done = target.attach("--dsl", "__main__")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("stood still", done.stderr)
        self.assertEqual(len(leftovers()), 1)
        self.assertEqual(target.end(), (0, "total 4950\n", ""))
        self.assertEqual(calls(target.report(), "waits.work"), 100)
        self.assertEqual(leftovers(), [])

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
