# SPDX-License-Identifier: MIT
"""Command lines that are nearly right: the message has the one to type, and it works as it is."""
import os
import shutil
import subprocess
import unittest

from harness.command import CMD, CommandTest

PRINTS = "import sys; print(*sys.argv)\n"


class Suggest(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("plain.py", PRINTS)
        self.write("first", "#!/usr/bin/env -S python3 -u\n" + PRINTS)
        self.write("here.py", "#!/usr/bin/env python3\n" + PRINTS, 0o755)
        self.write("pack/__main__.py", PRINTS)
        self.write("with blank.py", PRINTS)
        self.write("steps.sh", "echo steps.sh $1\n")
        self.write("text", "no program\n")
        os.mkdir(self.path("empty"))
        shutil.copy("/bin/echo", self.path("repeat"))
        os.chmod(self.path("repeat"), 0o644)

    def suggestion(self, status, arguments, **options):
        result = self.battprof(*arguments, **options)
        self.assertEqual((result.status, result.out), (status, ""), result)
        self.assert_one_sentence(result)
        return result.err.partition(" Type: ")[2].rstrip("\n")

    def assert_works(self, status, arguments, says):
        """What the message says to type is typed."""
        command = self.suggestion(status, arguments)
        self.assertTrue(command, arguments)
        done = subprocess.run(["sh", "-c", command], cwd=self.directory, env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, says), (command, done))
        self.assertIn("wall ", done.stderr)

    def test_no_subcommand(self):
        for arguments, says in ((["python3", "plain.py", "a b"], "plain.py a b\n"),
                                (["echo", "x"], "x\n"),
                                (["plain.py", "x"], "plain.py x\n"),
                                (["here.py"], "./here.py\n"),
                                (["python3 plain.py 'a b'"], "plain.py a b\n")):
            with self.subTest(arguments):
                self.assert_works(2, arguments, says)

    def test_no_program(self):
        for status, words, says in ((127, ["plain.py", "x"], "plain.py x\n"),
                                    (126, ["./plain.py"], "./plain.py\n"),
                                    (127, ["with blank.py", "x y"], "with blank.py x y\n"),
                                    (127, ["first"], "first\n"),
                                    (127, ["here.py"], "./here.py\n"),
                                    (127, ["steps.sh", "2"], "steps.sh 2\n"),
                                    (127, ["repeat", "x"], "x\n"),
                                    (127, ["pack"], "pack\n"),
                                    (127, ["python3 plain.py a  'b c'"], "plain.py a b c\n"),
                                    (127, ["plain.py a", "b"], "plain.py a b\n")):
            with self.subTest(words):
                self.assert_works(status, ["run", *words], says)
                os.chmod(self.path("repeat"), 0o644)

    def test_options_stay(self):
        command = self.suggestion(127, ["run", "-o", "my dir", "--hook", "lib*", "--", "plain.py"])
        self.assertTrue(command.endswith(" run -o 'my dir' --hook 'lib*' -- python3 plain.py"),
                        command)

    def test_profiles_are_shown(self):
        self.battprof("run", "-q", "true")
        for status, arguments in ((2, ["battprof.out"]), (127, ["run", "battprof.out"])):
            command = self.suggestion(status, arguments)
            self.assertTrue(command.endswith(" report battprof.out"), command)
            done = subprocess.run(["sh", "-c", command], cwd=self.directory, env=self.environment,
                                  capture_output=True, text=True, check=False)
            self.assertIn("wall ", done.stdout)

    def test_nothing_to_suggest(self):
        for status, words in ((127, ["empty"]), (127, ["text"]), (127, ["no such thing"])):
            result = self.battprof("run", *words)
            self.assertEqual(result.status, status, result)
            self.assert_one_sentence(result, words[0], "nothing was run")
            self.assertNotIn("Type:", result.err)

    def test_the_command_is_called_as_it_was(self):
        """By its name where PATH leads to it, else by its path as typed; never by a name that is
        another program or none."""
        folder, name = os.path.split(CMD)
        path = self.environment["PATH"]
        links = self.path("links")
        os.mkdir(links)
        os.symlink(CMD, links + "/" + name)
        for argv0, search, want in (("battprof", folder + ":" + path, "battprof"),
                                    ("battprof", path, CMD),
                                    ("links/battprof", path, "links/battprof"),
                                    ("nonsense", path, CMD)):
            with self.subTest(argv0=argv0, search=search):
                self.environment["PATH"] = search
                done = subprocess.run([argv0, "plain.py"], executable=CMD, cwd=self.directory,
                                      env=self.environment, capture_output=True, text=True,
                                      check=False)
                self.assertIn(f"Type: {want} run -- python3 plain.py\n", done.stderr)

    def test_a_terminal_does_not_break_it(self):
        try:
            master, slave = os.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminals here: {error}")
        words = ["plain.py"] + 40 * ["argument"]
        subprocess.run([CMD, "run", *words], cwd=self.directory, env=self.environment,
                       stdout=subprocess.DEVNULL, stderr=slave, check=False)
        shown = os.read(master, 4096).decode().splitlines()
        os.close(master)
        os.close(slave)
        self.assertEqual(shown[-1], f"  {CMD} run -- python3 " + " ".join(words))


if __name__ == "__main__":
    unittest.main()
