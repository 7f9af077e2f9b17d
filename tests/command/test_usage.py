# SPDX-License-Identifier: MIT
"""Command lines, good and bad."""
import os
import subprocess
import unittest

from harness import CMD, CommandTest


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
                (2, ["--completion", "fish"], ["bash"]),
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
                (2, ["report", "--grows", "loading"], ["--scale"]),
                (2, ["report", "--csv", "--by", "task", "--scale", "9"], ["--by task", "--scale"]),
                (2, ["diff", "--csv", "--json"], ["--csv", "--json"]),
                (125, ["run"], ["no command"]),
                (125, ["run", "--outptu", "x", "true"], ["--output"]),
                (125, ["run", "--no-sample", "true"], ["--no-sampling"]),
                (125, ["run", "--output"], ["needs an argument"]),
                (125, ["run", "--output=", "true"], ["empty"]),
                (125, ["run", "--hook", ":x", "true"], ["lib*.so*"]),
                (125, ["run", "--hook", "lib:", "true"], ["lib.so:sym*"]),
                (125, ["run", "--count", "json:", "true"], ["module:function*"]),
                (125, ["run", "--count", "a:b,c", "true"], ["module:function*"])):
            with self.subTest(arguments):
                self.assert_fails(status, arguments, *words)

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
        self.assertIn("the table is empty", result.err)

    def test_version(self):
        result = self.battprof("--version")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.out, r"^battprof \d+\.\d+\.\d+\n$")

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
