# SPDX-License-Identifier: MIT
"""The harness itself, on small case files: a wrong fact fails at the first try, wrong times alone are
tried again and end with a status of their own; tools/check_summary.py counts the tries."""
import json
import os
import subprocess
import sys

from harness import NOISE, TRIES, case, check, equal, main, new_dir

ROOT = os.path.dirname(os.path.abspath(__file__)).rpartition("/tests/")[0]
SUMMARY = os.path.join(ROOT, "tools", "check_summary.py")
CASES = """
import harness
from harness import *
harness.PAUSE_S = 0
tried = []
@timed
def subject():
    tried.append(1)
    print("tried")
%s
main()
"""


# What others than the above try again.
PYTHONS = """
from harness import pythons
pythons.find = lambda: {(3, 11): "python3"}
def subject(check, where, python):
    print("tried")
%s
pythons.check_all(subject)
"""
COMMAND = """
from harness import command
command.time.sleep = lambda seconds: None
class Subject(command.CommandTest):
    @command.timed
    def test_subject(self):
        print("tried")
%s
command.main()
"""


def outcome(body, cases=CASES, inward=""):
    """Status, number of tries and output of a test with one case that is tried again."""
    path = os.path.join(new_dir(), "test_subject.py")
    with open(path, "w") as f:
        f.write(cases % "".join("    %s%s\n" % (inward, line) for line in body))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout.count("tried\n"), done.stdout


def last(output):
    return output.splitlines()[-1]


@case
def facts_are_not_tried_again():
    for fact in ('check(False, "a fact")', 'equal("calls", 11, 12)', 'sums_to("parts", 1, 2, 0.1)',
                 'raise Failure("still running after 20 s")', '{}["no key"]'):
        status, tries, output = outcome([fact])
        equal(fact, (status, tries), (1, 1))
        equal("said of " + fact, last(output), "0 passed, 0 of them after a retry, 1 failed, "
              "0 failed by times alone, 0 skipped")


@case
def times_are_tried_again():
    for wrong in ('check_time(False, "slow")', 'close_to("seconds", 1, 2, 0.1)',
                  'need_quiet(False, "slow")'):
        status, tries, output = outcome([wrong])
        equal(wrong, (status, tries), (NOISE, TRIES))
        equal("said of " + wrong, last(output), "0 passed, 0 of them after a retry, 0 failed, "
              "1 failed by times alone, 0 skipped")


@case
def a_retry_is_counted():
    status, tries, output = outcome(['check_time(len(tried) > 1, "slow")'])
    equal("status, tries", (status, tries), (0, 2))
    check(", try 2)" in output and "   retry subject: slow" in output, output)
    equal("said", last(output), "1 passed, 1 of them after a retry, 0 failed, "
          "0 failed by times alone, 0 skipped")


@case
def a_wrong_time_hides_no_fact():
    """Which comes first does not matter."""
    body = ['check_time(False, "slow")', 'equal("copies", 11, 12)']
    for lines in body, body[::-1]:
        status, tries, output = outcome(lines)
        equal("status, tries", (status, tries), (1, 1))
        check("copies: got 11, want 12" in output, output)


@case
def other_runners_obey():
    """Tests of all Pythons, and of the command."""
    for fact, time, *how in (
            ('check.that(False, "a fact")', 'check.time(False, "slow")', PYTHONS),
            ('self.assertEqual(11, 12)', 'self.assert_time(False, "slow")', COMMAND, "    ")):
        for body in ([fact], [time, fact], [fact, time]):
            equal("; ".join(body), outcome(body, *how)[:2], (1, 1))
        status, tries, output = outcome([time], *how)
        equal(time, (status, output.count("   retry ")), (NOISE, tries - 1))
        check(tries > 1, "a time is not tried again")


def files_with(pattern, *kinds):
    found = subprocess.run(["grep", "-rlE", *("--include=*." + kind for kind in kinds), pattern,
                            os.path.join(ROOT, "tests")], capture_output=True, text=True, check=False)
    names = {os.path.relpath(path, ROOT) for path in found.stdout.split()}
    return names - {"tests/core/cases/test_harness.py"}


@case
def only_the_helpers_raise_noise():
    """What else is noise would be a fact that is tried again."""
    equal("files", files_with(r"(raise|return) Noise\(", "py"), {"tests/harness/__init__.py"})
    equal("files", files_with(r"raise WrongTime", "py"), {"tests/harness/command.py"})


@case
def counts_are_no_times():
    """What is counted, or names something, is the same in every run: only facts may be asked of it."""
    helpers = r"(check_time|close_to|need_quiet|assert_time|check\.time)\("
    facts = r'("(calls|count|bytes|aborted|in_flight|exit_status)"\]|\.status\b|returncode)'
    equal("files", files_with(helpers + "[^#]*" + facts, "py"), set())


@case
def every_retry_is_said():
    """In the words that check_summary.py counts."""
    loops = {name for name in files_with(r"in range\(.*(TRIES|tries|count \+ 1)|; tries|tries <",
                                         "py", "c") if "bench" not in name}
    check(len(loops) >= 5, "found only %r" % loops)
    equal("that do not say so", loops - files_with("   retry ", "py", "c"), set())


def summary(*arguments, **logs):
    directory = new_dir()
    for name, tests in logs.items():
        os.makedirs(os.path.join(directory, "build"), exist_ok=True)
        with open(os.path.join(directory, "build", name), "w") as f:
            f.writelines(json.dumps(test) + "\n" for test in tests)
    done = subprocess.run([sys.executable, SUMMARY, *arguments,
                           *(os.path.join("build", name) for name in logs)], cwd=directory,
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines()


def test(name, status, output=""):
    return {"name": "battprof:e2e+timed / " + name, "returncode": status, "stdout": output,
            "result": "OK" if status == 0 else "SKIP" if status == 77 else "FAIL"}


@case
def the_summary_counts_retries():
    tests = [test("a", 0, "   retry pool: idle_s\nok   pool (1.0 s, try 2)\n"), test("b", NOISE),
             test("c", 1), test("d", 77, "SKIP all\n")]
    equal("run again", summary("--failed-by-noise", first=tests), (0, ["b"]))
    status, lines = summary("0", first=tests, second=[test("b", 0)])
    equal("status", status, 1)
    equal("end", lines[-2:], ["2 retries of times: pool, b", "2 passed, 1 failed, 1 skipped"])
    status, lines = summary("0", first=[test("a", 0)])
    equal("end", (status, lines[-2:]), (0, ["0 retries of times", "1 passed, 0 failed, 0 skipped"]))


main()
