# SPDX-License-Identifier: MIT
"""Tasks that are calls of Python functions, under every Python that is found."""
import os
import signal
import sys

from harness import pythons
from harness import case, check, equal, execute, main
from harness.tasks import DETAILED, FAILED, INPUT, PHASE, UNFINISHED, calls, check_sums, ids, profiles

SUBJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "subjects",
                       "tasks_python.py")
PYTHONS = pythons.find()


def every(function):
    """A case for each Python."""
    for version, python in PYTHONS.items():
        def go(python=python):
            function(lambda mode, rules=None, status=0: record(python, mode, rules, status))
        go.__name__ = "%s (%d.%d)" % (function.__name__, *version)
        case(go)


def record(python, mode, rules, status):
    env = {"BATTPROF_TASKS": rules} if rules else {}
    run = execute([python, SUBJECT, mode], True, env=env, timeout=60)
    check(run.status == status, "status %r, want %r; stderr %r" % (run.status, status, run.stderr))
    return profiles(run)


@every
def known_calls(run):
    profile, = run("plain")
    equal("ids", ids(profile), ["task-%d" % i for i in range(10)])
    check_sums(profile)
    for i, task in enumerate(profile["tasks"]):
        want = {"batt": 1, "step": i, "leaf": i}
        equal("calls of " + task["id"], calls(task), {k: v for k, v in want.items() if v})
    equal("phases", [(f["name"], f["phase"]) for f in profile["functions"] if f["phase"]],
          [("load_data", "data loading")])
    steps = sum(n["calls"] for t in profile["threads"] for n in t["nodes"] if n["func"] == "step")
    equal("calls outside of tasks", steps - sum(range(10)), 4)


@every
def arguments(run):
    profile, = run("arguments")
    equal("guessed", [t["id"] for t in profile["tasks"] if t["func"] == "run_one"],
          ["text", "keyword", "", "", "", "", "", "", "dictionary", "größe", ""])
    equal("by its name", [(t["func"], t["id"]) for t in profile["tasks"][-4:]],
          [("check_batt", "cell"), ("batt", "cell"), ("batt", "named"), ("batt", "last")])
    profile, = run("arguments", "task=run_one(1);task=check_batt(timeout)")
    equal("the first", [t["id"] for t in profile["tasks"][:11]],
          ["text", "1", "17", "bytes", "", "", "", "", "dictionary", "größe", ""])
    equal("keyword only", profile["tasks"][-1]["id"], "9")
    profile, = run("arguments", "task=*:run_one(key)")
    equal("by name", ids(profile)[:3], ["", "keyword", ""])


@every
def left_by_an_exception(run):
    profile, = run("failures", "task=fails;task=batt")
    check_sums(profile)
    equal("failed", [(t["id"], t["flags"] & FAILED) for t in profile["tasks"]],
          [("a", FAILED), ("b", FAILED), ("fine", 0)])


@every
def inputs_of_generators(run):
    """All arguments of an outermost call, if each can be compared; never as a task or a phase."""
    profile, = run("generators")
    check(all(t["flags"] & PHASE for t in profile["tasks"] if t["flags"] & INPUT), "flags")
    equal("tasks", ids(profile, lambda flags: not flags & PHASE), ["within"] * 16)
    got = [(t["func"], t["id"]) for t in profile["tasks"] if t["flags"] & INPUT]
    equal("again", got[:5], got[5:10])
    texts = [text.split(" #")[0] for _, text in got]
    equal("texts", texts[:5], ["a line...", "a line...", "x = 1...", "rest...", "größe"])
    equal("different", len(set(got[:5])), 5)
    equal("what cannot be compared is none, what it calls is", got[10:17],
          [("inline_variables", "known")] * 7)
    equal("empty", (got[17][0], texts[17]), ("expand_solver", "..."))
    equal("all", len(got), 18)
    profile, = run("generators", "generator=none")
    check(not any(t["flags"] & INPUT for t in profile["tasks"]), "there is none")


@every
def which_functions(run):
    profile, = run("others", "task=tasks_python:Runner.*;task=generates;task=other:run_one;"
                             "phase=one=run_one")
    equal("tasks", [(t["func"], t["name"], t["id"]) for t in profile["tasks"]],
          [("Runner.*", "Runner.run", "method")])
    equal("phases", [(f["name"], f["phase"]) for f in profile["functions"] if f["phase"]],
          [("run_one", "one")])
    profile, = run("others", "task=none")
    equal("none", profile["tasks"], [])


@every
def of_threads_and_processes(run):
    profile, = run("threads")
    check_sums(profile)
    equal("ids", sorted(ids(profile)), ["%d-%d" % (t, i) for t in range(3) for i in range(4)])
    equal("threads", len({t["thread"] for t in profile["tasks"]}), 3)
    found = run("processes")
    equal("tasks", sorted(len(p["tasks"]) for p in found), [1, 4, 4])
    for profile in found:
        check_sums(profile)


@every
def killed(run):
    profile, = run("killed", "task=tasks_python:check_*", status=-signal.SIGKILL)
    task, = profile["tasks"]
    equal("id and flags", (task["id"], task["flags"]), ("in flight", UNFINISHED | DETAILED))
    equal("calls", calls(task), {"step": 1, "leaf": 1})


main()
