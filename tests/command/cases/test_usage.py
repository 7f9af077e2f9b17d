# SPDX-License-Identifier: MIT
"""Command lines, good and bad."""
import os
import re
import subprocess
import unittest

from harness.command import CMD, CommandTest


class Usage(CommandTest):
    def assert_fails(self, status, arguments, *words):
        result = self.battprof(*arguments)
        self.assertEqual(result.status, status, result)
        self.assertEqual(result.out, "")
        self.assert_one_sentence(result, *words)

    def test_bad_command_lines(self):
        for status, arguments, words in (
                (2, ["rnu"], ["no command 'rnu'", "'run'"]),
                (2, ["reprot"], ["'report'"]),
                (2, ["zzzzzz"], ["battprof help"]),
                (2, ["--nonsense"], ["no option '--nonsense'"]),
                (2, ["help", "docter"], ["'doctor'"]),
                (2, ["--completion", "tcsh"], ["bash", "fish"]),
                (2, ["--completion"], ["zsh"]),
                (2, ["doctor", "--task", "x"], ["'x'"]),
                (2, ["report", "--jsn"], ["--json"]),
                (2, ["report", "--by", "threads"], ["'thread'"]),
                (2, ["report", "--top", "0"], ["--top"]),
                (2, ["report", "--top"], ["needs an argument"]),
                (2, ["report", "--json=1"], ["takes no argument"]),
                (2, ["report", "-x"], ["-x"]),
                (2, ["report", "--csv", "--json"], ["--csv", "--json"]),
                (2, ["report", "--tree", "--json"], ["--tree", "--json"]),
                (2, ["report", "--folded", "--csv"], ["--folded", "--csv"]),
                (2, ["report", "--folded", "--top", "3"], ["all sampled stacks"]),
                (2, ["report", "--folded", "--sort", "calls"], ["--sort", "--folded"]),
                (2, ["report", "--folded", "--levels", "9,8,7"], ["--levels", "--folded"]),
                (2, ["report", "--folded", "--outliers", "3"], ["--outliers", "--folded"]),
                (2, ["report", "--folded", "--scale", "9"], ["--scale", "--folded"]),
                (2, ["report", "--folded", "--drop-outliers"], ["--drop-outliers", "--folded"]),
                (2, ["report", "--tree", "--top", "3"], ["--top", "--tree"]),
                (2, ["report", "--tree", "--by", "task"], ["--by", "--tree"]),
                (2, ["report", "--tree", "--sort", "calls"], ["--sort", "--tree"]),
                (2, ["report", "--tree", "--search", "x"], ["--search", "--tree"]),
                (2, ["report", "--tree", "--budget", "8h"], ["--budget", "--tree"]),
                (2, ["report", "--tree", "--save"], ["--save", "--tree"]),
                (2, ["report", "--save", "--by", "task"], ["--by", "--save"]),
                (2, ["report", "--save", "--search", "x"], ["--search", "--save"]),
                (2, ["report", "--by", "thread", "--sort", "calls"], ["--sort", "--by thread"]),
                (2, ["report", "--by", "task", "--sort", "self"], ["--sort", "--by task"]),
                (2, ["report", "--by", "phase", "--search", "x"], ["--search", "--by phase"]),
                (2, ["report", "--by", "group", "--levels", "3,2,1"], ["--levels", "--by group"]),
                (2, ["report", "--by", "phase", "--outliers", "3"], ["--outliers", "--by phase"]),
                (2, ["report", "--csv", "--levels", "3,2,1"], ["--levels", "--csv"]),
                (2, ["report", "--csv", "--scale", "9", "--sort", "name"], ["--sort", "--scale"]),
                (2, ["report", "--search", "x", "--levels", "3,2,1"], ["--levels", "--search"]),
                (2, ["report", "--grows", "loading"], ["--scale"]),
                (2, ["report", "--csv", "--by", "task", "--scale", "9"], ["--by task", "--scale"]),
                (2, ["diff", "--csv", "--json"], ["--csv", "--json"]),
                (2, ["diff", "--json", "--by", "task"], ["--by task", "--csv"]),
                (125, ["run", "--rate", "9", "--no-sampling", "true"], ["--rate", "--no-sampling"]),
                (125, ["run", "--python", "none", "--python-all", "true"], ["--python-all"]),
                (125, ["run", "--python", "none", "--python", "a", "true"], ["--python none"]),
                (125, ["run", "--task", "batt", "--task", "none", "true"], ["--task none"]),
                (125, ["run", "--progress", "--task", "none", "true"], ["--progress", "none"]),
                (125, ["run", "--cuda", "off", "--check-transfers", "true"], ["--cuda off"]),
                (125, ["run"], ["no command"]),
                (125, ["run", "--outptu", "x", "true"], ["--output"]),
                (125, ["run", "--no-sample", "true"], ["--no-sampling"]),
                (125, ["run", "--output"], ["needs an argument"]),
                (125, ["run", "--output=", "true"], ["empty"]),
                (125, ["run", "--hook", ":x", "true"], ["lib*.so*"]),
                (125, ["run", "--hook", "lib:", "true"], ["lib.so:sym*"]),
                (125, ["run", "--hook", "lib" + 600 * "x", "true"], ["too long together"]),
                (125, ["run", "--count", "json:", "true"], ["module:function*"]),
                (125, ["run", "--count", "a:b,c", "true"], ["module:function*"])):
            with self.subTest(arguments):
                self.assert_fails(status, arguments, *words)

    def test_a_variable_is_checked_as_its_option_is(self):
        self.environment["BATTPROF_CUDA"] = "bogus"
        self.assert_fails(125, ["run", "true"], "BATTPROF_CUDA 'bogus'", "wrappers")
        self.assertEqual(self.battprof("run", "-q", "--cuda", "off", "true").status, 0)

    def test_options_that_belong_together(self):
        self.battprof("run", "-q", "true")
        for arguments in (["--by", "task", "--outliers", "3"], ["--by", "candidate", "--top", "3"],
                          ["--by", "thread", "--budget", "8h", "--levels", "3,2,1"],
                          ["--by", "thread", "--drop-outliers", "--outliers", "3"],
                          ["--by", "group", "--csv", "--search", "x"], ["--csv", "--sort", "calls"],
                          ["--search", "x", "--sort", "calls"], ["--json", "--sort", "calls"],
                          ["--json", "--search", "x"],
                          ["--tree", "--drop-outliers", "--outliers", "3"]):
            with self.subTest(arguments):
                result = self.battprof("report", *arguments)
                self.assertEqual(result.status, 0, result)
                self.assertNotIn("changes nothing", result.err)

    def test_json_has_all_tables(self):
        """What chooses among them is said to change nothing, and the JSON is the same."""
        self.battprof("run", "-q", "true")
        whole = self.battprof("report", "--json").out
        result = self.battprof("report", "--json", "--by", "task", "--top", "3")
        self.assertEqual((result.status, result.out), (0, whole))
        self.assertEqual(result.err, "battprof: --by changes nothing in --json, which has all of it\n"
                         "battprof: --top changes nothing in --json, which has all of it\n")

    def test_a_series_is_shown_as_asked_or_not_at_all(self):
        self.battprof("run", "-q", "--repeat", "2", "true")
        for arguments in (["--sort", "calls"], ["--levels", "3,2,1"], ["--outliers", "3"]):
            with self.subTest(arguments):
                self.assert_fails(2, ["report", *arguments], "a series of 2 runs", "/1")

    def test_rows_of_a_comparison(self):
        self.battprof("run", "-q", "sh", "-c", "cat /dev/null; true")
        self.battprof("run", "-q", "sh", "-c", "cat /dev/null; true")
        rows = self.battprof("diff", "--csv", "--by", "function").out.splitlines()
        result = self.battprof("diff", "--csv", "--by", "function", "--top", "1")
        self.assertGreater(len(rows), 2)
        self.assertEqual(result.out.splitlines(), rows[:2])
        result = self.battprof("diff", "--json", "--top", "1")
        self.assert_one_sentence(result, "--top changes nothing")

    def test_no_arguments_print_help_on_stderr(self):
        result = self.battprof()
        self.assertEqual((result.status, result.out), (2, ""))
        self.assertIn("Commands:", result.err)

    def test_help(self):
        for arguments in (["--help"], ["-h"], ["help"], ["help", "run"], ["run", "--help"],
                          ["run", "-h"], ["report", "--help"], ["doctor", "--help"]):
            with self.subTest(arguments):
                result = self.battprof(*arguments)
                self.assertEqual((result.status, result.err), (0, ""))
                self.assertTrue(result.out.startswith("Usage: battprof"))

    def test_concepts_are_in_the_glossary(self):
        result = self.battprof("help", "concepts")
        words = re.findall(r"^  (\S+(?: \S+)?)  ", result.out, re.M)
        self.assertEqual((result.status, result.err, words[0]), (0, "", "wall"))
        glossary = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "glossary.md")
        with open(glossary) as f:
            known = re.findall(r"^\| ([^|]+) \|", f.read(), re.M)
        self.assertEqual([word for word in words if word not in known], [])

    def test_help_of_help(self):
        self.assertEqual(self.battprof("help", "help").out, self.battprof("help").out)

    def test_messages_fit_a_terminal(self):
        """They are wrapped for eyes and one line for everything else."""
        try:
            master, slave = os.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminals here: {error}")
        done = subprocess.run([CMD, "report", "nofile"], cwd=self.directory, env=self.environment,
                              stdout=subprocess.DEVNULL, stderr=slave, check=False)
        shown = os.read(master, 4096).decode()
        os.close(master)
        os.close(slave)
        self.assertEqual(done.returncode, 1)
        self.assertGreater(len(shown.splitlines()), 1)
        for line in shown.splitlines():
            self.assertLessEqual(len(line), 80, shown)
        line = self.battprof("report", "nofile").err
        self.assertEqual(" ".join(shown.split()), line.rstrip("\n"))

    def test_an_empty_table(self):
        self.battprof("run", "-q", "true")
        result = self.battprof("report", "--by", "phase", "--csv")
        self.assertEqual((result.status, result.out), (0, ""), result)
        self.assertEqual(result.err, "battprof: the table is empty: no phase in this profile\n")
        result = self.battprof("report", "--csv", "--search", "nosuch")
        self.assertEqual(result.err, "battprof: the table is empty: no function of that name in "
                                     "this profile\n")

    def test_rows_are_found_by_what_names_them(self):
        """Processes by their commands: they have no name."""
        self.battprof("run", "-q", "true")
        for pattern, rows in (("tru", 2), ("nosuch", 0)):
            result = self.battprof("report", "--csv", "--by", "process", "--search", pattern)
            self.assertEqual(len(result.out.splitlines()), rows, result)

    def test_version(self):
        result = self.battprof("--version")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.out, r"^battprof \d+\.\d+\.\d+ \(build [0-9a-f]{16}\)\n$")

    def test_full_stdout_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            process = subprocess.run([CMD, "--help"], stdout=full, stderr=subprocess.PIPE,
                                     text=True, check=False)
        self.assertEqual(process.returncode, 1)
        self.assertIn("cannot write to stdout", process.stderr)

    def test_the_targets_options_are_its_own(self):
        for arguments in (["run", "-q", "--", "echo", "--help", "-o"],
                          ["run", "-q", "echo", "--help", "-o"]):
            result = self.battprof(*arguments)
            self.assertEqual((result.status, result.out), (0, "--help -o\n"), result)


if __name__ == "__main__":
    unittest.main()
