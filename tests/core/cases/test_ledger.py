# SPDX-License-Identifier: MIT
"""The ledger against programs that log what they did when (subjects/ledger.c).

From that log alone the case computes thread-seconds by category and the wall split as the design
has it: at every instant the wall belongs in equal parts to the threads that are busy; a thread's
categories share its part in proportion. Every category within 1 %, thread sums within 0.1 % of
the lifetime, the split within 0.5 % of the wall. SLACK_S is for what the log cannot know: loading,
thread creation, the way from the last note to the end. On a crowded machine that takes longer, but
no longer than the program was seen to run from outside. START_S is for a new thread that finds all
processors taken before its first note.
"""
import os

from harness import *

PART = 0.01
SLACK_S = 0.008
START_S = 0.006


def intervals(run):
    found = []
    with open(os.path.join(run.dir, "truth"), "rb") as f:
        data = f.read()
    used = int.from_bytes(data[:8], "little")
    for line in data[8:8 + used].decode().splitlines():
        pid, thread, kind, begin, end = line.split()
        found.append(((pid, thread), kind, float(begin), float(end)))
    return found


def expected(log):
    """Thread-seconds by kind, the wall split by kind, idle and wall, all from the log."""
    seconds = {"dsl": 0.0, "run": 0.0, "wait": 0.0}
    for _, kind, begin, end in log:
        seconds[kind] += end - begin
    first, last = min(i[2] for i in log), max(i[3] for i in log)
    edges = sorted({t for i in log for t in i[2:4]})
    part, idle = {}, 0.0
    for begin, end in zip(edges, edges[1:]):
        busy = [who for who, kind, b, e in log if kind != "wait" and b <= begin and e >= end]
        if not busy:
            idle += end - begin
        for who in busy:
            part[who] = part.get(who, 0.0) + (end - begin) / len(busy)
    split = {"dsl": 0.0, "run": 0.0}
    for who, share in part.items():
        own = {k: sum(e - b for w, kind, b, e in log if w == who and kind == k) for k in split}
        for kind in split:
            split[kind] += share * own[kind] / sum(own.values())
    return seconds, split, idle, last - first


def with_starts(log, report):
    """A forked process may lose its processor before its first note: it was busy since it began."""
    more = []
    for row in report["process_list"]:
        own = [i for i in log if i[0] == (str(row["process"]), "0")]
        if row["role"] == "forked worker" and own:
            begin = min(i[2] for i in own)
            noted = max(i[3] for i in own) - begin
            before = max(0.0, row["threads_lifetime_s"] - noted)
            more.append((own[0][0], "run", begin - before, begin))
    return log + more


def adds_up(report):
    check(report["thread_list"], "no threads in the report")
    for row in report["thread_list"]:
        sums_to("self times of thread %r" % row.get("tid"), row["sum_s"], row["lifetime_s"],
                0.001, 1e-6)
    parts = report["categories"].values()  # the profiler's own cost is one of them
    sums_to("sum of the wall split", sum(part["s"] for part in parts), report["wall_s"], 0.005)
    sums_to("sum of thread-seconds", sum(part["thread_s"] for part in parts), report["thread_s"],
            0.001)
    check_time(report["overhead_s"] < 0.02 * report["thread_s"], "own cost %r of %r thread-seconds"
               % (report["overhead_s"], report["thread_s"]))


def compare(run):
    report = run.report()
    log = with_starts(intervals(run), report)
    seconds, split, idle, wall = expected(log)
    threads = len({who for who, *_ in log})
    around = report["wall_s"] - wall  # before the first note and after the last
    slack = SLACK_S + max(0, around)
    slack += START_S * threads if threads > len(os.sched_getaffinity(0)) else 0
    check_time(-PART * wall < around < max(run.took - wall, SLACK_S), "wall_s: got %.6f, logged %.6f, "
               "seen from outside %.6f" % (report["wall_s"], wall, run.took))
    close_to("dsl thread-seconds", report["categories"]["dsl"]["thread_s"], seconds["dsl"], PART)
    close_to("waiting_s", report["framework"]["waiting_s"], seconds["wait"], PART, slack)
    close_to("running_s", report["framework"]["running_s"], seconds["run"], PART, slack)
    close_to("dsl wall", report["categories"]["dsl"]["s"], split["dsl"], PART, 0.002)
    close_to("idle_s", report["idle_s"], idle, PART, slack)
    close_to("framework wall", report["categories"]["framework"]["s"], split["run"] + idle, PART,
             slack)
    adds_up(report)
    return report


