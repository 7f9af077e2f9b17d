# SPDX-License-Identifier: MIT
"""Tasks of run_batt under `battprof run`: progress while it runs, rules from a file, a device."""
import os
import re
import subprocess

from harness import (CMD, PYTHON, case, check, check_time, equal, execute, main, need_quiet,
                     timed)
from harness.tasks import profiles

RUN_BATT = os.environ["RUN_BATT"]
POOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "analysis", "subjects",
                     "pools", "run_pools.py")


@case
def progress():
    run = execute([RUN_BATT, "-c", "12", "-j", "2"], True, how="run", options=["-q", "--progress"])
    equal("status", run.status, 0)
    lines = run.stderr.decode().splitlines()
    found = [re.fullmatch(r"\[(\d+)\] ([0-9a-f]{8}) [0-9.]+ m?s", line) for line in lines]
    check(all(found), "stderr: %r" % lines)
    equal("numbers", [int(m.group(1)) for m in found], list(range(1, 13)))
    wanted = [line.split()[0].decode() for line in run.stdout.splitlines()[:12]]
    equal("tasks", sorted(m.group(2) for m in found), sorted(wanted))


def progress_of_pools(kind):
    run = execute([PYTHON, POOLS, "8", "2", kind], True, how="run", options=["-q", "--progress"])
    lines = run.stderr.decode().splitlines()
    found = [re.fullmatch(r"\[(\d+)\] (.+) [0-9.]+ m?s", line) for line in lines]
    check(all(found), "stderr: %r" % lines)
    return [(int(m.group(1)), m.group(2)) for m in found]


@case
def progress_counts_tasks_as_the_report():
    lines = progress_of_pools("ids")
    equal("numbers", [number for number, _ in lines], list(range(1, 9)))
    equal("tasks", sorted(label for _, label in lines), ["task%04d" % i for i in range(8)])


@case
def progress_says_what_it_counts():
    lines = progress_of_pools("names")
    # Until the first call of the second function has ended there is only one.
    later = [(number, label.split()) for number, label in lines if " " in label]
    check(later, "no line has a function's name: %r" % lines)
    for function, count in (("check_batt", 8), ("batt", 24)):
        numbers = [number for number, words in later if words[0] == function]
        equal("the last number of " + function, numbers[-1:], [count])


@case
def rules_from_a_file():
    def write(directory):
        with open(os.path.join(directory, "rules.json"), "w") as file:
            file.write('{"tasks": ["run_sample"], "phases": {"all of it": ["batt"]}}')
    run = execute([RUN_BATT, "-c", "3"], True, how="run", options=["-q", "--rules", "rules.json"],
                  setup=write)
    profile, = profiles(run)
    equal("tasks", {t["func"] for t in profile["tasks"]}, {"run_sample"})
    equal("phases", [f["name"] for f in profile["functions"] if f["phase"] == "all of it"], ["batt"])


@case
def a_rule_that_is_none():
    for option, value in (("--task", "batt(9)"), ("--phase", "batt"), ("--sample", "f(1)")):
        run = execute([RUN_BATT], True, how="run", options=[option, value])
        equal("status", run.status, 125)
        check(option.encode() in run.stderr, "stderr: %r" % run.stderr)


@case
def a_rule_that_nothing_matches():
    run = execute([RUN_BATT, "-c", "2"], True, how="run", options=["-q", "--task", "main"])
    check(any("no task was seen (task=main)" in note for note in run.report()["notes"]),
          "notes: %r" % run.report()["notes"])
    run = execute([RUN_BATT, "-c", "2"], True, how="run", options=["-q", "--task", "none"])
    check(not any("no task" in note for note in run.report()["notes"]), "none was asked for")


KILLED = """
import signal, time
def run_one(task_id, s):
    time.sleep(s)
for k in range(6):
    run_one("short%d" % k, 0.002)
signal.setitimer(signal.ITIMER_REAL, 0.3)
run_one("hangs", 60)
"""


@timed
def killed_while_a_task_waits():
    """What killed it knows when, its own file does not: the last that it did was to wait."""
    run = execute([PYTHON, "-c", KILLED], True, how="run",
                  options=["-q", "--task", "__main__:run_one"])
    report = run.report()
    task = report["tasks"]["list"][-1]
    need_quiet(task["id"] == "hangs", "it had not begun: %r" % task)
    equal("unfinished", task["unfinished"], True)
    check_time(task["outlier"], "it is no outlier: %r" % task)
    check_time(0.25 < task["duration_s"] < 30, "it took %.6f s" % task["duration_s"])
    longest = max(call["for_s"] for call in report["in_flight"] if call["function"] == "run_one")
    check(abs(task["duration_s"] - longest) < 1e-6, "%r, its call %.9f" % (task, longest))
    check_time(task["waiting_s"] > 0.99 * task["duration_s"] - 0.001, "%r" % task)
    equal("what it did", task["functions"][0]["name"], "clock_nanosleep")
    parts = sum(task[key] for key in ("dsl_s", "framework_s", "transfer_s", "profiler_s"))
    check(abs(parts - task["duration_s"]) < 1e-6, "its parts sum to %.9f: %r" % (parts, task))


