# SPDX-License-Identifier: MIT
"""Every allocation of the command fails in turn: it ends with one sentence and the status that its
page has for it, never by a signal, and `run` ends as its target did if there was one.

Two allocations with the same six callers count as one: a report has ten thousand, on some hundred
call paths. Each path's first one fails, of every other path with all after it. test_memory.py
COMMAND"""
import os
import re
import shutil
import sqlite3
import sys
import unittest

import harness.command
from harness.command import LIB, CommandTest

COMMAND = os.path.abspath(sys.argv.pop(1))
RUN_BATT = os.environ["RUN_BATT"]
TARGET = ["sh", "-c", "echo done; exit 7"]
NSYS = """
CREATE TABLE StringIds (id INTEGER, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaMemcpy_v3020');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME
    (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 9000, 71169999, 1, 1);
"""
TRACE = '{"traceEvents": [{"ph": "X", "name": "aten::add", "ts": 1, "dur": 5, "pid": 1, "tid": 2}]}'


class Memory(CommandTest):
    @classmethod
    def setUpClass(cls):
        harness.command.CMD = COMMAND

    def profile(self, name, *arguments):
        self.environment["BATTPROF_LIB"] = LIB
        made = self.battprof("run", "-q", "-o", name, "--", RUN_BATT, *arguments)
        self.assertEqual(made.status, 0, made)

    def attempt(self, arguments, **fail):
        """What `arguments` write is made anew each time."""
        for made in ("out", "out.old"):
            shutil.rmtree(self.path(made), ignore_errors=True)
        if os.path.exists(self.path("did")):
            os.unlink(self.path("did"))
        before = dict(self.environment)
        self.environment.update(fail, BATTPROF_LIB=LIB)
        try:
            return self.battprof(*arguments)
        finally:
            self.environment = before

    def call_paths(self, arguments):
        self.attempt(arguments, FAIL_LIST=self.path("list"))
        with open(self.path("list"), encoding="utf-8") as file:
            return [line.strip() for line in file]

    def fail_each(self, *arguments, right=lambda result, whole: result.status == 1):
        whole, paths = self.attempt(arguments), self.call_paths(arguments)
        self.assertGreater(len(paths), 10)
        missing = 0
        for number, path in enumerate(paths):
            fail = {"FAIL_AT": path, "FAIL_ON": str(number % 2), "FAIL_DID": self.path("did")}
            result = self.attempt(arguments, **fail)
            sentences = re.findall("battprof: .*emory", result.err)  # perhaps amid a report
            if not os.path.exists(self.path("did")):  # a report of other times has fewer rows
                missing += 1
                self.assertEqual((sentences, result.status), ([], whole.status), result)
            elif len(sentences) != 1 or not right(result, whole):
                shown = self.attempt(arguments, FAIL_SHOW="1", **fail)
                self.fail(f"{fail}: {result}\ncall path: {shown.err}")
        self.assertLess(missing, len(paths) / 4)
        print(f"{' '.join(arguments)}: {len(paths)} call paths, {missing} not come by", flush=True)

    def test_report(self):
        self.profile("one", "-c", "5")
        self.fail_each("report", "one")
        self.profile("small", "-c", "1")
        self.fail_each("report", "--json", "small")

    def test_diff(self):
        self.profile("one", "-c", "2")
        self.profile("two", "-c", "3")
        self.fail_each("diff", "one", "two")

    def test_merge(self):
        self.profile("one", "-c", "2")
        self.fail_each("merge", "out", "one")

    def test_import(self):
        self.write("trace.json", TRACE)
        self.fail_each("import", "-o", "trace.bp", "trace.json")
        database = sqlite3.connect(self.path("trace.sqlite"))
        database.executescript(NSYS)
        database.close()
        self.fail_each("import", "-o", "trace.bp", "trace.sqlite")

    def run_is_right(self, result, whole):
        """Its target ran to its end, or not at all."""
        if result.out == whole.out:
            return result.status == whole.status
        return result.out == "" and result.status in (125, 126)

    def test_run(self):
        for options in (["-q"], [], ["--progress"]):
            self.fail_each("run", "-o", "out", *options, "--", *TARGET, right=self.run_is_right)


if __name__ == "__main__":
    unittest.main()
