# SPDX-License-Identifier: MIT
"""Attach after attach, on targets of all kinds, some of them with the command killed in the middle:
no crash, no hang, output and exit status as without us, calls exact. 36 attaches, or
BATTPROF_ATTACHES; prints how long targets stood still."""
import os
import random
import re
import subprocess
import sys
import time

from harness import pythons
from harness.attach import (CALLS, MODES, SUBJECTS, THREADS, Target, calls, expected, start, tool,
                            wait_until)
from harness.command import CMD

ATTACHES = int(os.environ.get("BATTPROF_ATTACHES", "36"))
SEED = int(os.environ.get("BATTPROF_SEED", "1"))
TOTAL = "total %d\n" % sum((i + 1) * 2 for i in range(500))
times, killed, refused = [], 0, 0
# Their threads are within malloc or a handler nearly always: where none is elsewhere in time, the
# command says so, and the target must be as it was. That may not be the rule.
BUSY = ("malloc", "mallocs", "crunch", "signals", "altstack", "dlopen", "dlopens")
NOWHERE = "no thread reached a place where it can load a library"
LATE = "is taking long to load the library"  # among 64 threads that want two CPUs


def kill_in_the_middle(target):
    """Attaches, and is killed meanwhile."""
    global killed
    attempt = subprocess.Popen([CMD, "attach", "-q", "-o", "killed", str(target.pid)],
                               cwd=target.directory, env=tool(), stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 0.06))
    attempt.kill()
    attempt.wait()
    killed += 1


def attach(target, *options):
    """The directory of the profile; None if there is none."""
    global refused
    done = target.attach(*options)
    if target.mode in BUSY and (NOWHERE in done.stderr or LATE in done.stderr):
        refused += 1
        return None
    if done.returncode == 1 and "is being recorded already" in done.stderr:
        return "killed"
    assert done.returncode == 0, done
    times.append(float(re.search(r"(?:stood still|busy with it) for ([\d.]+) ms",
                                 done.stderr)[1]))
    return "out"


def native(mode):
    target = start(mode)
    try:
        target.wait_for_work()
        time.sleep(random.uniform(0, 0.02))
        if random.random() < 0.2:
            kill_in_the_middle(target)
        where = attach(target)
        got = target.end()
        assert got == expected(mode), (mode, got)
        if not where:
            return
        found = calls(target.report(where), "work_add")
        assert found == CALLS * THREADS.get(mode, 1), (mode, found)
    finally:
        target.drop()


def python(path):
    target = Target([path, os.path.join(SUBJECTS, "calls.py"), None])
    try:
        wait_until(lambda: target.words[4] > 2, "work of the target")
        time.sleep(random.uniform(0, 0.02))
        where = attach(target, "--dsl", "chosen")
        worked = target.words[4]
        wait_until(lambda: (target.words[4] - worked) % 256 > 20, "work of the target")
        got = target.end()
        assert got == (0, TOTAL, ""), (path, got)
        report = target.report(where)
        for name in ("chosen.after", "chosen.inside"):
            assert calls(report, name) == 500, (path, name, calls(report, name))
    finally:
        target.drop()


def main():
    random.seed(SEED)
    kinds = [(native, mode) for mode in MODES] + [(python, p) for p in pythons.find().values()]
    random.shuffle(kinds)
    done = 0
    while done < ATTACHES:
        act, what = kinds[done % len(kinds)]
        try:
            act(what)
        except Exception:
            print("attach %d of seed %d: %s %s" % (done, SEED, act.__name__, what), flush=True)
            raise
        done += 1
    assert refused <= 1 + done // 20, "%d of %d refused" % (refused, done)
    times.sort()
    print("%d attaches, %d of them after one that was killed, %d refused; stood still: median "
          "%.1f ms, 95 of 100 below %.1f ms, longest %.1f ms" %
          (done, killed, refused, times[len(times) // 2], times[len(times) * 95 // 100], times[-1]))


if __name__ == "__main__":
    sys.exit(main())