COMPUTES = """
import os, signal, time
def run_one(task_id, s):
    end = time.perf_counter() + s
    while time.perf_counter() < end:
        pass
os.setpgid(0, 0)
if os.fork() == 0:
    for i in range(8):
        run_one("short", 0.01)
    run_one("hangs", 60)
time.sleep(0.8)
os.killpg(0, signal.SIGKILL)
"""


@timed
def killed_while_a_task_computes():
    """Whoever could have seen the end was killed with it; samples tell until when it ran."""
    run = execute([PYTHON, "-c", COMPUTES], True, how="run",
                  options=["-q", "--task", "__main__:run_one"])
    report = run.report()
    task = report["tasks"]["list"][-1]
    need_quiet(task["id"] == "hangs", "it had not begun: %r" % task)
    equal("unfinished", task["unfinished"], True)
    need_quiet(task["outlier"] and 0.2 < task["duration_s"] < 30, "it took %.6f s, outlier: %s"
               % (task["duration_s"], task["outlier"]))
    why = [row["why"] for row in report["advice"] if "killed" in row["what"]]
    check("hangs for" in why[0], "%r" % why)
    text = subprocess.run([CMD, "report", run.profile], capture_output=True, check=True,
                          text=True).stdout
    check("unfinished: hangs, " in text and "run_one, task hangs" in text, text)


SLEEPS = """
import time
def run_one(task_id, s):
    end = time.perf_counter() + 0.005
    while time.perf_counter() < end:
        pass
    if s:
        time.sleep(s)
for k in range(12):
    run_one("t%d" % k, 0.5 if k == 6 else 0)
"""


@timed
def a_task_that_sleeps():
    """Nobody was busy meanwhile, so the wall is its time: in every figure the same."""
    run = execute([PYTHON, "-c", SLEEPS], True, how="run",
                  options=["-q", "--task", "__main__:run_one"])
    report, dropped = run.report("--budget", "1h"), run.report("--drop-outliers")
    outliers = {task["id"]: task for task in report["tasks"]["outliers"]}
    need_quiet("t6" in outliers, "outliers: %r" % outliers)
    task = outliers["t6"]
    cost_s = task["wall_s"] + task["idle_s"]
    check(abs(cost_s - task["duration_s"]) < 0.02 * task["duration_s"], "%r" % task)
    out_s = report["tasks"]["outlier_wall_s"]
    left_s = dropped["wall_s"]
    check(abs(report["wall_s"] - left_s - out_s) < 1e-6, "dropped: %r" % left_s)
    advice = next((row for row in report["advice"] if "outlier" in row["what"]), None)
    need_quiet(advice, "advice: %r" % report["advice"])
    check(advice["saves_s"] <= out_s, "%r of %r" % (advice, out_s))
    check_time(0.9 * cost_s < advice["saves_s"], "%r of %r" % (advice, cost_s))
    then_s = [row["run_s"] for row in report["budget"]["list"] if row["change"] == advice["what"]]
    check(abs(report["wall_s"] - advice["saves_s"] - then_s[0]) < 1e-6, "budget: %r" % then_s)


@case
def time_on_a_device():
    """What CUDA calls took in each task is what their nodes got in it."""
    run = execute([RUN_BATT, "-c", "6", "-j", "2", "--gpu=naive"], True, how="run", timeout=60,
                  options=["-q", "--device", "sim:t4"])
    equal("status", run.status, 0)
    profile, = profiles(run)
    equal("tasks", len(profile["tasks"]), 6)
    for task in profile["tasks"]:
        host = sum(n["self"] for n in task["nodes"] if n["func"].startswith("cuda"))
        check(abs(task["cuda"] - host) < 1e-6 + 0.01 * host, "cuda: %r, nodes %.9f" % (task["cuda"], host))
        check(0 < task["transfer"] < task["cuda"], "transfer: %.9f" % task["transfer"])
    report = run.report()
    exposed = sum(t["exposed_s"] for t in report["transfers"].values())
    inside = sum(t["transfer"] for t in profile["tasks"])
    check(inside <= exposed * 1.001, "transfer in tasks %.9f, in all %.9f" % (inside, exposed))


main()