def ledger(mode):
    def go():
        compare(pair([subject("e2e_ledger"), mode], expect=0))
    go.__name__ = mode
    timed(go)


for mode in ("single", "mixed", "joins", "pool", "blend", "workers"):
    ledger(mode)


@timed
def shell_around():
    """The shell waits: its waiting is in thread-seconds, the wall belongs to the program."""
    run = pair(["sh", "-c", subject("e2e_ledger") + " single; :"], how="run", expect=0)
    report = run.report()
    seconds, split, idle, wall = expected(intervals(run))
    close_to("dsl wall", report["categories"]["dsl"]["s"], split["dsl"], PART)
    close_to("idle_s", report["idle_s"], idle, PART, 0.012)
    around = report["wall_s"] - wall
    check_time(-PART * wall < around < run.took - wall, "wall_s: got %.6f, logged %.6f, seen from "
               "outside %.6f" % (report["wall_s"], wall, run.took))
    close_to("waiting_s", report["framework"]["waiting_s"], seconds["wait"] + wall, PART,
             0.03 + max(0, around))
    adds_up(report)


@timed
def workers_under_battprof_run():
    run = pair([subject("e2e_ledger"), "workers"], how="run", expect=0)
    report = run.report()
    seconds, split, idle, wall = expected(with_starts(intervals(run), report))
    close_to("dsl wall", report["categories"]["dsl"]["s"], split["dsl"], PART, 0.002)
    check_time(wall * (1 - PART) < report["wall_s"] < run.took,
               "wall_s: got %.6f, logged %.6f, seen from outside %.6f"
               % (report["wall_s"], wall, run.took))
    adds_up(report)


def start_costs(count):
    """Own cost of each of so many programs that start at once on one processor."""
    script = "for i in $(seq %d); do %s callee 1 0 & done; wait" % (count, subject("e2e_process"))
    processor = {min(os.sched_getaffinity(0))}
    run = execute(["sh", "-c", script], True, how="run",
                  preexec_fn=lambda: os.sched_setaffinity(0, processor))
    equal("status", run.status, 0)
    costs = [row["overhead_s"] for row in run.report()["process_list"]
             if row["command"].startswith(subject("e2e_process"))]
    equal("programs", len(costs), count)
    return sorted(costs)


@timed
def starting_in_a_crowd():
    """To wait for a processor in our constructor is no cost of ours."""
    alone, crowd = min(start_costs(1) for _ in range(3))[0], start_costs(12)
    print("   own cost %.2f ms, in a crowd %.2f, at most %.2f" %
          (1e3 * alone, 1e3 * crowd[6], 1e3 * crowd[-1]))
    check(crowd[0] > 0, "no own cost: %r" % crowd)
    check_time(crowd[6] < 4 * alone, "own cost %.6f, in a crowd %.6f" % (alone, crowd[6]))


@timed
def killed_worker_leaves_the_wall():
    """A worker that dies busy must not take its part of the wall for ever after."""
    script = ("%s killme & victim=$!; sleep 0.3; kill -9 $victim; wait $victim 2>/dev/null; %s "
              "single" % (subject("e2e_ledger"), subject("e2e_ledger")))
    run = execute(["sh", "-c", script], True, how="run")
    equal("status", run.status, 0)
    report = run.report()
    seconds, split, idle, wall = expected(intervals(run))
    spun = report["categories"]["dsl"]["s"] - split["dsl"]
    check_time(0.2 < spun < 0.4, "the killed worker has %.3f s of the wall, want about 0.3" % spun)
    close_to("idle_s", report["idle_s"], idle, PART, 0.02)
    adds_up(report)


main()
