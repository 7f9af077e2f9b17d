# SPDX-License-Identifier: MIT
"""`battprof doctor` on this machine, and on one without the library."""
import os
import re
import sys
import unittest

from harness.command import CMD, CommandTest


class Doctor(CommandTest):
    def test_here(self):
        result = self.battprof("doctor")
        self.assertEqual((result.status, result.err), (0, ""), result)
        self.assertRegex(result.out, r"(?m)^ok  preloading")
        self.assertIn("Profiling works", result.out)
        # A path is never cut, so a line may be wider if it is one word.
        for line in result.out.splitlines():
            self.assertTrue(len(line) <= 80 or " " not in line[18:].strip(), line)
        self.assertEqual(os.listdir(self.directory), [])

    def test_samples(self):
        """Linux ticks 100 to 1000 times a second."""
        out = " ".join(self.battprof("doctor").out.split())
        rate = int(re.search(r"sampling (\d+) samples per second", out).group(1))
        self.assertTrue(50 <= rate <= 1100, rate)

    def test_variables(self):
        self.environment.update(BATTPROF_SAMPEL="0", BATTPROF_SAMPLE="50")
        out = " ".join(self.battprof("doctor").out.split())
        self.assertIn("ok BATTPROF_SAMPLE '50' (samples per second", out)
        self.assertIn("default 200)", out)
        self.assertIn("!! BATTPROF_SAMPEL is set, but battprof has no such variable -> did you mean "
                      "BATTPROF_SAMPLE?", out)
        self.assertIn("apart from what is marked !!", out)

    def examine(self, *arguments):
        result = self.battprof("doctor", *arguments)
        self.assertEqual((result.status, result.err), (0, ""), result)
        return " ".join(result.out.split("ptrace")[1].split())

    def test_tasks_of_a_program(self):
        """The loader's start-up code has a static function in every program."""
        run_batt = os.environ["RUN_BATT"]
        self.assertIn("ok task batt batt of libbatt.so is called by", self.examine("--", run_batt))
        out = self.examine("--task", "libbatt.so:run_sample(1)", "--task", "frame_dummy",
                           "--task", "nosuch", "--", run_batt, "-c", "1")
        self.assertIn("ok task libbatt.so:run_sample(1) run_sample of libbatt.so is called", out)
        self.assertIn("!! task frame_dummy frame_dummy of", out)
        self.assertIn("is not exported: its calls cannot be seen", out)
        self.assertIn("Next: %s run -- %s -c 1" % (CMD, run_batt), out)
        self.assertIn("main of battprof is not exported", self.examine("--task", "main", "--", CMD))
        self.assertIn("-- task nosuch no function nosuch in the program", out)

    def test_tasks_of_a_python_program(self):
        self.write("solvers.py", "raise SystemExit('nobody may run this')\n")
        script = self.write("main.py", "")
        out = self.examine("--task", "solvers:solve", "--task", "_json:scan*", "--task",
                           "absent:solve", "--", sys.executable, script)
        self.assertIn("ok task solvers:solve solvers is Python code: ", out)
        self.assertIn("!! task _json:scan* _json is no Python code, but", out)
        self.assertIn("!! task absent:solve Python finds no module absent here", out)

    def test_programs_that_cannot_be(self):
        out = self.examine("--", "nosuch")
        self.assertIn("!! program nosuch is not there", out)
        self.assertIn("Profiling works here, but not of this program", out)
        self.assertNotIn("battprof run", out)
        self.assertIn("battprof run -- sh -c 'echo '\\''a b'\\'';'",
                      self.examine("--", "sh", "-c", "echo 'a b';"))
        self.assertEqual(self.battprof("doctor", "--task", "batt").status, 2)

    def test_without_library(self):
        self.environment["BATTPROF_LIB"] = "/no/such/lib.so"
        result = self.battprof("doctor")
        self.assertEqual(result.status, 1)
        self.assertIn("!!  library", result.out)
        self.assertIn("cannot work", result.out)

    def test_library_that_does_nothing(self):
        self.environment["BATTPROF_LIB"] = "/lib/x86_64-linux-gnu/libm.so.6"
        result = self.battprof("doctor")
        self.assertEqual(result.status, 1)
        self.assertIn("left no profile", result.out)


if __name__ == "__main__":
    unittest.main()
