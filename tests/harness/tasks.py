# SPDX-License-Identifier: MIT
"""Runs subjects and reads their tasks with task_dump."""
import json
import os
import subprocess

from harness import BIN, check, execute, subject

PHASE, FAILED, NVTX, API, UNFINISHED, DETAILED, ELSEWHERE = (1 << i for i in range(7))
INPUT = 0x100


def profiles(run):
    """What every process recorded."""
    files = [os.path.join(run.profile, f) for f in run.files() if f != "run.bp"]
    done = subprocess.run([os.path.join(BIN, "task_dump")] + files, stdout=subprocess.PIPE,
                          check=True, timeout=60)
    return [without_phase_calls(profile) for profile in json.loads(done.stdout)]


def is_phase_call(task):
    return task["flags"] & PHASE and not task["flags"] & (INPUT | NVTX | API)


def without_phase_calls(profile):
    """Calls that are phases apart, in "phase_calls": they have begin and end and no details."""
    items = profile["tasks"]
    places, kept = {}, []
    for number, task in enumerate(items):
        if not is_phase_call(task):
            places[number] = len(kept)
            kept.append(task)
    for task in kept:
        while task["parent"] >= 0 and task["parent"] not in places:
            task["parent"] = items[task["parent"]]["parent"]
        task["parent"] = places.get(task["parent"], -1)
    profile["tasks"] = kept
    profile["phase_calls"] = [task for task in items if is_phase_call(task)]
    return profile


def record(argv, rules=None, status=0, env=None, **how):
    environment = dict(env or {})
    if rules:
        environment["BATTPROF_TASKS"] = rules
    run = execute([subject(argv[0])] + argv[1:], True, env=environment, **how)
    check(run.status == status, "status %r, want %r; stderr %r" % (run.status, status, run.stderr))
    return profiles(run)


def ids(profile, wanted=lambda flags: True):
    return [task["id"] for task in profile["tasks"] if wanted(task["flags"])]


def calls(task):
    """Calls by function, of all contexts."""
    sums = {}
    for node in task["nodes"]:
        sums[node["func"]] = sums.get(node["func"], 0) + node["calls"]
    return {name: count for name, count in sums.items() if count}


def check_sums(profile):
    """The self times of a task's nodes sum to its length; all tasks of a thread never exceed what
    the thread's nodes have."""
    for task in profile["tasks"]:
        check(task["flags"] & DETAILED, "no details: %r" % task)
        off = sum(node["self"] for node in task["nodes"]) - task["length"]
        check(abs(off) < 1e-7, "task %s: its nodes differ from its length by %.9f" % (task["id"], off))
    for thread in profile["threads"]:
        tasks = [t for t in profile["tasks"] if t["thread"] == thread["slot"] and t["parent"] < 0
                 and not t["flags"] & UNFINISHED]
        for node in thread["nodes"][1:]:  # the root gets its time when the thread ends
            inside = [n for t in tasks for n in t["nodes"] if n["node"] == node["node"]]
            for key in ("self", "calls"):
                total = sum(n[key] for n in inside)
                check(total <= node[key] + 1e-7, "%s of %s: %r in tasks, %r in all"
                      % (key, node["func"], total, node[key]))
