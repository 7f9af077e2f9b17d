# SPDX-License-Identifier: MIT
"""`battprof doctor` on this machine, and on one without the library."""
import os
import re
import unittest

from harness import CommandTest


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
