# SPDX-License-Identifier: MIT
"""Short functions: every call is counted, some are timed, and what the others took is estimated."""
import statistics

from harness import *

CALLS = 60000
PAIRS = 3
SMALL = 0.01  # part of the wall below which a time is not compared
EXACT = {"BATTPROF_EXACT": "1"}
# What two runs may differ by on a busy machine, beside the errors that they say
NOISE = 0.1
BUSY = 0.1  # part of the wall without a CPU from which on little is short


def run_short(env=None, more=(), status=0):
    run = execute([subject("e2e_short"), str(CALLS)] + list(more), True, env=env)
    equal("status", run.status, status)
    truth = {}
    for line in run.stdout.splitlines():
        name, rounds, times = line.split()
        truth[name.decode()] = int(rounds), int(times)
    return truth, run.report()


def row(report, name):
    return next(f for f in report["functions"] if f["name"] == name)


def lost_s(report):
    """Time without a CPU, which may be in any call."""
    return max(report["wall_s"] - report["cpu_s"], 0)


def check_facts(truth, report):
    for name, (_, times) in truth.items():
        equal("calls of " + name, row(report, name)["calls"], times)
        equal("aborted calls of " + name, row(report, name)["aborted"], 0)
    sums_to("split of the wall", sum(part["s"] for part in report["split"].values()),
            report["wall_s"], 1e-3, 1e-4)


@timed
def counts_and_sums():
    truth, report = run_short()
    check_facts(truth, report)
    some = 0.25 if lost_s(report) < BUSY * report["wall_s"] else 0  # interrupted calls are not short
    for name in ("short_empty", "short_steady", "short_outer"):
        untimed, made = row(report, name).get("untimed", 0), row(report, name)["calls"]
        check_time(untimed >= some * made, "%s: of %d calls %d are untimed" % (name, made, untimed))
    equal("untimed calls of short_milli", row(report, "short_milli").get("untimed"), None)
    if row(report, "short_steady").get("untimed", 0) > CALLS:
        check(any("estimates" in note for note in report["notes"]), "no note: %r" % report["notes"])


@timed
def named_by_dsl():
    """What --dsl names is flagged in the profile, and counted like the rest."""
    truth, report = run_short({"BATTPROF_DSL": "libdsl*"})
    check_facts(truth, report)
    check_time(sum(row(report, name).get("untimed", 0) for name in truth), "all calls are timed")


@case
def every_call_timed():
    for env in (EXACT, {"BATTPROF_SAMPLE": "0"}, {"BATTPROF_CLOCK": "monotonic"}):
        truth, report = run_short(env)
        check_facts(truth, report)
        for name in truth:
            equal("untimed calls of %s with %r" % (name, env), row(report, name).get("untimed"), None)


@case
def killed():
    truth, report = run_short(more=["die"], status=-signal.SIGKILL)
    for name, (_, times) in truth.items():
        equal("calls of " + name, row(report, name)["calls"], times)
    self_s = sum(f["self_s"] for f in report["functions"])
    sums_to("self times and overhead", self_s + report["overhead_s"], report["thread_s"], 1e-6)


def check_pair(truth, report, exact):
    """Facts of two runs of the same calls: equal counts, and self times that sum to each thread's."""
    for run in (report, exact):
        check_facts(truth, run)
        self_s = sum(f["self_s"] for f in run["functions"])
        sums_to("self times and overhead", self_s + run["overhead_s"], run["thread_s"], 1e-6)
    names = {f["name"]: f["calls"] for f in exact["functions"] if f["name"] in truth}
    equal("calls", {f["name"]: f["calls"] for f in report["functions"] if f["name"] in truth}, names)


@timed
def estimates_are_true():
    """As in runs in which all calls are timed, in turn: functions with 1 % of the wall or more."""
    pairs = []
    for _ in range(PAIRS):
        truth, report = run_short()
        exact = run_short(EXACT)[1]
        check_pair(truth, report, exact)
        pairs.append((report, exact))
    lost = statistics.median(lost_s(report) + lost_s(exact) for report, exact in pairs)
    for name in truth:
        got, want = ([row(pair[i], name) for pair in pairs] for i in (0, 1))
        error, want_error, wall = (statistics.median(values) for values in (
            [f["self_error_s"] for f in got], [f["self_error_s"] for f in want],
            [pair[1]["wall_s"] for pair in pairs]))
        for time in ("self_s", "total_s"):
            middle = [statistics.median(f[time] for f in rows) for rows in (got, want)]
            if middle[1] >= SMALL * wall:
                close_to("%s of %s" % (time, name), *middle, NOISE, error + want_error + lost)


main()
