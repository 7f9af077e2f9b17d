# SPDX-License-Identifier: MIT
"""Advice: each planted problem comes first in its run, with the saving that fixing it measures.
tests/cuda has the one about copies."""
import json
import os
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


def compare(planted, fixed, words):
    first = next((row for row in planted["advice"] if row["level"] != "warning"), None)
    check(first and words in first["what"], "first: %r" % first)
    measured = program(planted) - program(fixed)
    check(abs(first["saves_s"] - measured) <= 0.1 * measured,
          "saves %.4f s, fixing it saved %.4f s" % (first["saves_s"], measured))
    check(all(words not in row["what"] for row in fixed["advice"]), "still there when fixed")


@timed
def logging():
    work = [subject(RUN_BATT), "-c", "6"]
    compare(best("--", *work, "--log=x.log"), best("--", *work), "logging: ")


@timed
def outliers():
    work = ["--task", "batt(1)", "--", subject("e2e_planted")]
    compare(best(*work, "30", "1"), best(*work, "1", "1"), "1 of 20 tasks are outliers")


@timed
def repeated_generation():
    work = ["--task", "expand_solver(1)", "--", subject("e2e_planted")]
    compare(best(*work, "1", "6"), best(*work, "1", "1"),
            "expand_solver generates code 120 times for 20 inputs")


@case
def a_run_that_failed():
    status, report = record("--", "sh", "-c", "exit 3")
    equal("status", status, 3)
    equal("advice", [(row["level"], row["what"]) for row in report["advice"]],
          [("warning", "the program failed with status 3")])


main()
