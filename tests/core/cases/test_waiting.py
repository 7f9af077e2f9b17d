# SPDX-License-Identifier: MIT
"""Blocking calls are waiting, calls on regular files are I/O: each named, each with its time."""
from harness import *


def truth(run):
    times = {}
    for line in run.text("truth").splitlines():
        kind, name, seconds = line.split()
        times[kind, name] = times.get((kind, name), 0) + float(seconds)
    return times


def waits(mode):
    def go():
        run = pair([subject("e2e_waits"), mode], expect=0)
        report = run.report()
        total = 0
        for (kind, name), seconds in truth(run).items():
            total += seconds
            found = rows(report, name)
            check(found, "%s is not in the report" % name)
            # The helpers' sleeps are raw system calls; joins and sub-processes add little.
            self_s = sum(row["self_s"] for row in found)
            close_to(name, self_s, seconds, 0.05, 0.004)
            for row in found:
                equal("category of " + name, row["category"], "framework")
        close_to("waiting_s", report["framework"]["waiting_s"], total, 0.03, 0.01)
        check_time(report["framework"]["io_s"] < 0.01, "io_s %r" % report["framework"]["io_s"])
    go.__name__ = mode
    timed(go)


for mode in ("locks", "sleeping", "polling", "signals", "children"):
    waits(mode)


@timed
def files():
    run = pair([subject("e2e_waits"), "files"], expect=0)
    report = run.report()
    times = truth(run)
    for (kind, name), seconds in times.items():
        close_to(name, sum(row["self_s"] for row in rows(report, name)), seconds, 0.03, 0.003)
    close_to("io_s", report["framework"]["io_s"], sum(times.values()), 0.02, 0.005)
    check_time(report["framework"]["waiting_s"] < 0.01, "waiting_s %r"
               % report["framework"]["waiting_s"])
    check_time(report["idle_s"] < 0.01, "I/O counts as busy, but idle_s is %r" % report["idle_s"])


@timed
def pool():
    """What a worker waits while nobody has anything to do, and while another works."""
    run = pair([subject("e2e_pool")], expect=0)
    idle_s, worked_s = map(float, run.text("truth").split())
    threads = run.report()["thread_list"]
    equal("threads", len(threads), 3)
    need_quiet(all(row["all_wait_s"] is not None for row in threads), "waits have wide bounds")
    for row in threads:
        close_to("all_wait_s of %s" % row["tid"], row["all_wait_s"], idle_s, 0.05, 0.01)
    waiting = sorted(row["waiting_s"] - row["all_wait_s"] for row in threads)
    close_to("of the worker, while others were busy", waiting[0], 0, 0, 0.02)
    close_to("of the other, while others were busy", waiting[1], worked_s, 0.05, 0.02)


@case
def nothing_without_waits():
    run = pair([subject("e2e_waits"), "sleeping"], env={"BATTPROF_WAIT": "0"}, expect=0)
    report = run.report()
    equal("waiting_s", report["framework"]["waiting_s"], 0)
    equal("nanosleep", calls(report, "nanosleep"), 0)


main()
