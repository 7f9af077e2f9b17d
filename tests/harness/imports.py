# SPDX-License-Identifier: MIT
"""Imports traces and reads the reports; meson gives BATTPROF_CMD."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

CMD = os.environ["BATTPROF_CMD"]
MS = 1000000  # ns
# Of the framework's time in threads; what else stands beside them is part of one of these.
PARTS = "running waiting io cuda_api kernel_wait".split()


class ImportTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="battprof-import-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def battprof(self, *arguments):
        return subprocess.run([CMD, *arguments], cwd=self.directory, capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, check=False,
                              timeout=100)

    def report(self, trace, *options):
        """Imports the file and returns the JSON report; what import said is in self.said."""
        profile = self.path(os.path.basename(trace) + ".out.bp")
        done = self.battprof("import", "-o", profile, trace)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("battprof report", done.stdout.partition("next: ")[2])
        self.said = done.stderr
        text = self.battprof("report", "--by", "transfer", profile)
        self.assertEqual(text.returncode, 0, text)
        for line in text.stdout.splitlines():
            self.assertLessEqual(len(line), 80 if not line.startswith("next") else 500, line)
            self.assertFalse(line.lstrip().startswith(";"), line)
        done = self.battprof("report", "--json", *options, profile)
        self.assertEqual(done.returncode, 0, done)
        report = json.loads(done.stdout)
        self.check_sums(report)
        return report

    def check_sums(self, report):
        """Every import: parts sum to the whole."""
        for row in report["thread_list"]:
            self.assertAlmostEqual(row["sum_s"], row["lifetime_s"],
                                   delta=0.001 * row["lifetime_s"] + 1e-9)
        framework = sum(report["framework"][part + "_s"] for part in PARTS)
        self.assertAlmostEqual(framework, report["categories"]["framework"]["thread_s"],
                               delta=1e-6 + 1e-6 * framework)
        parts = sum(report["categories"][name]["s"] for name in ("dsl", "framework", "transfer"))
        self.assertAlmostEqual(parts, report["wall_s"], delta=0.005 * report["wall_s"] + 1e-9)
        exposed = sum(row["exposed_s"] for row in report["transfers"].values())
        self.assertAlmostEqual(exposed, report["categories"]["transfer"]["thread_s"],
                               delta=1e-7 + 1e-6 * exposed)

    def fails(self, trace, *words):
        """One sentence, status 1, no profile left behind."""
        profile = self.path("none.bp")
        done = self.battprof("import", "-o", profile, trace)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("battprof: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(profile))


def cuda_calls(report):
    return sum(f["calls"] for f in report["functions"] if f["library"] in ("libcudart", "libcuda"))


def function(report, name):
    return next(f for f in report["functions"] if f["name"] == name)
