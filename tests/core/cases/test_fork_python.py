# SPDX-License-Identifier: MIT
"""Pools of worker processes beside threads, under every start method and every Python found: none
dies, none hangs, and the calls are exactly those that the program counted. FORK_ROUNDS (2) pools."""
import os
import shutil
import subprocess
import tempfile

from harness import pythons

HERE = os.path.dirname(os.path.abspath(__file__))
SUBJECT = os.path.join(HERE, "..", "subjects", "fork_workers.py")
DSL = os.path.join(pythons.AREA, "subjects", "dsl.py")
ROUNDS = os.environ.get("FORK_ROUNDS", "2")
WAYS = ["forks"] + [kind + "-" + method for kind in ("executor", "pool")
                    for method in ("fork", "spawn", "forkserver")]
total = {"processes": 0}


def calls(report, name):
    return sum(f["calls"] + f.get("in_flight", 0) for f in report["functions"] if f["name"] == name)


def check_way(check, where, python, way, directory):
    try:
        done, output = pythons.profiled(python, ["-W", "ignore", "fork_workers.py", way, ROUNDS],
                                        directory, timeout=60 + 20 * int(ROUNDS))
    except subprocess.TimeoutExpired:
        check.that(False, where + ": hangs")
        return
    check.that(done.returncode == 0, "%s: status %d: %s" % (where, done.returncode,
                                                            done.stderr[-400:].decode()))
    if done.returncode == 0:
        processes, jobs = map(int, done.stdout.split())
        total["processes"] += processes
        report = pythons.report(output)
        for name, want in (("dsl.add", jobs), ("dsl.depth", 2 * 5 * jobs)):
            check.that(calls(report, name) == want,
                       "%s: %s: %d calls, want %d" % (where, name, calls(report, name), want))
    shutil.rmtree(output, ignore_errors=True)


def check_version(check, version, python):
    directory = tempfile.mkdtemp(prefix="battprof-fork-")
    for path in (SUBJECT, DSL):
        shutil.copy(path, directory)
    for way in WAYS:
        check_way(check, version + " " + way, python, way, directory)
    shutil.rmtree(directory)
    print(version + ":", total["processes"], "processes so far", flush=True)


pythons.check_all(check_version)
