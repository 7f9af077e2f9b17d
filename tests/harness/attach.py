# SPDX-License-Identifier: MIT
"""Targets that are running already, and attaching to them."""
import json
import mmap
import os
import shutil
import subprocess
import tempfile
import time

CMD = os.environ["BATTPROF_CMD"]
TARGET = os.environ["ATTACH_TARGET"]
PLUGIN = os.environ["ATTACH_PLUGIN"]
SUBJECTS = os.environ["ATTACH_SUBJECTS"]
CALLS = 1000  # of work_add by each thread of the target, after it was told to end
THREADS = {"mallocs": 4, "computes": 3, "dlopens": 4, "churn": 2, "crowd": 64, "crunch": 64}
MODES = ("malloc", "mallocs", "sleep", "poll", "read", "wait", "epoll", "limit", "compute", "computes",
         "dlopen", "dlopens", "fork", "churn", "signals", "altstack", "interrupted", "crowd",
         "crunch")
HANGS_S = 120


def environment(**extra):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("BATTPROF", "LD_", "PYTHON", "MALLOC_"))}
    return dict(env, LC_ALL="C.UTF-8", **extra)


def wait_until(true, what, seconds=HANGS_S):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain: " + what
        time.sleep(0.005)


class Target:
    """A process in a directory of its own, that works until end() is called."""

    def __init__(self, command, **options):
        self.directory = tempfile.mkdtemp(prefix="battprof-attach-")
        self.words_path = os.path.join(self.directory, "words")
        with open(self.words_path, "wb") as file:
            file.write(bytes(4096))
        with open(self.words_path, "r+b") as file:
            self.words = mmap.mmap(file.fileno(), 4096)
        self.process = subprocess.Popen(
            [self.words_path if word is None else word for word in command], cwd=self.directory,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(), **options)
        self.pid = self.process.pid
        self.mode = None

    def rounds(self):
        return int.from_bytes(self.words[4:8], "little")

    def wait_for_work(self):
        before = self.rounds()
        wait_until(lambda: self.rounds() != before or self.process.poll() is not None,
                   "work of the target")
        assert self.process.poll() is None, "the target ended by itself: %r" % (
            self.process.communicate(),)

    def attach(self, *options, directory="out", timeout=HANGS_S):
        return subprocess.run([CMD, "attach", "-o", directory, *options, str(self.pid)],
                              cwd=self.directory, capture_output=True, text=True, env=tool(),
                              timeout=timeout, check=False)

    def end(self):
        """Status, output and error output."""
        self.words[0] = 1
        out, err = self.process.communicate(timeout=HANGS_S)
        return self.process.returncode, out, err

    def report(self, directory="out"):
        shown = subprocess.run([CMD, "report", "--json", os.path.join(self.directory, directory)],
                               capture_output=True, text=True, env=tool(), check=True)
        return json.loads(shown.stdout)

    def drop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.words.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def tool():
    return dict(environment(), BATTPROF_LIB=os.environ["BATTPROF_LIB"], COLUMNS="200")


def start(mode):
    target = Target([TARGET, mode, None, PLUGIN])
    target.mode = mode
    return target


def expected(mode):
    """What such a target does if nobody attaches: see target.c."""
    return 7, "%s: %d threads, 0 errors\n" % (mode, THREADS.get(mode, 1)), ""


def calls(report, name):
    return sum(row["calls"] for row in report["functions"] if row["name"] == name)
