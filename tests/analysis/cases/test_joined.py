# SPDX-License-Identifier: MIT
"""Generated pipelines of many processes: check_batt() in two threads of the parent waits, batt()
runs in every worker for each of them. test_joined.py BATTPROF"""
import json
import os
import resource
import subprocess
import sys
import tempfile

import make_bp

BATTPROF = os.path.abspath(sys.argv[1])
WORKERS = 24
# Times as many tasks; a report of them may take twice that. Comparing all with all takes the square.
MORE = 8
NOISE = 3  # the exit status if times alone are wrong, as in tests/harness/__init__.py


def make_task(name, task_id, start, length, waits, thread=0):
    inner = "wait_f" if waits else "dsl_f"
    return {"path": [name], "id": task_id, "start": start, "end": start + length, "part": length,
            "cpu": 0 if waits else length, "wait": 0.9 * length if waits else 0, "thread": thread,
            "nodes": [[[name], 1, 0.1 * length], [[name, inner], 1, 0.9 * length]]}


def make_thread(tid, name, tasks, end):
    length = sum(task["end"] - task["start"] for task in tasks)
    inner = tasks[0]["nodes"][1][0][1]
    return {"tid": tid, "name": "made", "start": 0, "end": end, "v": end / WORKERS,
            "root": {"self": end - length, "children": [
                {"func": name, "self": 0.1 * length, "calls": [[len(tasks), 1]], "children": [
                    {"func": inner, "self": 0.9 * length, "calls": [[len(tasks), 1]]}]}]}}


def make_process(pid, name, threads, end):
    return {"pid": pid, "parent_pid": 1 if pid == 7 else 7, "command": "made", "start": 0,
            "end": end, "end_v": end / WORKERS, "last": end,
            "objects": [{"path": "/usr/bin/made", "main": True},
                        {"path": "/usr/lib/libdsl.so", "hooked": True, "exports": 1}],
            "funcs": [[name, "made", "call", {"task": True}], ["dsl_f", "libdsl.so"],
                      ["wait_f", "made", "wait"]],
            "threads": [make_thread(10 * pid + i, name, tasks, end)
                        for i, tasks in enumerate(threads)],
            "tasks": [task for tasks in threads for task in tasks],
            "wall_page": {"start": 0, "first_join": 0, "time": end, "v": end / WORKERS}}


def generate(count, ids, overlap):
    """One task every 10 ms, its pieces from 1 to 8 ms; with `overlap` two tasks wait at once."""
    outer = [make_task("check_batt", "t%d" % i if ids else "", 10.0 * i, 19 if overlap else 9, True,
                       i % 2) for i in range(count)]
    inner = [make_task("batt", "t%d" % i if ids else "", 10.0 * i + 1, 7, False)
             for i in range(count)]
    end = 10.0 * count + 20
    files = {"battprof.7.bp": make_process(7, "check_batt", [outer[0::2], outer[1::2]], end)}
    for pid in range(100, 100 + WORKERS):
        files["battprof.%d.bp" % pid] = make_process(pid, "batt", [inner], end)
    return {"files": files}


def cpu_s():
    """Of children. The sum is exact, the parts are estimated by the kernel."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(directory, *options):
    """The report, and the CPU time it took."""
    before = cpu_s()
    done = subprocess.run([BATTPROF, "report", directory] + list(options), check=True, timeout=120,
                          stdout=subprocess.PIPE, universal_newlines=True)
    return done.stdout, cpu_s() - before


def check_levels(ids, overlap, count, level):
    with tempfile.TemporaryDirectory() as directory:
        make_bp.write_all(generate(50, ids, overlap), directory)
        tasks = json.loads(report(directory, "--json")[0])["tasks"]
    got = tasks["count"], [(row["name"], row["level"]) for row in tasks["other_levels"]]
    if got != (count, [level]):
        raise SystemExit("ids %s, overlap %s: %r" % (ids, overlap, got))


def check_cause():
    """A task that waits long for a worker is slow by what the worker did."""
    outer = [make_task("check_batt", "t%d" % i, 10.0 * i, 300 if i == 49 else 9, True)
             for i in range(50)]
    inner = [make_task("batt", "t%d" % i, 10.0 * i + 1, 290 if i == 49 else 7, False)
             for i in range(50)]
    files = {"battprof.7.bp": make_process(7, "check_batt", [outer], 800),
             "battprof.100.bp": make_process(100, "batt", [inner], 800)}
    with tempfile.TemporaryDirectory() as directory:
        make_bp.write_all({"files": files}, directory)
        advice = json.loads(report(directory, "--json")[0])["advice"]
    got = [row["what"] for row in advice if "is an outlier" in row["what"]]
    if len(got) != 1 or " of it in dsl_f (usually " not in got[0]:
        raise SystemExit("the cause of a task in a worker: %r" % got)


def check_growth(ids, overlap):
    took = []
    for count in (300, 300 * MORE):
        with tempfile.TemporaryDirectory() as directory:
            make_bp.write_all(generate(count, ids, overlap), directory)
            took.append(min(report(directory, "--by", "task")[1] for _ in range(5)))
    print("ids %s, overlap %s: %.0f ms of CPU time, of %d times the tasks %.0f ms"
          % (ids, overlap, 1e3 * took[0], MORE, 1e3 * took[1]))
    if took[1] > 2 * MORE * took[0]:
        print("the time grows faster than the tasks")
        sys.exit(NOISE)


def main():
    check_levels(True, True, 50, ("batt", "joined"))
    check_levels(False, False, 50, ("batt", "joined"))
    check_levels(False, True, 50 * WORKERS, ("check_batt", "outer"))
    check_cause()
    for ids, overlap in ((True, True), (False, False), (False, True)):
        check_growth(ids, overlap)


main()
