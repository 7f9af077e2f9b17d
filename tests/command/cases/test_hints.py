# SPDX-License-Identifier: MIT
"""Whatever a report or a message says to type is typed, literally, and does what it promised."""
import json
import os
import subprocess

from harness import hints
from harness.command import CMD, CommandTest, main

SCRIPT = """import json, sys
def parse(n):
    return [json.loads(json.dumps({"a": list(range(40)), "i": i})) for i in range(n)]
def score(rows):
    total = 0
    for row in rows:
        for x in row["a"]:
            total += x * x % 7
    return total
print(sum(score(parse(1200)) for _ in range(12)), *sys.argv[1:])
"""
KINDS = ([], ["--brief"], ["--tree"], ["--lines"], ["--by", "function"], ["--by", "task"], ["--by", "phase"],
         ["--by", "group"], ["--by", "thread"], ["--by", "process"], ["--by", "transfer"],
         ["--by", "kernel"], ["--by", "candidate"], ["--search", "o"])


class Hints(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("my script.py", SCRIPT)
        self.typed = 0

    def type(self, command):
        self.typed += 1
        done = subprocess.run(["sh", "-c", command], cwd=self.directory, env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, (command, done))
        return done

    def report(self, *options, path="battprof.out"):
        result = self.battprof("report", *options, path)
        self.assertEqual(result.status, 0, result)
        return result.out

    def run_it(self, *words, options=()):
        done = self.battprof("run", "-q", *options, "--", *words)
        self.assertEqual(done.status, 0, done)

    def data(self):
        return json.loads(self.report("--json"))

    def all_hints(self):
        """What the whole report says, table by table."""
        return {hint: kind for kind in KINDS for hint in hints.commands(self.report(*kind))}

    def check_all(self):
        """Each is run on the same first profile; what is only shown leaves it as it is."""
        os.rename(self.path("battprof.out"), self.path("kept"))
        found = {hint.replace("battprof.out", "kept"): kind for hint, kind in
                 {h: k for k in KINDS for h in hints.commands(self.report(*k, path="kept"))}.items()}
        self.assertTrue(found)
        for hint in found:
            self.assertTrue(hint.startswith(self.called()), hint)
            for word in ("COMMAND", "FUNCTION", "DIR", "GLOB"):
                self.assertNotIn(word, hint.split())
            self.type(hint)
        return found

    @staticmethod
    def called():
        return CMD

    def test_script(self):
        self.run_it("/usr/bin/python3", "my script.py", "a b")
        found = self.check_all()
        self.assertTrue(any("'my script.py' 'a b'" in hint for hint in found), found)

    def test_native(self):
        self.run_it(os.environ["RUN_BATT"], "-c", "6")
        self.check_all()

    def test_device(self):
        self.run_it(os.environ["RUN_BATT"], "-c", "2", "--gpu=naive", options=["--device", "sim:t4"])
        found = self.check_all()
        contents = [hint for hint in found if "--check-transfers" in hint]
        self.assertEqual(len(contents), 1, found)
        self.assertIn("--device sim:t4", contents[0])
        self.type(contents[0])
        self.assertNotIn("--check-transfers --", self.report("--by", "transfer"))

    def promised(self, option, *shown):
        hint = [h for h in hints.commands(self.report(*shown)) if option in h]
        self.assertEqual(len(hint), 1, self.report(*shown))
        self.type(hint[0])
        return hint[0]

    def test_tasks(self):
        self.run_it("/usr/bin/python3", "my script.py")
        self.promised("--task", "--by", "task")
        self.assertGreater(self.data()["tasks"]["count"], 0)
        self.assertNotIn("No tasks", self.report("--by", "task"))

    def test_phases(self):
        self.run_it("/usr/bin/python3", "my script.py")
        self.promised("--phase", "--by", "phase")
        self.assertTrue(self.data()["phases"])
        self.assertNotIn("No phases", self.report("--by", "phase"))

    def test_messages(self):
        """Of what went wrong, too."""
        self.write("page.html", "<!doctype html>")
        for arguments in (["report"], ["report", "nothing.bp"], ["report", "."], ["diff"], ["rum"],
                          ["report", "--nosuch"], ["import"], ["run"], ["-x"]):
            with self.subTest(arguments):
                result = self.battprof(*arguments)
                self.assertNotEqual(result.status, 0)
                self.assertNotIn("COMMAND", result.err)
                for hint in hints.commands(result.err):
                    if "run_batt" not in hint:
                        self.type(hint)
        self.assertGreater(self.typed, 4)

    def test_doctor(self):
        result = self.battprof("doctor", "--", "/bin/true")
        hint = hints.commands(result.out)
        self.assertEqual(hint, [CMD + " run -- /bin/true"], result)
        self.type(hint[0])

    def test_cell(self):
        """In a notebook a command is a cell, or a shell's line in one."""
        self.run_it("/usr/bin/python3", "my script.py", "a b")
        self.environment["BATTPROF_CELL"] = "1"
        found = self.all_hints()
        cells = [hint for hint in found if hint.startswith("%%battprof")]
        self.assertTrue(cells, found)
        self.assertTrue(all("python3" not in cell and cell.endswith("-- 'a b'") for cell in cells), cells)
        for hint in found:
            self.assertTrue(hint.startswith(("%%battprof", "!" + CMD)), hint)


if __name__ == "__main__":
    main()
