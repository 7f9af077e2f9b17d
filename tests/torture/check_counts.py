#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_counts.py EXPECTED REPORT: does the profile know every call?

EXPECTED is what the torture program wrote (each function counts itself), REPORT the output of
`battprof report --json`. Every function of libtorture.so must have exactly its calls, none aborted;
one that ran and is missing is an error, and so is one that is reported and does not exist.
"""

import collections
import json
import os
import sys

SHOWN = 20  # errors printed before the rest is only counted


def reported_calls(report, library):
    calls, aborted = collections.Counter(), collections.Counter()
    for f in report["functions"]:
        if os.path.basename(f.get("library") or "") == library:
            calls[f["name"]] += f["calls"]
            aborted[f["name"]] += f.get("aborted", 0)
    return calls, aborted


def compare(expected, calls, aborted):
    for name, want in sorted(expected.items()):
        if want and name not in calls:
            yield "%s: never seen, was called %d times" % (name, want)
        elif calls[name] != want:
            yield "%s: %d calls reported, was called %d times" % (name, calls[name], want)
        if aborted[name]:
            yield "%s: %d calls reported as aborted, none was" % (name, aborted[name])
    for name in sorted(set(calls) - set(expected)):
        yield "%s: reported, but no such function" % name


def main():
    if len(sys.argv) != 3:
        print("usage: check_counts.py EXPECTED REPORT", file=sys.stderr)
        return 2
    with open(sys.argv[1]) as f:
        truth = json.load(f)
    with open(sys.argv[2]) as f:
        report = json.load(f)
    errors = list(compare(truth["functions"], *reported_calls(report, truth["library"])))
    for line in errors[:SHOWN]:
        print(line)
    print("%d functions, %d calls, %d wrong"
          % (len(truth["functions"]), sum(truth["functions"].values()), len(errors)))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
