# SPDX-License-Identifier: MIT
"""Programs of the kinds that people have, none with a DSL: the first report names the function that
takes the time, its module and line, and whose it is; the command that it prints, pasted as it is,
times every call of that function under the same name; all splits add up to the wall."""
import json
import os
import re
import shutil
import subprocess

import harness
from harness import CMD, Skip, base_env, case, check, equal, main, new_dir

SUBJECTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "subjects")
BIN = os.environ["FOREIGN_BIN"]
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
    """The first command that the page prints, after the split; a shell joins its lines."""
    found = re.search("^  " + re.escape(CMD) + r" run (?:.*\\\n)*.*$", text, re.M)
    check(found, "no command to paste:\n" + text)
    return found[0].strip()


def is_yours(row):
    return row["owner"] == "yours" and row["sampled"] and "<" not in row["name"]


def see(argv, hot, place, yours=True):
    """Profiles without options, then as the first report says."""
    folder = os.path.join(new_dir(), "program")
    shutil.copytree(SUBJECTS, folder)
    text = shell("%s run -- %s" % (CMD, argv), folder)
    first = report(folder)
    check(first["choice"], "there is no DSL")
    own = [row for row in first["framework"]["functions"] if is_yours(row)]
    check(own, "nothing of the user's was sampled:\n" + text)
    equal("the function that takes the time", own[0]["name"], hot)
    if yours:
        equal("the first function of all", first["framework"]["functions"][0]["name"], hot)
        check(first["split"]["yours"]["pct"] > 50, "mostly the user's:\n" + text)
    for word in ("your code", "Functions", "~ " + hot.split("(")[0][:26], place):
        check(word in text, "%s is not on the page:\n%s" % (word, text))
    check("DSL " not in text.split("Functions")[0], "no DSL in the headline:\n" + text)
    shell(pasted_line(text), folder)
    second = report(folder)
    counted = {row["name"]: row["calls"] for row in second["functions"] if row["category"] == "dsl"}
    check(counted.get(hot), "%s has no exact calls: %s" % (hot, counted))
    for row in own:
        if not row["library"] or ".so" in row["library"]:
            check(row["name"] in counted, "%s was sampled, counted were %s" % (row["name"], counted))
    return first, second


@case
def a_script():
    see(PYTHON + " script.py", "script.digits", "script.py:9")


@case
def a_package():
    _, second = see(PYTHON + " -m pack", "pack.model.Grid.row", "model.py:8")
    calls = {row["name"]: row["calls"] for row in second["functions"]}
    equal("calls", calls["pack.model.Grid.row"], sum(3 * size for size in range(60, 160)))


@case
def the_number_of_functions_is_true():
    folder = os.path.join(new_dir(), "program")
    shutil.copytree(SUBJECTS, folder)
    text = shell("%s run -- %s -m pack" % (CMD, PYTHON), folder)
    check("the 3 functions of pack:" in text.replace("\n  ", " "), "pack has three functions:\n" + text)


@case
def a_run_of_pytest():
    if not has_module("pytest"):
        raise Skip("no pytest")
    see(PYTHON + " -m pytest -q -p no:cacheprovider suite", "counting.steps", "counting.py:4",
        yours=False)  # most of it is pytest's start


@case
def a_script_of_a_notebook():
    see(PYTHON + " notebook.py", "notebook.wave", "notebook.py:19")


@case
def code_around_numpy():
    if not has_module("numpy"):
        raise Skip("no numpy")
    folder = os.path.join(new_dir(), "program")
    shutil.copytree(SUBJECTS, folder)
    text = shell("%s run -- %s arrays.py" % (CMD, PYTHON), folder)
    found = report(folder)
    check(found["split"]["libraries"]["s"] + found["split"]["import"]["s"] >
          found["split"]["yours"]["s"], "it is numpy that works:\n" + text)
    shell(pasted_line(text), folder)
    calls = {row["name"]: row["calls"] for row in report(folder)["functions"]}
    equal("calls of smooth", calls.get("arrays.smooth"), 9)


@case
def a_c_program_with_its_library():
    see(os.path.join(BIN, "foreign_program"), "work_mix", "work.c:")


@case
def a_cpp_program():
    if not os.path.exists(os.path.join(BIN, "foreign_cpp")):
        raise Skip("no C++ compiler")
    see(os.path.join(BIN, "foreign_cpp"), "shape::Path::length", "shape.cc:")


@case
def a_program_with_plug_ins():
    see("%s %s" % (os.path.join(BIN, "foreign_host"), os.path.join(BIN, "libforeign_plugin.so")),
        "plugin_run", "plugin.c:")


@case
def a_server():
    see(PYTHON + " server.py", "server.render", "server.py:10", yours=False)


@case
def a_pool_of_processes():
    see(PYTHON + " pool.py", "pool.count", "pool.py:6")


@case
def nothing_is_known_of_code_that_is_not_sampled():
    folder = os.path.join(new_dir(), "program")
    shutil.copytree(SUBJECTS, folder)
    text = shell("%s run --no-sampling -- %s" % (CMD, os.path.join(BIN, "foreign_program")), folder)
    found = report(folder)
    check(found["split"]["unknown"]["pct"] > 50, "nobody knows whose it is:\n" + text)
    check("your code" not in text and "0.0 %" not in text.split("Functions")[0], text)


if __name__ == "__main__":
    main()
