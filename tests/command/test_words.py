# SPDX-License-Identifier: MIT
"""What a newcomer reads: notes and next steps for runs that did not go as meant."""
import json
import sys
import unittest

from harness import CommandTest

BUSY = "import time\ndef busy(s):\n    end = time.process_time() + s\n    while time.process_time() < end: pass\n"


class Words(CommandTest):
    def notes(self, *options):
        result = self.battprof("report", "--json", *options)
        self.assertEqual(result.status, 0, result)
        return json.loads(result.out)["notes"]

    def test_python_without_a_dsl(self):
        """What was looked for, and the option that measures what took the time; and that works."""
        self.write("solvers.py", BUSY)
        self.write("prog.py", "import solvers\nsolvers.busy(0.3)\n")
        for options, name in ((), "dsl"), (("--python", "nosuch"), "nosuch"):
            self.battprof("run", "-q", *options, "--rate", "1000", sys.executable, "prog.py")
            note = " ".join(self.notes())
            self.assertIn(f"no function of a Python module {name} was called", note)
            self.assertIn(" --python solvers ", note)
        self.battprof("run", "-q", "--python", "solvers", sys.executable, "prog.py")
        self.assertNotIn("nothing is DSL", " ".join(self.notes()))
        self.battprof("run", "-q", "--python", "none", sys.executable, "prog.py")
        self.assertNotIn("nothing is DSL", " ".join(self.notes()))


if __name__ == "__main__":
    unittest.main()
