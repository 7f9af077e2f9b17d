# SPDX-License-Identifier: MIT
"""battprof top: a run while it goes on, as blocks and on a terminal; files that are cut, foreign or of
processes that were killed; the terminal is as it was, whatever ends the command."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time

from harness.command import CMD, LIB, CommandTest, main

RUN_BATT = os.environ["RUN_BATT"]
LEAVE = b"\033[?1049l"
ROW = re.compile(r"^ *\S+(?: \S*s)? +\S+ +\S+(?: \S*s)? +([\d,]+)  (\S+)  libdsl\.so$", re.M)


class Top(CommandTest):
    def record(self):
        """A run that goes on until it is killed, in the directory `live`."""
        words = [CMD, "run", "-q", "-o", self.path("live"), "--", RUN_BATT,
                 "--generate", "100000"]
        process = subprocess.Popen(words, cwd=self.directory, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=self.environment,
                                   start_new_session=True)
        self.addCleanup(self.end, process)
        self.wait_for(lambda: self.profiles())
        return process

    def end(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def profiles(self):
        where = self.path("live")
        names = os.listdir(where) if os.path.isdir(where) else []
        return [os.path.join(where, name) for name in names if name.startswith("battprof.")]

    def wait_for(self, condition):
        while not condition():
            time.sleep(0.05)

    def test_counts_are_the_reports(self):
        self.battprof("run", "-q", "-o", "done", "--", RUN_BATT, "--generate", "5")
        shown = self.battprof("top", "--every", "0.1s", "done")
        self.assertEqual(shown.status, 0, shown)
        self.assertRegex(shown.out, r"^done  .*  ended, ")
        calls = {name: int(count.replace(",", "")) for count, name in ROW.findall(shown.out)}
        report = json.loads(self.battprof("report", "--json", "done").out)
        truth = {row["name"]: row["calls"] for row in report["functions"]}
        self.assertGreater(len(calls), 5, shown.out)
        for name, count in calls.items():
            self.assertEqual(count, truth[name], name)

    def test_blocks_of_a_running_one(self):
        self.record()
        pid = re.search(r"battprof\.(\d+)\.", self.profiles()[0])[1]
        for target in ("live", pid, self.profiles()[0]):
            shown = self.battprof("top", "--every", "0.2s", "-n", "2", target)
            self.assertEqual(shown.status, 0, shown)
            self.assertEqual(shown.out.count("since start"), 2, shown.out)
            self.assertRegex(shown.out, r"\n1 process \(1 running\), 1 thread")
            self.assertRegex(shown.out, r"(?m)^ .* libdsl\.so$")
            self.assertNotIn("\033", shown.out)
            self.assertNotRegex(shown.out, r"(?m) $")
        shown = self.battprof("top", "--every", "0.2s", "-n", "1", "--by", "thread", "live")
        self.assertRegex(shown.out, r"\n +%s +%s  run_batt " % (pid, pid))
        shown = self.battprof("top", "--every", "0.2s", "-n", "1", "--by", "process", "live")
        self.assertRegex(shown.out, r"\n +%s  running +1 .*run_batt" % pid)

    def test_paused(self):
        """Time of a pause is nobody's; of a process that was killed unseen it is not known whose."""
        process = self.start("run", "-q", "--paused", "-o", "live", "--", RUN_BATT, "--generate",
                             "100000")
        self.addCleanup(self.end, process)
        self.wait_for(lambda: len(self.profiles()) > 0)
        time.sleep(0.5)
        shown = self.battprof("top", "--every", "0.3s", "-n", "2", "live").out.split("\n\n", 2)[2]
        paused = re.compile(r"\nlast .*  paused ([\d.]+) %\n")
        self.assertGreater(float(paused.search(shown)[1]), 90, shown)
        pid = int(re.search(r"battprof\.(\d+)\.", self.profiles()[0])[1])
        self.assertEqual(self.battprof("start", "live").status, 0)
        shown = self.battprof("top", "--every", "0.3s", "-n", "2", "live").out.split("\n\n", 2)[2]
        last = paused.search(shown)
        self.assertLess(float(last[1]) if last else 0, 10, shown)
        os.kill(pid, signal.SIGKILL)
        process.wait()
        shown = self.battprof("top", "--every", "0.1s", "-n", "1", "live")
        self.assertRegex(shown.out, r"\nsince start  unknown: 1 process disappeared")

    def test_without_a_session(self):
        """LD_PRELOAD alone: the first process has the wall page, and its children come and go."""
        os.mkdir(self.path("live"))
        environment = dict(self.environment, LD_PRELOAD=LIB, BATTPROF_DIR=self.path("live"))
        words = ["sh", "-c", "sh -c :; sh -c :; sleep 60; :"]
        process = subprocess.Popen(words, env=environment, start_new_session=True)
        self.addCleanup(self.end, process)
        self.wait_for(lambda: len(self.profiles()) > 3)
        time.sleep(1)
        shown = self.battprof("top", "--every", "0.3s", "-n", "1", "live")
        self.assertRegex(shown.out, r"^live  (da)?sh +running [1-9][\d.]* s\n")
        self.assertRegex(shown.out, r"\n4 processes \(2 running\), 2 threads: ")
        self.assertIn("nanosleep", shown.out)

    def test_ends_with_the_run(self):
        process = self.record()
        top = subprocess.Popen([CMD, "top", "--every", "0.2s", "live"], cwd=self.directory,
                               stdout=subprocess.PIPE, env=self.environment)
        top.stdout.readline()
        self.end(process)
        out = top.communicate()[0].decode()
        self.assertEqual(top.returncode, 0, out)
        self.assertRegex(out, r"\(0 running\)")

    def test_files_that_are_cut_or_foreign(self):
        self.record()
        self.write("live/battprof.1.bp", "no profile")
        self.write("live/battprof.2.bp", "x" * 10000)
        with open(self.profiles()[0], "rb") as file:
            head = file.read()
        for name, size in (("3", 4096), ("4", 5000), ("5", len(head) // 2)):
            with open(self.path("live/battprof.%s.bp" % name), "wb") as file:
                file.write(head[:size])
        top = subprocess.Popen([CMD, "top", "--every", "0.1s", "-n", "8", "live"],
                               cwd=self.directory, stdout=subprocess.PIPE, env=self.environment)
        top.stdout.readline()
        for name in ("3", "4", "5"):
            os.truncate(self.path("live/battprof.%s.bp" % name), 0)
        out = top.communicate()[0].decode()
        self.assertEqual(top.returncode, 0, out)
        self.assertEqual(out.count("since start"), 8)

    def test_mistakes(self):
        self.battprof("run", "-q", "-o", "a", "true")
        self.write("empty/x")
        self.write("x.bp", "no profile")
        for status, words, arguments in ((1, ["no run here", "battprof run"], []),
                                         (1, ["nosuch"], ["nosuch"]),
                                         (1, ["no process 999999999"], ["999999999"]),
                                         (1, ["is not being recorded"], [str(os.getpid())]),
                                         (1, ["empty", "no profile"], ["empty"]),
                                         (1, ["x.bp", "no profile"], ["x.bp"]),
                                         (2, ["one too many"], ["a", "a"]),
                                         (2, ["--every", "not a time"], ["--every", "x", "a"])):
            result = self.battprof("top", *arguments)
            self.assertEqual(result.status, status, result)
            for word in words:
                self.assertIn(word, result.err)

    def on_terminal(self, *words):
        """The process, the terminal's master, and how the terminal was."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        before = termios.tcgetattr(slave)
        environment = dict(self.environment, TERM="xterm", LANG="C.UTF-8")
        process = subprocess.Popen([CMD, *words], cwd=self.directory, stdin=slave,
                                   stdout=slave, stderr=slave, env=environment)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process, master, lambda: termios.tcgetattr(slave) == before

    def read_until(self, master, wanted):
        text = b""
        while wanted not in text and select.select([master], [], [], 60)[0]:
            text += os.read(master, 65536)
        self.assertIn(wanted, text)
        return text

    def test_keys_and_the_end(self):
        self.record()
        process, master, as_before = self.on_terminal("top", "--every", "0.2s", "live")
        self.read_until(master, b"by self time")
        self.assertFalse(as_before())
        for key, wanted in ((b"s", b"by calls"), (b"t", b"open calls"), (b"p", b"DSL of it"),
                            (b"h", b"freeze the screen"), (b" ", b"FROZEN"), (b"f", b"function, by"),
                            (b"q", LEAVE)):
            os.write(master, key)
            self.read_until(master, wanted)
        self.assertEqual(process.wait(), 0)
        self.assertTrue(as_before())

    def test_signals_restore_the_terminal(self):
        self.record()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV):
            process, master, as_before = self.on_terminal("top", "--every", "0.2s", "live")
            self.read_until(master, b"by self time")
            process.send_signal(number)
            self.read_until(master, LEAVE)
            self.assertEqual(process.wait(), -number)
            self.assertTrue(as_before(), number)

    def test_run_says_where_it_records(self):
        process, master, _ = self.on_terminal("run", "-o", "x y", "true")
        text = self.read_until(master, b"watch it with: ")
        text += self.read_until(master, b"wall")
        self.assertEqual(process.wait(), 0)
        self.assertEqual(text.count(b"recording"), 1)
        self.assertIn(b" top '" + self.path("x y").encode() + b"'\r\n", text)
        self.assertNotIn("recording", self.battprof("run", "-o", "x", "true").err)


if __name__ == "__main__":
    main()
