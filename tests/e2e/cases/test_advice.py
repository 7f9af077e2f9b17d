# SPDX-License-Identifier: MIT
"""Advice: each planted problem comes first in its run, with the saving that fixing it measures.
tests/cuda has the one about copies."""
import json
import os
import statistics
import subprocess

from harness import BIN, CMD, case, check, equal, main, new_dir, subject, timed

RUN_BATT = os.path.join(BIN, "..", "..", "dsl", "run_batt")


def calm():
    """Real-time priority where that is allowed: neighbours would make runs incomparable."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20))
    except OSError:
        pass


def record(*arguments):
    directory = new_dir()
    done = subprocess.run([CMD, "run", "-q", *arguments], cwd=directory, capture_output=True,
                          preexec_fn=calm, check=False)
    text = subprocess.run([CMD, "report", "--json"], cwd=directory, capture_output=True,
                          check=False).stdout
    return done.returncode, json.loads(text)


def program(report):
    """Seconds without the profiler's own cost, of which more calls have more."""
    return report["wall_s"] - report["overhead_wall_s"]


def best(*arguments):
    """Of three: what others on the machine did is in none of them, or only in one."""
    return min((record(*arguments)[1] for _ in range(3)), key=program)


def first_advice(planted, words):
    first = next((row for row in planted["advice"] if row["level"] != "warning"), None)
    check(first and words in first["what"], "first: %r" % first)
    return first["saves_s"]


def compare(planted, fixed, words):
    saves = first_advice(planted, words)
    measured = program(planted) - program(fixed)
    check(abs(saves - measured) <= 0.1 * measured,
          "saves %.4f s, fixing it saved %.4f s" % (saves, measured))
    check(all(words not in row["what"] for row in fixed["advice"]), "still there when fixed")


def lost(report):
    """The part of a run during which it had no CPU."""
    return max(0, 1 - report["cpu_s"] / report["wall_s"])


def slowness(report):
    """Seconds of one call of each function of libdsltwice: the same work in every run, so that a
    machine that is 20 % slower for one of two runs does not pass for a saving."""
    calls = [row for row in report["functions"] if row["category"] == "dsl"]
    equal("functions", len(calls), 8)
    return sum(row["self_s"] / row["calls"] for row in calls)


def compare_pairs(planted, fixed, words):
    """Nine pairs, of which the five that were disturbed least count; their median."""
    pairs = sorted(((record(*planted)[1], record(*fixed)[1]) for _ in range(9)),
                   key=lambda pair: lost(pair[0]) + lost(pair[1]))[:5]
    ratios = []
    for bad, good in pairs:
        measured = program(bad) - program(good) * slowness(bad) / slowness(good)
        ratios.append(first_advice(bad, words) / measured)
        check(all(words not in row["what"] for row in good["advice"]), "still there when fixed")
    check(abs(statistics.median(ratios) - 1) <= 0.1,
          "promised by what fixing it saved: " + ", ".join("%.3f" % ratio for ratio in ratios))


@timed
def logging():
    work = [subject(RUN_BATT), "-c", "6"]
    compare(best("--", *work, "--log=x.log"), best("--", *work), "logging: ")


@timed
def outliers():
    work = ["--task", "batt(1)", "--", subject("e2e_planted")]
    compare_pairs([*work, "30", "1"], [*work, "1", "1"], "of the time of all; task13 took")


@timed
def repeated_generation():
    work = ["--task", "expand_solver(1)", "--", subject("e2e_planted")]
    compare_pairs([*work, "1", "6"], [*work, "1", "1"],
                  "expand_solver generates code 120 times for 20 inputs")


@case
def a_run_that_failed():
    status, report = record("--", "sh", "-c", "exit 3")
    equal("status", status, 3)
    equal("advice", [(row["level"], row["what"]) for row in report["advice"]],
          [("warning", "the program failed with status 3")])


main()
