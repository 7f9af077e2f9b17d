# SPDX-License-Identifier: MIT
"""The end of tools/check: logs of failed tests, reasons of skipped ones, and the one line that
counts them all. Reads meson's logs: one JSON object a line for each test. A test that a later log
has once more counts as it ended there. The line before the last names what was tried more than once
because times were wrong.

check_summary.py BROKEN_STEPS LOG...    the summary
check_summary.py --failed-by-noise LOG  the names of tests that failed by times alone, for meson
"""
import json
import os
import re
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
NOISE = 3  # the status of such a test: tests/harness/__init__.py


def load(path):
    """The tests of one build directory; a log that is not there is one failed test."""
    build = path.split(os.sep)[0]
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            tests = [json.loads(line) for line in log if line.strip()]
    except (OSError, ValueError) as error:
        return [{"name": f"{build}: {error}", "result": "ERROR"}]
    for test in tests:
        test["name"] = f"{build}: {test['name']}"
    return tests


def failed_by_noise(path):
    """meson writes "project:suite+suite / test", and ERROR or TIMEOUT for what has no status."""
    for test in load(path):
        if test["result"] == "FAIL" and test.get("returncode") == NOISE:
            print(test["name"].partition(" / ")[2])


def run_again(tests):
    """Each test once, as it ended last; and those that ended otherwise before."""
    last = {test["name"]: test for test in tests}
    changed = [test for test in tests if test is not last[test["name"]]]
    return list(last.values()), changed


def retries(tests, before):
    """What was tried again: cases by their tests, which say so, and whole tests."""
    said = [name for test in before + tests
            for name in re.findall(r"^ *retry (\S+): ", test.get("stdout") or "", re.M)]
    return said + [test["name"].partition(" / ")[2] or test["name"] for test in before]


def print_retries(names):
    print(f"\n{len(names)} retries of times" + (": " if names else "") + ", ".join(names))


def print_failed(test, lines=80):
    print(f"\n--- {test['name']}: {test['result']} (status {test.get('returncode', '?')})")
    for stream in ("stdout", "stderr"):
        for line in (test.get(stream) or "").splitlines()[-lines:]:
            print("    " + line)


def skip_reason(test):
    output = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
    words = [line.strip() for line in output.splitlines() if line.strip()]
    return words[-1] if words else "no reason given"


def main():
    if sys.argv[1] == "--failed-by-noise":
        return failed_by_noise(sys.argv[2])
    broken_steps = int(sys.argv[1])
    tests, before = run_again([test for path in sys.argv[2:] for test in load(path)])
    skipped = [test for test in tests if test["result"] == "SKIP"]
    passed = [test for test in tests if test["result"] in PASSED]
    failed = [test for test in tests if test not in skipped and test not in passed]
    for test in before + failed:
        print_failed(test)
    if before:
        print("\nRun once more by itself:")
    for test in before:
        now = next(t["result"] for t in tests if t["name"] == test["name"])
        print(f"  {test['name']}: {test['result']}, then {now}")
    if skipped:
        print("\nSkipped:")
    for test in skipped:
        print(f"  {test['name']}: {skip_reason(test)}")
    if failed:
        print("\nFailed:")
    for test in failed:
        print(f"  {test['name']}: {test['result']}")
    failures = len(failed) + broken_steps
    print_retries(retries(tests, before))
    print(f"{len(passed)} passed, {failures} failed, {len(skipped)} skipped")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
