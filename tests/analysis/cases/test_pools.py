# SPDX-License-Identifier: MIT
"""A pipeline over pools: the parent's threads wait for workers, and for a program that generates
code. Its tasks are counted once, and waiting has the name of what was waited for."""
import json
import os
import re
import subprocess
import sys
import tempfile

from harness import CMD, case, check, check_time, equal, main, sums_to, timed

PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "subjects", "pools", "run_pools.py")
TASKS, PAIRS = 8, 3


def report(path, *options):
    done = subprocess.run([CMD, "report", path] + list(options), check=True, stdout=subprocess.PIPE,
                          timeout=60, universal_newlines=True)
    return json.loads(done.stdout) if "--json" in options else done.stdout


def record(directory, kind):
    """The profile, and what the program measured itself: {"generating": s, "waiting": s}."""
    path = os.path.join(directory, kind)
    done = subprocess.run([CMD, "run", "-q", "-o", path, "--", sys.executable, PROGRAM, str(TASKS),
                           "2", kind], check=True, timeout=120, stdout=subprocess.PIPE,
                          universal_newlines=True)
    words = [line.split() for line in done.stdout.splitlines()]
    return path, {word[0]: float(word[1]) for word in words if word[1] != "tasks"}


@timed
def tasks_of_one_id_are_one_row():
    with tempfile.TemporaryDirectory() as directory:
        path, measured = record(directory, "ids")
        got = report(path, "--json", "--scale", "80")
        more = report(path, "--json", "--scale", "80", "--grows", "code generation")
        text = report(path, "--by", "task")
        one = report(path, "--by", "task", "--search", "task0004")
    tasks = got["tasks"]
    equal("tasks", tasks["count"], TASKS)
    equal("ids", sorted(task["id"] for task in tasks["list"]),
          ["task%04d" % i for i in range(TASKS)])
    equal("other levels", [(row["name"], row["level"], row["calls"]) for row in tasks["other_levels"]],
          [("batt", "joined", TASKS * PAIRS)])
    check("inner: batt, 24 calls" in text, text)
    for task in tasks["list"]:
        equal("calls of " + task["id"], task["inner"], PAIRS)
        check(task["dsl_s"] > 0 and not task["elsewhere"], "DSL time of %r" % task)
        parts = sum(task[key] for key in ("dsl_s", "framework_s", "transfer_s", "profiler_s"))
        sums_to("parts of " + task["id"], parts,
                task["duration_s"] + task["inner_s"] - task["handed_s"], 0.001, 1e-6)
        check(task["handed_s"] <= task["duration_s"], "waits longer than it lasts: %r" % task)
    sums_to("DSL of tasks", sum(task["dsl_s"] for task in tasks["list"]),
            got["categories"]["dsl"]["thread_s"], 0.02, 1e-4)
    check("dsl.search" in one and "total" in one, one)
    check(any(word in one for word in ("HIGH", "MEDIUM", "LOW")), one)  # which, the load decides
    # The wait for the workers is no part of what they did meanwhile.
    shares = [float(share) for share in re.findall(r"^    \S.*?s +([\d.]+) %", one, re.M)]
    check(shares and sum(shares) < 101, "shares of the task: %r: %s" % (shares, one))
    check_phases(got, more, measured)


def check_phases(got, more, measured):
    """The parent did nothing but wait for the program, and nobody else was busy."""
    phase = {row["name"]: row for row in got["phases"]}["code generation"]
    least, most = 0.98 * measured["generating"], 1.02 * measured["waiting"]
    for key in ("started_wall_s", "open_s", "waiting_s"):
        check_time(least <= phase[key] <= most, "%s: %r, measured: %r" % (key, phase, measured))
    check_time(phase["pct"] / 100 * got["wall_s"] >= least, "its share: %r" % phase)
    check(sum(row["pct"] for row in got["phases"]) < 101, "shares: %r" % got["phases"])
    now, then = got["projection"], more["projection"]
    check_time(then["wall_s"] > now["wall_s"] + 9 * least, "--grows has an effect: %r %r" % (now, then))
    check(then["phases"]["code generation"] > 5 * now["phases"]["code generation"], "projected")


@case
def without_an_id_the_level_with_the_work_counts():
    with tempfile.TemporaryDirectory() as directory:
        tasks = report(record(directory, "names")[0], "--json")["tasks"]
    equal("other levels", [(row["name"], row["level"], row["calls"]) for row in tasks["other_levels"]],
          [("check_batt", "outer", TASKS)])
    equal("tasks", tasks["count"], TASKS * PAIRS)
    check(all(task["dsl_s"] > 0 for task in tasks["list"]), "tasks have the DSL time")


@case
def without_an_id_the_time_tells_where_one_waits_at_once():
    with tempfile.TemporaryDirectory() as directory:
        tasks = report(record(directory, "alone")[0], "--json")["tasks"]
    equal("other levels", [(row["name"], row["level"], row["calls"]) for row in tasks["other_levels"]],
          [("batt", "joined", TASKS * PAIRS)])
    equal("calls of each", [task["inner"] for task in tasks["list"]], [PAIRS] * TASKS)


@case
def one_number_of_processes():
    """The child that generates code is forked and then another program: one process."""
    with tempfile.TemporaryDirectory() as directory:
        got = report(record(directory, "ids")[0], "--json")
    for advice in got["advice"]:
        if "importing modules, in " in advice["what"]:
            count = int(advice["what"].split("importing modules, in ")[1].split()[0])
            equal("processes in the advice", count, got["processes"])
            return
    check(False, "no advice on imports: %r" % got["advice"])


main()
