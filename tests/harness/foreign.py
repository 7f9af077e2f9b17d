# SPDX-License-Identifier: MIT
"""Programs that know nothing of a DSL, run as their users run them: in a shell, on a page of 80
columns, with the commands that the page prints."""
import json
import os
import subprocess

import harness
from harness import CMD, base_env, check

PYTHON = os.environ.get("FOREIGN_PYTHON", harness.PYTHON)  # one that has pytest and numpy


def has_module(name):
    return subprocess.run([PYTHON, "-c", "import " + name], capture_output=True).returncode == 0


def shell(command, folder):
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True,
                          env=dict(base_env(), LANG="C.UTF-8", COLUMNS="80"), timeout=300)
    check(done.returncode == 0, "%s: status %d: %s" % (command, done.returncode, done.stderr[-800:]))
    return done.stdout + done.stderr


def report(folder):
    """Of the last run there, which is found without its name."""
    found = json.loads(shell(CMD + " report --json 2>/dev/null", folder))
    rows = sum(row["s"] for row in found["split"].values())
    check(abs(rows - found["wall_s"]) < 1e-6 * found["wall_s"],
          "the split has %g s of a wall of %g s" % (rows, found["wall_s"]))
    parts = sum(row["s"] for row in found["categories"].values()) + found["unsplit_s"]
    check(abs(parts - found["wall_s"]) < 1e-6 * found["wall_s"],
          "categories have %g s of a wall of %g s" % (parts, found["wall_s"]))
    return found


def pasted_line(text):
    """The first command that the page prints, with the lines that it goes on in."""
    lines = text.splitlines()
    first = [i for i, line in enumerate(lines) if line.startswith("  " + CMD + " run ")]
    check(first, "no command to paste:\n" + text)
    end = first[0]
    while lines[end].endswith("\\"):
        end += 1
    return "\n".join(lines[first[0]:end + 1])


def counted_calls(found):
    return {row["name"]: row["calls"] for row in found["functions"] if row["category"] == "dsl"}


def places(found):
    """{(file, line): names} of Python's functions, sampled and counted. A class's body and a
    comprehension begin where another function may."""
    rows = found["functions"] + found["framework"]["functions"]
    names = {}
    for row in rows:
        if row.get("file") and "<" not in row["name"].rsplit(".", 1)[-1]:
            names.setdefault((row["file"], row["line"]), set()).add(row["name"])
    return names


def names_are_equal(first, second):
    """Of two reports: what samples found and what was counted. How many functions both know."""
    ours, theirs = places(first), places(second)
    both = ours.keys() & theirs.keys()
    for place in both:
        check(ours[place] == theirs[place], "%s:%d is %s, and then %s" %
              (*place, sorted(ours[place]), sorted(theirs[place])))
    return len(both)
