#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types every command and option that the golden reports print: hints.py BATTPROF CASE...

The programs of the cases are not there; one that does nothing has their names, so that a command
line is run to its end as it was printed."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import json

import make_bp
import run as golden

from harness import hints

NO_TEXT = ("json", "csv", "folded")  # forms without hints


class Case:
    def __init__(self, battprof, path):
        with open(os.path.join(path, "input.json")) as source:
            self.case = json.load(source)
        self.battprof = battprof
        self.name = os.path.basename(path)
        self.kinds = [name[9:] for name in sorted(os.listdir(path)) if name.startswith("expected.")
                      and not name.endswith(NO_TEXT)]
        self.problems, self.typed = [], 0

    def fill(self, directory):
        make_bp.write_all(self.case, directory)
        os.mkdir(os.path.join(directory, "bin"))

    def stand_in(self, directory, command):
        """A program with the name of the target, in PATH or where the command says."""
        words = shlex.split(command)
        target = words[words.index("--") + 1]
        place = target if "/" in target else os.path.join("bin", target)
        place = os.path.join(directory, place)
        if os.path.isabs(target) or os.path.exists(place):
            return
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy("/bin/true", place)

    def type(self, directory, command):
        path = ":".join([os.path.join(directory, "bin"), os.path.dirname(self.battprof),
                         os.environ["PATH"]])
        self.typed += 1
        return subprocess.run(["sh", "-c", command], cwd=directory, capture_output=True, text=True,
                              check=False, env=dict(os.environ, PATH=path, LANG="C.UTF-8"))

    def expect(self, good, what, done):
        if not good:
            self.problems.append("%s: %s: status %d: %s" % (self.name, what, done.returncode,
                                                            (done.stdout + done.stderr)[-300:]))

    def check_command(self, directory, command):
        with tempfile.TemporaryDirectory() as fresh:
            self.fill(fresh)
            if re.match(r"\S*battprof run\b", command):
                self.stand_in(fresh, command)
            done = self.type(fresh, command)
        self.expect(done.returncode == 0, command, done)
        self.expect("COMMAND" not in command and "FUNCTION" not in command, command, done)

    def check_option(self, directory, kind, option):
        """The table that it promises is there, and does not promise itself again."""
        shown = golden.OPTIONS.get(kind, []) + self.case.get("options", [])
        if not option.startswith(("--top", "--min")):
            shown = [word for word in self.case.get("options", []) if word != "--tree"]
        line = " ".join([self.quote(w) for w in ["battprof", "report"] + shown] + [option] +
                        [self.quote(w) for w in [self.case.get("path", "")] if w])
        done = self.type(directory, line)
        self.expect(done.returncode == 0 and done.stdout, line, done)
        self.expect(": " + option + "\n" not in done.stdout, line + " says itself again", done)

    @staticmethod
    def quote(word):
        return shlex.quote(word)

    def check(self):
        for kind in self.kinds:
            with tempfile.TemporaryDirectory() as directory:
                self.fill(directory)
                text = golden.show(self.battprof, self.case, kind, directory)
                for command in hints.commands(text):
                    self.check_command(directory, command)
                if not kind.startswith("diff") and "exit status" not in text[-20:]:
                    for option in hints.options(text):
                        self.check_option(directory, kind, option)


def main():
    battprof = os.path.abspath(sys.argv[1])
    cases = [Case(battprof, path) for path in sys.argv[2:]]
    for case in cases:
        case.check()
    problems = [text for case in cases for text in case.problems]
    print("\n".join(problems))
    print("%d hints typed, %d wrong" % (sum(case.typed for case in cases), len(problems)))
    raise SystemExit(1 if problems or not any(case.typed for case in cases) else 0)


if __name__ == "__main__":
    main()
