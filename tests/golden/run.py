#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares reports with what is expected: run.py [--update] BATTPROF CASE..."""
import csv
import difflib
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

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
    "lines_at": ["--lines", "dsl:objects", "--lines", "__main__:check*", "--lines", "dsl:check"],
    "phase": ["--by", "phase"], "task_csv": ["--by", "task", "--csv"],
    "scale": ["--by", "phase", "--scale", "400", "--budget", "8h"],
    "scale_csv": ["--scale", "400", "--csv"], "budget_csv": ["--budget", "8h", "--csv"],
    "grows": ["--scale", "400", "--grows", "foo"],
    "search_csv": ["--csv", "--search", "*paint"],
    "candidate_csv": ["--by", "candidate", "--csv"],
    "group_csv": ["--by", "group", "--csv"], "phase_csv": ["--by", "phase", "--csv"],
    "process_csv": ["--by", "process", "--csv"], "thread_csv": ["--by", "thread", "--csv"],
    "brief": ["--brief"], "c_locale": [], "tree_depth": ["--tree", "--depth", "3", "--min", "2"],
    "search": ["--search", "OBJ", "--search", "*paint", "--search", "nosuch*"],
}
# On a terminal: columns, rows, and what else its user has set. Text for eyes, as they see it.
TERMINALS = {
    "columns60": (60, 999, {"NO_COLOR": "1"}), "columns80": (80, 999, {"NO_COLOR": "1"}),
    "columns120": (120, 999, {"NO_COLOR": "1"}), "columns200": (200, 999, {"NO_COLOR": "1"}),
    "colour": (80, 999, {"TERM": "xterm"}), "no_colour": (80, 999, {"TERM": "xterm", "NO_COLOR": "1"}),
    "rows24": (80, 24, {"NO_COLOR": "1", "PAGER": "sed 's/^/| /'"}),
    "no_pager": (80, 24, {"NO_COLOR": "1", "PAGER": "sed 's/^/| /'", "NO_PAGER": "1"}),
    "lost_pager": (80, 24, {"NO_COLOR": "1", "PAGER": "/nonexistent/pager 2>/dev/null"}),
}
DIFF = {"diff": [], "diff_json": ["--json"], "diff_csv": ["--csv"],
        "diff_group_csv": ["--csv", "--by", "group"]}


def read_all(master):
    """Until the last program that has the terminal has ended."""
    data = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            piece = b""
        if not piece:
            return data.decode().replace("\r\n", "\n")
        data += piece


def show_on_terminal(command, directory, environment, kind):
    columns, rows, more = TERMINALS[kind]
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
    child = subprocess.Popen(command, cwd=directory, env=dict(environment, **more), stdin=slave,
                             stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    text = read_all(master)
    os.close(master)
    status = child.wait()
    longest = columns + 2 * (kind == "rows24")
    assert all(len(line) <= longest for line in re.sub(r"\033\[\d+m", "", text).splitlines()), text
    return text + ("exit status %d\n" % status if status else "")


def show(battprof, case, kind, directory):
    """Stdout; for a failure what it says and the status instead."""
    folder, battprof = os.path.split(battprof)  # as who has it in PATH: so hints call it
    environment = {"PATH": folder + ":" + os.environ["PATH"], "TZ": "UTC",
                   "LANG": "C" if kind == "ascii" else "C.UTF-8"}
    if kind == "c_locale":
        environment["LC_ALL"] = "C"
    if kind.startswith("diff"):
        command = [battprof, "diff"] + DIFF[kind] + case.get("options", []) + case["sides"]
    else:
        command = [battprof, "report"] + OPTIONS.get(kind, []) + case.get("options", [])
        if case.get("path"):
            command.append(case["path"])
    if kind in TERMINALS:
        return show_on_terminal(command, directory, environment, kind)
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True)
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
    if kind in TERMINALS:
        return
    assert kind != "brief" or text.count("\n") <= 20, text
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
