# SPDX-License-Identifier: MIT
"""--help, completion and man pages tell the same options, and --help fits 80 columns.
options.py ROOT BATTPROF"""
import os
import re
import subprocess
import sys

import common


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def help_options(text):
    """{(short or "", long)} of the list below "Options:"."""
    return set(re.findall(r"^  (?:-(\w), |    )--([\w-]+)", text, re.M))


def man_options(page):
    """The same from ".It Fl o , Fl -output Ar DIR"."""
    found = set()
    for line in re.findall(r"^\.It (Fl .*)$", page, re.M):
        short = re.search(r"Fl (\w)\b", line)
        long = re.search(r"Fl -([\w-]+)", line)
        if long:
            found.add((short.group(1) if short else "", long.group(1)))
    return found


def show(options):
    return " ".join("--" + long + (f"/-{short}" if short else "") for short, long in
                    sorted(options, key=lambda o: o[1]))


def check_command(root, battprof, name, completion):
    problems = []
    text = output(battprof, "help", *([name] if name else []))
    page_name = "battprof" + ("-" + name if name else "") + ".1"
    path = os.path.join("docs", "man", page_name)
    if not os.path.exists(os.path.join(root, path)):
        return [f"{path}: is not there"]
    told, written = help_options(text), man_options(common.read(root, path))
    if told - written:
        problems.append(f"{path}: lacks {show(told - written)}")
    if written - told:
        problems.append(f"{path}: has {show(written - told)}, which --help has not")
    problems += [f"help {name}: wider than 80 columns: {line}" for line in text.split("\n")
                 if len(line) > 80]
    problems += [f"completion of {name or 'battprof'} lacks --{long}" for _, long in told
                 if f"--{long}" not in completion]
    return problems


def main():
    root, battprof = sys.argv[1:3]
    commands = re.findall(r"^  (\w+)  ", output(battprof, "help").split("Options:")[0], re.M)
    completion = output(battprof, "--completion", "bash")
    problems = []
    syntax = subprocess.run(["bash", "-n"], input=completion, text=True, check=False)
    if syntax.returncode:
        problems.append("the completion is no valid bash")
    for name in [""] + [name for name in commands if name != "help"]:
        problems += check_command(root, battprof, name, completion)
    common.finish(problems, len(commands), "commands")


if __name__ == "__main__":
    main()
