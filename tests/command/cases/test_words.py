# SPDX-License-Identifier: MIT
"""What a newcomer reads: notes and next steps for runs that did not go as meant."""
import glob
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys

from harness.command import CMD, LIB, CommandTest, main, timed

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
        self.battprof("run", "-q", "--python", "nosuch", "--rate", "1000", sys.executable, "prog.py")
        note = " ".join(self.notes())
        self.assertIn("no function of a Python module nosuch was called", note)
        self.assertIn(" --python solvers ", note)
        self.battprof("run", "-q", "--python", "solvers", sys.executable, "prog.py")
        self.assertNotIn("nothing is DSL", " ".join(self.notes()))
        self.battprof("run", "-q", "--python", "none", sys.executable, "prog.py")
        self.assertNotIn("nothing is DSL", " ".join(self.notes()))

    def test_patterns_that_match_nothing(self):
        """Each is told of; those that match are not."""
        self.write("mine.py", "import json\ndef load(): json.loads('[1]')\n")
        self.write("prog.py", "import mine\ndef once(): mine.load()\nonce()\n")
        wrong = (("--hook", "libnothere.so*"), ("--count", "nothere:*"), ("--count", "json:nosuch"),
                 ("--count", "libc.so*:nosuch"), ("--phase", "p=nophase"), ("--sample", "nosample"),
                 ("--generator", "nogenerator"))
        right = (("--hook", "libc.so*:getpid"), ("--count", "json:loads"), ("--count", "prog:once"),
                 ("--phase", "loading=load"), ("--sample", "once"))
        options = [word for pair in wrong + right for word in pair]
        self.battprof("run", "-q", *options, sys.executable, "prog.py")
        notes = [note for note in self.notes() if note.startswith("--")]
        self.assertEqual(sorted(note.split(": ")[0] for note in notes),
                         sorted("%s '%s'" % pair for pair in wrong))

    def test_commands_can_be_pasted(self):
        words = ["sh", "-c", "echo 'a b'; echo $HOME"]
        self.battprof("run", "-q", *words)
        command = json.loads(self.battprof("report", "--json").out)["command"]
        self.assertEqual(shlex.split(command), words)

    def test_a_device_that_is_not_used(self):
        self.battprof("run", "-q", "--device", "sim:t4", "true")
        self.assertIn("--device sim:t4 was not used: no process loaded libcudart.so", self.notes())

    @timed
    def test_the_library_alone_says_what_the_report_says(self):
        """Logging inside the DSL is framework in both. The lines have the own cost in them."""
        done = subprocess.run([os.environ["RUN_BATT"], "-c", "5", "--log"], cwd=self.directory,
                              env=dict(self.environment, LD_PRELOAD=LIB), text=True,
                              capture_output=True, check=True)
        said = float(re.search(r"DSL [0-9.]+ s ([0-9.]+) %", done.stderr).group(1))
        profile = re.search(r"battprof report (\S+)", done.stderr).group(1)
        parts = json.loads(self.battprof("report", "--json", profile).out)["categories"]
        share, own = parts["dsl"]["pct"], parts["profiler"]["pct"]
        self.assert_time(abs(said - share) < own + 2, (done.stderr, parts))

    def assert_fits(self, text):
        """80 columns, but for a path or a command to copy, and every line says whose it is."""
        for line in text.splitlines():
            self.assertTrue(line.startswith("battprof: "), text)
            if not line.startswith("battprof: next: battprof report "):
                self.assertTrue(len(line) <= 80 or len(line.split()) <= 2, text)

    def test_long_names_of_the_library_alone(self):
        """Sentences are broken at spaces and lose nothing; on a terminal failures are, too."""
        self.environment.update(LD_PRELOAD=LIB, BATTPROF_HOOK=",".join(
            "libnosuchlibrary%d.so*" % i for i in range(3)))
        done = subprocess.run(["true"], cwd=self.directory, env=self.environment, text=True,
                              capture_output=True, check=True)
        self.assert_fits(done.stderr)
        self.environment["BATTPROF_DIR"] = "/nosuch/directory"
        line = subprocess.run(["true"], cwd=self.directory, env=self.environment, text=True,
                              capture_output=True, check=True).stderr
        self.assertEqual(len(line.splitlines()), 1, line)
        try:
            master, slave = os.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminals here: {error}")
        subprocess.run(["true"], cwd=self.directory, env=self.environment, stderr=slave, check=True)
        shown = os.read(master, 4096).decode()
        os.close(master)
        os.close(slave)
        self.assertGreater(len(shown.splitlines()), 1)
        self.assert_fits(shown)
        self.assertEqual(" ".join(shown.replace("battprof: ", "").split()),
                         line.replace("battprof: ", "").rstrip("\n"))

    def test_the_library_alone(self):
        """The first process speaks for the tree, also when a shell became it by exec."""
        self.environment["LD_PRELOAD"] = LIB
        self.write("go", "#!/bin/sh\nexec %s -c 'import os; os.fork() and os.wait()'\n"
                   % sys.executable, 0o755)
        done = subprocess.run(["./go"], cwd=self.directory, env=self.environment, text=True,
                              capture_output=True, check=True)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 5, lines)
        self.assert_fits(done.stderr)
        self.assertRegex(lines[0], r"python.* and 1 other process$")
        root = re.search(r"next: battprof report (\S+)", lines[4])[1]
        del self.environment["LD_PRELOAD"]
        shown = json.loads(self.battprof("report", "--json", root).out)
        self.assertEqual(shown["processes"], 2)
        self.environment.update(LD_PRELOAD=LIB, BATTPROF_QUIET="1")
        done = subprocess.run(["./go"], cwd=self.directory, env=self.environment, text=True,
                              capture_output=True, check=True)
        self.assertEqual(done.stderr, "")

    def test_the_library_alone_without_room(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        self.environment["LD_PRELOAD"] = LIB
        done = subprocess.run(["sh", "-c", ":"], cwd=self.directory, env=self.environment, text=True,
                              capture_output=True, check=True, preexec_fn=limit)
        self.assertIn("is incomplete", done.stderr)
        self.assert_fits(done.stderr)
        self.assertNotIn("battprof report", done.stderr)

    def test_the_newest_run_is_shown(self):
        self.battprof("run", "-q", "sh", "-c", ": first")
        subprocess.run(["sh", "-c", ": second"], cwd=self.directory, check=True,
                       env=dict(self.environment, LD_PRELOAD=LIB, BATTPROF_QUIET="1"))
        result = self.battprof("report")
        self.assertIn(": second", result.out)
        self.assertIn("is newer than battprof.out", result.err)
        self.battprof("run", "-q", "sh", "-c", ": third")
        result = self.battprof("report")
        self.assertIn(": third", result.out)
        self.assertEqual(result.err, "")

    def test_nothing_to_compare_or_show(self):
        self.assertIn("run the program twice", self.battprof("diff").err)
        self.battprof("run", "-q", "true")
        result = self.battprof("diff")
        self.assertEqual(result.status, 1)
        self.assert_one_sentence(result, "only one run", "battprof run -- true")
        result = self.battprof("report", "nope")
        self.assert_one_sentence(result, "nope: No such file", "battprof help run")

    def test_no_stand_in_device(self):
        """The command without its libraries: another status than any that the target could have."""
        installed = glob.glob("/usr/local/lib*/**/battprof/sim", recursive=True)
        if installed:
            self.skipTest("battprof is installed: " + installed[0])
        shutil.copy(CMD, self.path("battprof"))
        done = subprocess.run(["./battprof", "run", "--device", "sim:t4", "true"], text=True,
                              cwd=self.directory, env=self.environment, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 125, done)
        self.assertIn("ninja -C BUILD sim", done.stderr)

    def test_workers_that_the_parent_ends(self):
        """A pool that ends its workers is no news; a worker killed by others is, and once for all."""
        pool = ("import os, signal, sys, time\n"
                "ready, say = os.pipe()\n"
                "pids = [os.fork() or os.write(say, b'x') and time.sleep(60) for i in range(3)]\n"
                "for pid in pids: os.read(ready, 1)\n"
                "%s\n"
                "for pid in pids: os.waitpid(pid, 0)\n")
        kill = "for pid in pids: os.kill(pid, signal.SIG%s)"
        self.battprof("run", "-q", sys.executable, "-c", pool % kill % "TERM")
        self.assertNotIn("killed", " ".join(self.notes()))
        self.battprof("run", "-q", sys.executable, "-c", pool % kill % "KILL")
        self.assertRegex(" ".join(self.notes()),
                         r"3 processes \(.*\) were killed by signal 9 .*, which the parent sent")
        others = "os.spawnlp(os.P_WAIT, 'sh', 'sh', '-c', 'kill ' + ' '.join(map(str, pids)))"
        self.battprof("run", "-q", sys.executable, "-c", pool % others)
        self.assertRegex(" ".join(self.notes()), r"3 processes .* signal 15 \(Terminated\)( |$)")


if __name__ == "__main__":
    main()
