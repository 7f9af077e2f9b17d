# SPDX-License-Identifier: MIT
"""battprof stacks: open calls from the profile, Python and native frames by ptrace, every refusal in a
sentence; the process goes on as if nothing had been."""
import os
import re
import signal
import subprocess
import sys
import time

from harness import pythons
from harness.command import CMD, CommandTest, main

RUN_BATT = os.environ["RUN_BATT"]
# Sleeps, writes, waits in epoll and computes, in threads; any interrupted call or lost byte is said.
SUBJECT = """
import os, select, sys, threading, time
out = []
def sleeps():
    began = time.monotonic()
    time.sleep(3)
    out.append(time.monotonic() - began >= 3)
def pipes():
    read, write = os.pipe()
    for i in range(20000):
        os.write(write, b"x"); out.append(os.read(read, 1) == b"x") if i %% 1000 == 0 else os.read(read, 1)
def polls():
    poll = select.epoll(); poll.register(0, select.EPOLLIN)
    out.append(len(poll.poll(3)) == 0)
threads = [threading.Thread(target=f) for f in (sleeps, pipes, polls)]
for t in threads: t.start()
print("ready", flush=True)
for t in threads: t.join()
print(len(out), all(out))
"""
# Threads at known places: the main one runs, others wait in a lock, below a generator and in epoll,
# where none is stopped. A comment has the functions that a look at the line must show.
STACKS = """
import select, threading, time
class Grid:
    def solve(self, n):
        return sorted([n], key=lambda x: self.spin(x))  # solve
    def spin(self, x):
        while True: x += 1  # spin
def näher():
    lock.acquire()  # näher
def waits():
    näher()  # waits
def steps():
    yield time.sleep(100)  # steps
def generates():
    for step in steps(): pass  # generates
def polls():
    epoll.poll(100)  # polls
lock, epoll = threading.Lock(), select.epoll()
lock.acquire()
for f in (waits, generates, polls): threading.Thread(target=f, daemon=True).start()
print("ready", flush=True)
Grid().solve(2)  # <module>
"""
LINES = {text.split("# ")[1]: number for number, text in enumerate(STACKS.split("\n"), 1)
         if "  # " in text}
CHAINS = (("spin", "<lambda>", "solve", "<module>"), ("näher", "waits"), ("steps", "generates"),
          ("polls",))


def is_traceable():
    """Whether native frames can be had here: libunwind, and a kernel that allows it."""
    child = subprocess.Popen(["sleep", "60"])
    try:
        shown = subprocess.run([CMD, "stacks", str(child.pid)], capture_output=True, text=True,
                               check=False)
        return "no native frames" not in shown.stdout, shown.stdout
    finally:
        child.kill()
        child.wait()


class Stacks(CommandTest):
    def record(self):
        self.start("run", "-q", "-o", "live", "--", RUN_BATT, "--generate", "100000")
        while not os.path.isdir(self.path("live")) or len(os.listdir(self.path("live"))) < 2:
            time.sleep(0.05)
        pid = int(re.search(r"battprof\.(\d+)\.", " ".join(os.listdir(self.path("live"))))[1])
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        time.sleep(0.3)
        return pid

    def test_open_calls(self):
        pid = self.record()
        for options in ([], ["--no-stop"]):
            shown = self.battprof("stacks", *options, str(pid))
            self.assertEqual(shown.status, 0, shown)
            self.assertRegex(shown.out, r"^process %d  run_batt\n\nthread %d  run_batt  " % (pid, pid))
            self.assertRegex(shown.out, r"\n  open for [\d.]+ \w+: phase_data_loading\n")
        self.assertNotIn("\n  main\n", shown.out)

    def test_native_frames(self):
        able, why = is_traceable()
        if not able:
            self.skipTest(why)
        pid = self.record()
        looks = [self.battprof("stacks", str(pid)).out for _ in range(10)]
        whole = re.compile(r"\n  phase_data_loading\n(  \w+\n)*  main\n(  \w+\n)+\neach thread was")
        # One of them may meet a stub between two instructions.
        self.assertGreater(sum(bool(whole.search(shown)) for shown in looks), 5, looks)
        sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        time.sleep(0.3)
        shown = self.battprof("stacks", str(sleeper.pid))
        self.assertEqual(shown.status, 0, shown)
        self.assertRegex(shown.out, r"\n  \w*nanosleep")
        self.assertIn("not being recorded", shown.out)

    def check_python(self, python):
        script = self.path("subject.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(STACKS)
        process = subprocess.Popen([python, script], stdout=subprocess.PIPE, text=True,
                                   env=pythons.environment())
        try:
            process.stdout.readline()
            time.sleep(0.3)
            shown = self.battprof("stacks", str(process.pid))
        finally:
            process.kill()
            process.communicate()
        self.assertEqual(shown.status, 0, shown)
        frames = [(name.split(".")[-1], int(line)) for name, path, line in
                  re.findall(r"\n  (\S+) \((.*):(\d+)\)(?=\n)", shown.out) if path == script]
        for chain in CHAINS:
            wanted = [(name, LINES[name if name in LINES else "solve"]) for name in chain]
            at = frames.index(wanted[0]) if wanted[0] in frames else 0
            self.assertEqual(frames[at:at + len(chain)], wanted, shown.out)

    def test_python_frames(self):
        able, why = is_traceable()
        if not able:
            self.skipTest(why)
        for version, python in pythons.find().items():
            with self.subTest(version=version):
                self.check_python(python)

    def test_the_process_does_not_notice(self):
        able, why = is_traceable()
        if not able:
            self.skipTest(why)
        process = subprocess.Popen([sys.executable, "-c", SUBJECT.replace("%%", "%")],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        looks = 0
        while process.poll() is None:
            shown = self.battprof("stacks", str(process.pid))
            looks += "each thread was stopped" in shown.out
        self.assertGreater(looks, 3)
        self.assertEqual(process.stdout.read(), "22 True\n")
        self.assertEqual(process.stderr.read(), "")
        self.assertEqual(process.wait(), 0)
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()

    def test_refusals(self):
        able, why = is_traceable()
        if not able:
            self.skipTest(why)
        sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        time.sleep(0.2)
        os.kill(sleeper.pid, signal.SIGSTOP)
        while b"State:\tT" not in open("/proc/%d/status" % sleeper.pid, "rb").read():
            time.sleep(0.02)
        shown = self.battprof("stacks", str(sleeper.pid))
        self.assertEqual(shown.status, 1, shown)
        self.assertIn("it is stopped, and left alone", shown.out)
        self.assertIn(b"State:\tT", open("/proc/%d/status" % sleeper.pid, "rb").read())

    def test_mistakes(self):
        for status, words, arguments in ((2, ["number of one process"], []),
                                         (2, ["number of one process"], ["x"]),
                                         (2, ["number of one process"], ["1", "2"]),
                                         (1, ["no process 999999999"], ["999999999"])):
            result = self.battprof("stacks", *arguments)
            self.assertEqual(result.status, status, result)
            self.assert_one_sentence(result, *words)


if __name__ == "__main__":
    main()
