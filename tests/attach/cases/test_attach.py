# SPDX-License-Identifier: MIT
"""battprof attach on native programs: whatever a target does when we come, it goes on as if nothing
had been, and what it calls from then on is counted exactly."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness.attach import CALLS, MODES, THREADS, calls, expected, start, tool, wait_until
from harness.command import CMD, main

WORKED_NS = 300000000


class Attach(unittest.TestCase):
    def start(self, mode):
        target = start(mode)
        self.addCleanup(target.drop)
        target.wait_for_work()
        return target

    def attach(self, target, *options):
        done = target.attach(*options)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "")
        return done

    def check_mode(self, mode):
        target = self.start(mode)
        done = target.attach()
        if mode == "crunch" and re.search("no thread reached a place|is taking long", done.stderr):
            self.assertEqual(target.end(), expected(mode))  # within malloc nearly always
            return
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)
        self.assertRegex(done.stderr, r"^battprof: process %d is being recorded until it ends, in "
                         r"\S+/out; thread \d+ stood still for \d+\.\d ms\n" % target.pid)
        target.wait_for_work()
        self.assertEqual(target.end(), expected(mode))
        report = target.report()
        self.assertEqual(calls(report, "work_add"), CALLS * THREADS.get(mode, 1))
        notes = " ".join(str(note) for note in report["notes"])
        self.assertIn("process %d was already running when battprof was loaded" % target.pid, notes)

    def test_clocks_begin_with_us(self):
        """What a thread used of its CPU before is not in the report."""
        target = self.start("compute")
        used = os.path.join("/proc", str(target.pid), "schedstat")

        def has_worked():
            with open(used, encoding="ascii") as file:
                return int(file.read().split()[0]) > WORKED_NS
        wait_until(has_worked, "CPU time of the target")
        self.attach(target)
        target.wait_for_work()
        self.assertEqual(target.end(), expected("compute"))
        report = target.report()
        for row in report["thread_list"]:
            self.assertLess((row["cpu_s"] or 0) + (row["runqueue_s"] or 0),
                            row["lifetime_s"] + 0.05, row)

    def test_without_us(self):
        for mode in MODES:
            with self.subTest(mode):
                target = self.start(mode)
                self.assertEqual(target.end(), expected(mode))

    def test_modes(self):
        for mode in MODES:
            with self.subTest(mode):
                self.check_mode(mode)

    def test_killed_meanwhile(self):
        """The command dies at any moment: the target does not, and can be attached to again."""
        for mode in ("malloc", "sleep", "read", "compute", "interrupted", "crowd"):
            for delay_ms in (1, 5, 10, 20, 30, 50, 80):
                with self.subTest(mode=mode, delay_ms=delay_ms):
                    target = self.start(mode)
                    tries = subprocess.Popen([CMD, "attach", "-q", "-o", "first", str(target.pid)],
                                             cwd=target.directory, env=tool(),
                                             stderr=subprocess.PIPE)
                    time.sleep(delay_ms / 1000)
                    tries.kill()
                    tries.communicate()
                    target.wait_for_work()
                    self.assertIsNone(target.process.poll())
                    done = target.attach()
                    if done.returncode:
                        self.assertIn("is being recorded already", done.stderr)
                    self.assertEqual(target.end(), expected(mode))
                    directory = "first" if done.returncode else "out"
                    self.assertEqual(calls(target.report(directory), "work_add"),
                                     CALLS * THREADS.get(mode, 1))

    def test_killed_with_a_thread_on_loan(self):
        """It goes back by itself, however often the next command looks whether it has."""
        for mode in ("wait", "compute", "read"):
            target = self.start(mode)
            env = dict(tool(), LD_PRELOAD=os.environ["ATTACH_KILLED"])
            done = subprocess.run([CMD, "attach", "-o", "first", str(target.pid)], env=env,
                                  cwd=target.directory, capture_output=True, check=False)
            self.assertEqual(done.returncode, -signal.SIGKILL, done)
            self.attach(target)
            self.assertEqual(target.end(), expected(mode))
            self.assertEqual(calls(target.report(), "work_add"), CALLS)

    def test_target_ends_meanwhile(self):
        for delay_ms in range(0, 60, 6):
            target = self.start("mallocs")
            tries = subprocess.Popen([CMD, "attach", "-o", "out", str(target.pid)],
                                     cwd=target.directory, env=tool(), stderr=subprocess.PIPE,
                                     text=True)
            time.sleep(delay_ms / 1000)
            target.process.kill()
            said = tries.communicate(timeout=60)[1]
            self.assertIn(tries.returncode, (0, 1), said)
            self.assertEqual(target.end()[0], -signal.SIGKILL)

    def test_waiting_is_not_busy(self):
        """What stands in a call when we come is not taken for working."""
        sleeper = subprocess.Popen(["sleep", "3"], stderr=subprocess.PIPE)
        target = self.start("sleep")
        time.sleep(0.2)
        done = subprocess.run([CMD, "attach", "-o", "sleeper", str(sleeper.pid)],
                              cwd=target.directory, capture_output=True, text=True, env=tool(),
                              check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(sleeper.wait(), 0)
        self.assertEqual(sleeper.communicate()[1], b"")
        report = target.report("sleeper")
        own = sum(row["self_s"] for row in report["functions"])
        self.assertLess(own, 1)
        target.end()

    def test_for_a_time(self):
        target = self.start("malloc")
        done = self.attach(target, "--for", "1s", "--brief")
        self.assertIn("is being recorded for 1 s, in", done.stderr)
        self.assertIn("goes on and is not recorded any more", done.stderr)
        self.assertNotIn("nothing was measured", done.stderr)
        report = target.report()
        self.assertGreater(report["recording"]["paused_s"], 0)
        self.assertRegex(done.stderr, r"(?i)wall")
        again = self.attach(target)  # paused: it goes on without ptrace
        self.assertIn("recording goes on in", again.stderr)
        target.wait_for_work()
        self.assertEqual(target.end(), expected("malloc"))
        self.assertEqual(calls(target.report(), "work_add"), CALLS)

    def test_children(self):
        target = start("sleep")
        self.addCleanup(target.drop)
        shell = subprocess.Popen(["/bin/sh", "-c", "sleep 60 & sleep 61 & wait; true"],
                                 cwd=target.directory, stderr=subprocess.PIPE)
        self.addCleanup(shell.communicate)
        children = lambda: subprocess.run(["ps", "-o", "pid=", "--ppid", str(shell.pid)],
                                          capture_output=True, text=True, check=False).stdout.split()
        wait_until(lambda: len(children()) == 2, "two children")
        time.sleep(0.3)
        pids = [int(pid) for pid in children()]
        done = subprocess.run([CMD, "attach", "--children", "-o", "family", str(shell.pid)],
                              cwd=target.directory, capture_output=True, text=True, env=tool(),
                              check=False)
        self.assertEqual(done.returncode, 0, done)
        for pid in pids + [shell.pid]:
            self.assertIn("process %d is being recorded" % pid, done.stderr)
            self.assertTrue(os.path.exists("%s/family/battprof.%d.bp" % (target.directory, pid)))
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        self.assertEqual(shell.wait(), 0)
        self.assertEqual(target.report("family")["processes"], 3)

    def test_built_anew(self):
        """Its file is no longer where it was."""
        where = tempfile.mkdtemp(prefix="battprof-attach-")
        self.addCleanup(shutil.rmtree, where, True)
        program = shutil.copy("/bin/sleep", where)
        process = subprocess.Popen([program, "3"], cwd=where)
        time.sleep(0.3)
        os.unlink(program)
        done = subprocess.run([CMD, "attach", "-o", "out", str(process.pid)], cwd=where,
                              capture_output=True, text=True, env=tool(), check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(process.wait(), 0)

    def test_twice(self):
        target = self.start("malloc")
        self.attach(target)
        again = target.attach(directory="other")
        self.assertEqual(again.returncode, 1)
        self.assertRegex(again.stderr, r"is being recorded already, since \d{4}-\d\d-\d\d "
                         r"\d\d:\d\d:\d\d, in \S+; to watch it:\s\S+ top %d\n" % target.pid)
        self.assertFalse(os.path.exists(os.path.join(target.directory, "other")))
        self.assertEqual(target.end(), expected("malloc"))

    def test_at_once(self):
        """Of several commands one attaches; the others say so soon, and leave nothing behind."""
        for mode in ("dlopen", "malloc"):
            target = self.start(mode)
            tries = [subprocess.Popen([CMD, "attach", "-o", "out%d" % i, str(target.pid)],
                                      cwd=target.directory, env=tool(), stderr=subprocess.PIPE,
                                      text=True) for i in range(4)]
            said = [done.communicate()[1] for done in tries]
            self.assertEqual(sorted(done.returncode for done in tries), [0, 1, 1, 1], said)
            for done, text in zip(tries, said):
                self.assertRegex(text, r"traces it; only one may|is being recorded")
                self.assertTrue(done.returncode == 0 or "recorded until" not in text, said)
            self.assertEqual(target.end(), expected(mode))
            where = [name for name in os.listdir(target.directory) if name.startswith("out")]
            self.assertEqual(len(where), 1, said)
            self.assertEqual(calls(target.report(where[0]), "work_add"), CALLS)

    def test_usual_directory(self):
        target = self.start("malloc")
        done = subprocess.run([CMD, "attach", str(target.pid)], cwd=target.directory,
                              capture_output=True, text=True, env=tool(), check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(target.end(), expected("malloc"))
        where = os.path.join(target.directory, "battprof.%d" % target.pid)
        self.assertEqual(os.listdir(where), ["battprof.%d.bp" % target.pid])
        self.assertFalse(re.search("stood still", done.stdout))


if __name__ == "__main__":
    main()
