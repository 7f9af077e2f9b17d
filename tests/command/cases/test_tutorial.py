# SPDX-License-Identifier: MIT
"""The commands of docs/tutorial.md, and what it claims of their output."""
import json
import os
import re
import subprocess

from harness.command import CommandTest, main, timed

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TWIN = os.path.join(ROOT, "dsl", "python", "run_batt.py")
PYTHON = "/usr/bin/python3"
RUN_BATT = os.environ["RUN_BATT"]


class Tutorial(CommandTest):
    def report(self, *options):
        return json.loads(self.battprof("report", "--json", *options).out)

    def first_advice(self, report):
        return next(row for row in report["advice"] if row["level"] != "warning")

    @timed
    def test_old_formula(self):
        done = subprocess.run([PYTHON, os.path.join(ROOT, "docs", "old_formula.py"), TWIN, "-c",
                               "20"], capture_output=True, text=True, check=True)
        wall, total, framework = map(float, re.search(
            r'wall (\S+) s, "total" (\S+) s: DSL \S+ %, framework (\S+) %', done.stderr).groups())
        self.assert_time(total > 4 * wall and framework > 80, done.stderr)
        self.battprof("run", "-q", PYTHON, TWIN, "-c", "20")
        parts = self.report()["categories"]
        self.assert_time(parts["dsl"]["pct"] > 40, parts)

    @timed
    def test_outliers(self):
        """Other work on the machine can make any task long."""
        self.battprof("run", "-q", RUN_BATT, "-c", "100")
        report = self.report()
        slowest = sorted(report["tasks"]["list"], key=lambda row: -row["duration_s"])[:4]
        self.assert_time({row["id"] for row in slowest} ==
                         {"ee06b26d", "2fbf1a44", "6092e51c", "feca6e6a"}, slowest)
        self.assert_time(all(row["outlier"] for row in slowest), slowest)
        self.assert_time(self.report("--drop-outliers")["wall_s"] < 0.7 * report["wall_s"],
                         "what is left without outliers of %r s" % report["wall_s"])

    @timed
    def test_log_and_fix(self):
        logged = self.battprof("run", "-q", PYTHON, TWIN, "-c", "10", "--log=x.log")
        first = self.first_advice(self.report())
        self.assert_time(first["what"].startswith("logging: "), first)
        fixed = self.battprof("run", "-q", PYTHON, TWIN, "-c", "10")
        self.assertEqual(logged.out, fixed.out)
        rows = json.loads(self.battprof("diff", "--json").out)["differences"]
        self.assert_time(rows[0]["name"] == "logging.Logger.info", rows)
        self.assertEqual(rows[0]["new_calls"], 0)


if __name__ == "__main__":
    main()
