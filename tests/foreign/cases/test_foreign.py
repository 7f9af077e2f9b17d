# SPDX-License-Identifier: MIT
"""Programs of the kinds that people have, none with a DSL: the first report names the function that
takes the time, its module and line, and whose it is; the command that it prints, pasted as it is,
times every call of that function under the same name; all splits add up to the wall."""
import os
import shutil

from harness import CMD, Skip, case, check, equal, main, new_dir
from harness.foreign import (PYTHON, counted_calls, has_module, names_are_equal, pasted_line, report,
                             shell)

SUBJECTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "subjects")
BIN = os.environ["FOREIGN_BIN"]


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
    counted = counted_calls(second)
    names_are_equal(first, second)
    check(counted.get(hot), "%s has no exact calls: %s" % (hot, counted))
    for row in own:
        worth = row["s"] >= 0.1 * sum(other["s"] for other in own)  # as choice.c has it
        if worth and (not row["library"] or ".so" in row["library"]):
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
    check(any(user["name"].startswith("arrays.") for row in found["framework"]["functions"]
              if row["owner"] == "libraries" for user in row["for"]),
          "none of numpy's functions says for whom it worked:\n" + text)
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
