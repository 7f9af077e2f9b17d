#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares reports with what is expected: run.py [--update] BATTPROF CASE..."""
import csv
import difflib
import io
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import make_bp

OPTIONS = {
    "text": [], "ascii": [], "json": ["--json"], "tree": ["--tree"],
    "thread": ["--by", "thread"], "process": ["--by", "process"], "group": ["--by", "group"],
    "kernel": ["--by", "kernel"], "kernel_csv": ["--by", "kernel", "--csv"],
    "transfer": ["--by", "transfer"],
    "transfer_csv": ["--by", "transfer", "--csv"], "function": ["--by", "function"],
    "candidate": ["--by", "candidate"], "csv": ["--csv"], "folded": ["--folded"], "task": ["--by", "task"],
    "task_search": ["--by", "task", "--search", "1b2e1C95", "--search", "1b2e7*"],
    "function_search": ["--by", "function", "--search", "paint", "--search", "nosuch"],
    "sampled_search": ["--search", "__main__", "--search", "python3"],
    "lines": ["--lines"], "lines_of": ["--lines", "objects", "--lines", "check*"],
    "phase": ["--by", "phase"], "task_csv": ["--by", "task", "--csv"],
    "scale": ["--by", "phase", "--scale", "400", "--budget", "8h"],
    "scale_csv": ["--scale", "400", "--csv"], "budget_csv": ["--budget", "8h", "--csv"],
    "grows": ["--scale", "400", "--grows", "foo"],
    "search_csv": ["--csv", "--search", "*paint"],
    "candidate_csv": ["--by", "candidate", "--csv"],
    "group_csv": ["--by", "group", "--csv"], "phase_csv": ["--by", "phase", "--csv"],
    "process_csv": ["--by", "process", "--csv"], "thread_csv": ["--by", "thread", "--csv"],
    "search": ["--search", "OBJ", "--search", "*paint", "--search", "nosuch*"],
}
DIFF = {"diff": [], "diff_json": ["--json"], "diff_csv": ["--csv"],
        "diff_group_csv": ["--csv", "--by", "group"]}


def show(battprof, case, kind, directory):
    """Stdout; for a failure what it says and the status instead."""
    folder = os.path.dirname(os.path.abspath(battprof))  # hints name the command as it was called
    environment = {"PATH": folder + ":" + os.environ["PATH"], "TZ": "UTC",
                   "LANG": "C" if kind == "ascii" else "C.UTF-8"}
    if kind.startswith("diff"):
        command = ["battprof", "diff"] + DIFF[kind] + case.get("options", []) + case["sides"]
    else:
        command = ["battprof", "report"] + OPTIONS[kind] + case.get("options", [])
        if case.get("path"):
            command.append(case["path"])
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True,
                          executable=os.path.abspath(battprof))
    text = done.stdout.decode() + done.stderr.decode()
    if done.returncode:
        text += "exit status %d\n" % done.returncode
    return text


def check_text(kind, text):
    """What holds for every report, whatever a case expects."""
    if kind == "json" and text.startswith("{"):
        report = json.loads(text)
        for row in report["thread_list"]:
            assert abs(row["sum_s"] - row["lifetime_s"]) <= 0.001 * row["lifetime_s"] + 1e-6 or \
                any("lifetime by more than" in note for note in report["notes"]), row
        rows = sum(row["s"] for row in report["split"].values())
        assert abs(rows - report["wall_s"]) <= 1e-6 * report["wall_s"] + 1e-9, \
            "the split has %g s of a wall of %g s" % (rows, report["wall_s"])
        for row in report["functions"]:
            order = [row[key] for key in ("min_s", "median_s", "p99_s", "max_s")]
            assert None in order or order == sorted(order), row
        return
    if kind in ("csv", "group_csv", "phase_csv", "process_csv", "thread_csv"):
        shares = [float(row["pct"]) for row in csv.DictReader(io.StringIO(text))]
        assert abs(sum(shares) - 100) < 0.5, "%s: the rows have %g %% of the wall" % (kind, sum(shares))
    if kind == "folded":
        for line in text.splitlines():
            assert re.fullmatch(r"[^;]+(;[^;]+)* \d+|battprof: .*", line), line
        return
    if kind.endswith(("csv", "_json")):
        return
    for line in text.splitlines():
        assert len(line) <= 80 or line.startswith("battprof: ") or \
            line.startswith("next: "), "longer than 80: " + line


def run_case(battprof, path, update):
    with open(os.path.join(path, "input.json")) as source:
        case = json.load(source)
    wrong = 0
    kinds = [name[9:] for name in sorted(os.listdir(path)) if name.startswith("expected.")]
    if not kinds:
        raise SystemExit("%s: no expected.* in it" % path)
    with tempfile.TemporaryDirectory() as directory:
        make_bp.write_all(case, directory)
        if "sides" not in case:  # sums hold in every case
            check_text("json", show(battprof, case, "json", directory))
        for kind in kinds:
            text = show(battprof, case, kind, directory)
            check_text(kind, text)
            name = os.path.join(path, "expected." + kind)
            if update:
                with open(name, "w") as file:
                    file.write(text)
                continue
            with open(name) as file:
                expected = file.read()
            if text != expected:
                wrong += 1
                sys.stdout.writelines(difflib.unified_diff(
                    expected.splitlines(True), text.splitlines(True), name, "now"))
    return wrong


def main():
    arguments = sys.argv[1:]
    update = arguments[:1] == ["--update"]
    if update:
        arguments = arguments[1:]
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    battprof = os.path.abspath(arguments[0])
    wrong = sum(run_case(battprof, path, update) for path in arguments[1:])
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
