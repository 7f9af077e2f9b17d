# SPDX-License-Identifier: MIT
"""Whom battprof attach leaves alone, and what it says; doctor attach says the same beforehand."""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness.attach import expected, start, tool, wait_until
from harness.command import CMD, main

STILL = os.environ["ATTACH_STILL"]
STATIC = os.environ["ATTACH_STATIC"]


class Refusals(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="battprof-attach-")
        self.addCleanup(shutil.rmtree, self.directory, True)

    def start(self, *command, **options):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=self.directory, text=True, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def run_command(self, *words, **options):
        return subprocess.run([CMD, *words], cwd=self.directory, capture_output=True, text=True,
                              env=tool(), timeout=60, check=False, **options)

    def check_refused(self, process, *reasons, **options):
        wait_until(lambda: self.state(process.pid) != "R", "rest")
        state = self.state(process.pid)
        for words in (("attach", "-o", "out", str(process.pid)),
                      ("doctor", "attach", str(process.pid))):
            done = self.run_command(*words, **options)
            self.assertEqual(done.returncode, 1, done)
            for reason in reasons:
                self.assertIn(reason, " ".join((done.stdout + done.stderr).split()))
        self.assertIsNone(process.poll())
        wait_until(lambda: self.state(process.pid) == state, "the state from before")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "out")))

    def state(self, pid):
        with open("/proc/%d/status" % pid, encoding="utf-8") as lines:
            return next(line.split()[1] for line in lines if line.startswith("State:"))

    def test_stopped(self):
        process = self.start(STILL)
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: self.state(process.pid) == "T", "a stop")
        self.check_refused(process, "it is stopped, and left alone; kill -CONT %d" % process.pid)
        os.kill(process.pid, signal.SIGCONT)
        wait_until(lambda: self.state(process.pid) == "S", "the end of a stop")
        self.assertEqual(self.run_command("attach", str(process.pid)).returncode, 0)

    def test_static(self):
        self.check_refused(self.start(STATIC), "it is statically linked")

    def test_seccomp(self):
        self.check_refused(self.start(STILL, "seccomp"), "a seccomp filter")

    def test_musl(self):
        loader = "/lib/ld-musl-x86_64.so.1"
        compiler = shutil.which("musl-gcc")
        if not compiler or not os.path.exists(loader):
            self.skipTest("no musl-gcc (Debian: musl-tools)")
        source = os.path.join(os.environ["ATTACH_SUBJECTS"], "still.c")
        program = os.path.join(self.directory, "still")
        subprocess.run([compiler, "-idirafter", "/usr/include", "-idirafter",
                        "/usr/include/x86_64-linux-gnu", "-o", program, source], check=True)
        self.check_refused(self.start(program), "its C library is musl")

    def test_traced(self):
        process = self.start(STILL)
        # One that traces it: a child of ours, as strace would be.
        tracer = subprocess.Popen(
            [sys.executable, "-c",
             "import ctypes, sys, time; libc = ctypes.CDLL(None, use_errno=True)\n"
             "assert libc.ptrace(0x4206, %d, None, None) == 0, ctypes.get_errno()\n"
             "print('ready', flush=True); time.sleep(60)" % process.pid],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        self.assertEqual(tracer.stdout.readline(), "ready\n")
        self.check_refused(process, "process %d traces it; only one may" % tracer.pid)

    def test_foreign_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to be two users")
        process = self.start(STILL, user=12345)
        os.chmod(self.directory, 0o777)
        self.check_refused(process, "it belongs to user 12345; become that user, or root",
                           user=12346)

    def test_other_root(self):
        """The library is not where the process would look for it."""
        if os.geteuid() != 0:
            self.skipTest("needs root for chroot")
        root = os.path.join(self.directory, "root")
        copied = subprocess.run(["ldd", STILL], capture_output=True, text=True, check=True).stdout
        for path in [word for word in copied.split() if word.startswith("/")] + [STILL]:
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
        process = self.start(STILL, preexec_fn=lambda: os.chroot(root))
        self.check_refused(process, "does not exist for it: it runs in another container or chroot")

    def test_gone(self):
        process = subprocess.Popen(["true"])
        wait_until(lambda: self.state(process.pid) == "Z", "the end of true")
        done = self.run_command("attach", str(process.pid))
        self.assertEqual(done.returncode, 1)
        self.assertIn("it has ended", done.stderr)
        process.wait()
        done = self.run_command("attach", "999999999")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("there is no such process", done.stderr)

    def test_kernel_thread(self):
        with open("/proc/2/comm", encoding="utf-8") as name:
            if name.read() != "kthreadd\n":
                self.skipTest("no threads of the kernel to be seen here")
        self.assertIn("a thread of the kernel", self.run_command("attach", "2").stderr)

    def test_mistakes(self):
        for words in ([], ["x"], ["1", "2"], ["--for", "x", "1"]):
            done = self.run_command("attach", *words)
            self.assertEqual(done.returncode, 2, done)

    def test_directory_of_others(self):
        """Another user's process must be able to write there; root gives it the directory."""
        if os.geteuid() != 0:
            self.skipTest("needs root to be two users")
        public = tempfile.mkdtemp(prefix="battprof-public-", dir="/tmp")
        self.addCleanup(shutil.rmtree, public, True)
        os.chmod(public, 0o755)
        library = shutil.copy(os.environ["BATTPROF_LIB"], public)
        program = shutil.copy(STILL, public)
        for path in (library, program):
            os.chmod(path, 0o755)
        process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, user=12345,
                                   cwd=public)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        process.stdout.readline()
        done = subprocess.run([CMD, "attach", "-o", "out", str(process.pid)], cwd=public,
                              capture_output=True, text=True, check=False,
                              env=dict(tool(), BATTPROF_LIB=library))
        self.assertEqual(done.returncode, 0, done)
        path = os.path.join(public, "out", "battprof.%d.bp" % process.pid)
        self.assertEqual(os.stat(path).st_uid, 12345)

    def test_doctor(self):
        target = start("malloc")
        self.addCleanup(target.drop)
        target.wait_for_work()
        done = self.run_command("doctor", "attach", str(target.pid))
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("battprof attach %d" % target.pid, done.stdout)
        done = self.run_command("doctor", "attach")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("ptrace", done.stdout)
        self.assertEqual(target.end(), expected("malloc"))


if __name__ == "__main__":
    main()
