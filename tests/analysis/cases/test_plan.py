# SPDX-License-Identifier: MIT
"""Real runs of tasks whose costs are planned: outliers, projection, many processes."""
import json
import os
import statistics
import subprocess
import tempfile

from harness import CMD, case, close_to, equal, main, need_quiet, subject, sums_to, timed

RULES = ["--task", "batt(1)", "--phase", "loading=load_data"]


def shield():
    """Where it is allowed: other programs must not lengthen tasks whose time is planned."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(20))
    except PermissionError:
        pass


def record(directory, name, *plan):
    out = os.path.join(directory, name)
    subprocess.run([CMD, "run", "-q", "-o", out] + RULES + ["--", subject("plan")] +
                   [str(word) for word in plan], check=True, timeout=120, preexec_fn=shield)
    return out


def report(path, *options):
    done = subprocess.run([CMD, "report", "--json", path] + list(options), check=True,
                          stdout=subprocess.PIPE, timeout=60)
    return json.loads(done.stdout)


def check_sums(got):
    parts = sum(part["s"] for part in got["categories"].values())
    sums_to("categories", parts, got["wall_s"] - got["unsplit_s"], 0.005)
    for key, rows in (("self_s", got["functions"]), ("threads_lifetime_s", got["process_list"])):
        sums = sum(row[key] for row in rows) + (got["overhead_s"] if key == "self_s" else 0)
        sums_to("sum of " + key, sums, got["thread_s"], 0.001)
    for task in got["tasks"]["list"]:
        parts = sum(task[key] for key in ("dsl_s", "framework_s", "transfer_s", "profiler_s"))
        sums_to("parts of task " + task["id"], parts, task["duration_s"], 0.001, 1e-6)


@timed
def outliers_are_those_planted():
    with tempfile.TemporaryDirectory() as directory:
        path = record(directory, "a", 20000, 1, 1, 60, 1000, 7, 31, 44)
        got, dropped = report(path), report(path, "--drop-outliers")
    check_sums(got)
    tasks = got["tasks"]
    equal("tasks", tasks["count"], 60)
    outliers = sorted(task["id"] for task in tasks["outliers"])
    need_quiet(outliers == ["0-31", "0-44", "0-7"], "outliers: %r" % outliers)
    close_to("median", tasks["median_s"], 2e-3, 0.05)
    equal("first reason", {task["functions"][0]["name"] for task in tasks["outliers"]}, {"dsl_leaf"})
    phase = {row["name"]: row for row in got["phases"]}["loading"]
    close_to("loading", phase["thread_s"], 20e-3, 0.1)
    check_sums(dropped)
    equal("tasks left", dropped["tasks"]["count"], 57)
    sums_to("wall left", dropped["wall_s"], got["wall_s"] - tasks["outlier_wall_s"], 0.01)
    leaf = [{row["name"]: row for row in one["functions"]}["dsl_leaf"]["calls"]
            for one in (got, dropped)]
    equal("calls dropped", leaf[0] - leaf[1], 3 * 15 * 2)


@timed
def ten_tasks_tell_of_four_hundred():
    """Within 5 %. Other programs can only lengthen a run, so the least counts; they may
    lengthen or shorten what is projected from one, so its median does."""
    for threads in (1, 2):
        projected, real = [], []
        with tempfile.TemporaryDirectory() as directory:
            for i in range(5):
                few = report(record(directory, "few%d" % i, 20000, 1, threads, 10, 500), "--scale",
                             "400")
                many = report(record(directory, "many%d" % i, 20000, 1, threads, 400, 500))
                projected.append(few["projection"]["wall_s"])
                real.append(many["wall_s"])
        close_to("projected, %d threads (%s for %s)" % (threads, projected, real),
                 statistics.median(projected), min(real), 0.05)


@case
def many_processes_make_one_report():
    with tempfile.TemporaryDirectory() as directory:
        path = record(directory, "a", 0, 4, 2, 400, 0)
        got = report(path)
    equal("processes", got["processes"], 4)
    equal("tasks", got["tasks"]["count"], 1600)
    ids = sorted(task["id"] for task in got["tasks"]["list"])
    equal("ids", ids, sorted("%d-%d" % (i, k) for i in range(4) for k in range(400)))
    check_sums(got)
    functions = {row["name"]: row for row in got["functions"]}
    equal("calls", functions["dsl_step"]["calls"], 1600)
    equal("tasks with it", functions["dsl_step"]["tasks"], 1600)
    for name, part in got["categories"].items():
        if name != "profiler":
            sums_to(name, sum(row["thread_s"][name] for row in got["process_list"]),
                    part["thread_s"], 0.001, 1e-6)


main()
