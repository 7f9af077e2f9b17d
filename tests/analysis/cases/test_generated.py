# SPDX-License-Identifier: MIT
"""Generated profiles with known tasks: every figure of the report against one made here.
test_generated.py BATTPROF"""
import csv
import io
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

import make_bp

BATTPROF = os.path.abspath(sys.argv[1])


def quantile(values, q):
    """As battprof: the median lies between two, the others are values."""
    if q == .5:
        return statistics.median(values)
    return values[max(math.ceil(q * len(values) - 1e-9), 1) - 1]


def near(what, got, want, part=1e-6):
    if not math.isclose(got, want, rel_tol=part, abs_tol=1e-9):
        raise SystemExit("%s: got %r, want %r" % (what, got, want))


def generate(rng, count, width, planted):
    """One thread: 100 ms before the first task, 1 ms between tasks, 50 ms after the last."""
    at, tasks, sums = 100.0, [], [0.0, 0.0, 0]
    for i in range(count):
        dsl = round(rng.lognormvariate(1, width), 4) * (40 if i in planted else 1)
        own = round(0.1 * dsl, 4)
        calls = rng.randint(1, 50)
        tasks.append({"path": ["batt"], "id": "t%d" % i, "start": at, "end": at + dsl + own,
                      "part": dsl + own, "cpu": dsl, "samples": 3,
                      "nodes": [[["batt"], 1, own], [["batt", "dsl_f"], calls, dsl]]})
        sums = [sums[0] + dsl, sums[1] + own, sums[2] + calls]
        at += dsl + own + 1
    end = at - 1 + 50
    root = {"self": end - sums[0] - sums[1], "children": [
        {"func": "batt", "self": sums[1], "calls": [[count, 1]], "children": [
            {"func": "dsl_f", "self": sums[0], "calls": [[sums[2], 0.1]]}]}]}
    profile = {
        "pid": 7, "command": "generated", "start": 0, "end": end, "end_v": end, "last": end,
        "objects": [{"path": "/usr/bin/generated", "main": True},
                    {"path": "/usr/lib/libdsl.so", "hooked": True, "exports": 1}],
        "funcs": [["batt", "generated", "call", {"task": True}], ["dsl_f", "libdsl.so"]],
        "threads": [{"tid": 7, "name": "generated", "start": 0, "end": end, "v": end, "cpu": end,
                     "root": root}],
        "tasks": tasks, "wall_page": {"start": 0, "first_join": 0, "time": end, "v": end}}
    return {"files": {"run.bp": profile}}, tasks


def run(directory, *options):
    done = subprocess.run([BATTPROF, "report", "run.bp"] + list(options), cwd=directory, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.stdout.decode()


def check_tasks(got, tasks, planted):
    times = sorted((task["end"] - task["start"]) / 1e3 for task in tasks)
    for key, q in (("min_s", 0), ("median_s", .5), ("p75_s", .75), ("p90_s", .9), ("p95_s", .95),
                   ("p99_s", .99), ("max_s", 1)):
        near(key, got["tasks"][key], quantile(times, q))
    near("mean_s", got["tasks"]["mean_s"], statistics.fmean(times))
    median = statistics.median(times)
    near("mad_s", got["tasks"]["mad_s"], statistics.median(abs(t - median) for t in times))
    near("limit", got["tasks"]["limit_p95_s"], 1.2 * quantile(times, .95))
    found = sorted(task["id"] for task in got["tasks"]["outliers"])
    if found != sorted("t%d" % i for i in planted):
        raise SystemExit("outliers: got %r, planted %r" % (found, planted))
    if sum(bucket["count"] for bucket in got["tasks"]["histogram"]) != len(tasks):
        raise SystemExit("the histogram lacks tasks")


def check_projection(got, tasks):
    """100 ms before and 50 after; every task its time and 1 ms, but before the first."""
    times = [(task["end"] - task["start"]) / 1e3 for task in tasks]
    projection = got["projection"]
    near("once", projection["once_s"], 0.15, 1e-4)
    near("wall at 400", projection["wall_s"], 0.15 + 400 * statistics.fmean(times) + 0.399, 1e-4)
    near("categories", sum(part["s"] for part in projection["categories"].values()),
         projection["wall_s"])


def check_dropped(got, tasks, planted):
    kept = [task for i, task in enumerate(tasks) if i not in planted]
    dsl = sum(task["nodes"][1][2] for task in kept) / 1e3
    calls = sum(task["nodes"][1][1] for task in kept)
    row = [f for f in got["functions"] if f["name"] == "dsl_f"][0]
    near("dsl without outliers", got["categories"]["dsl"]["s"], dsl, 1e-5)
    near("self without outliers", row["self_s"], dsl, 1e-5)
    if (row["calls"], row["tasks"]) != (calls, len(kept)):
        raise SystemExit("calls and tasks without outliers: %r" % row)
    near("candidate", got["candidates"]["list"][0]["pct"], 100 * dsl / got["wall_s"], 1e-5)


def check_csv(directory, got):
    rows = list(csv.DictReader(io.StringIO(run(directory, "--by", "task", "--csv"))))
    if [row["id"] for row in rows] != [task["id"] for task in got["tasks"]["list"]]:
        raise SystemExit("the CSV has other tasks than the JSON")
    for row, task in zip(rows, got["tasks"]["list"]):
        near("duration in CSV", float(row["duration_s"]), task["duration_s"], 1e-8)
    run(directory, "--by", "function", "--csv", "-o", "out.csv")
    with open(os.path.join(directory, "out.csv")) as file:
        names = [row["name"] for row in csv.DictReader(file)]
    if names != [row["name"] for row in got["functions"]]:
        raise SystemExit("out.csv has other functions than the JSON: %r" % names)
    run(directory, "--save")
    saved = [name for name in os.listdir(directory) if name.startswith("battprof_report_2")]
    if len(saved) != 1 or not saved[0].endswith(".txt"):
        raise SystemExit("--save wrote %r" % saved)


def main():
    rng = random.Random(4711)
    for count, width, planted in ((300, 0.15, (3, 77, 78, 299)), (40, 0.3, (11,)), (25, 0.05, ()),
                                  (5, 0.1, ())):
        description, tasks = generate(rng, count, width, planted)
        with tempfile.TemporaryDirectory() as directory:
            make_bp.write_all(description, directory)
            got = json.loads(run(directory, "--json", "--scale", "400"))
            check_tasks(got, tasks, planted)
            check_projection(got, tasks)
            dropped = json.loads(run(directory, "--json", "--drop-outliers"))
            check_dropped(dropped, tasks, planted)
            check_csv(directory, got)
            if "no match for 'nosuch'" not in run(directory, "--search", "nosuch"):
                raise SystemExit("a search without a match does not say so")


if __name__ == "__main__":
    main()
