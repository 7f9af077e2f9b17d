# SPDX-License-Identifier: MIT
"""--help, completion and man pages have the same options and the same words for their arguments, and
--help fits 80 columns. options.py ROOT BATTPROF"""
import os
import re
import shutil
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


def help_words(text):
    """{option: its words}, of those that take one of several: "--sort self|total"."""
    text = re.sub(r"\|\n +", "|", text)  # a long list goes on in the next line
    return dict(re.findall(r"^  (?:-\w, |    )--([\w-]+) ([a-z]+(?:\|[a-z]+)+)", text, re.M))


def man_words(page):
    """The same from ".It Fl -sort Cm self | total"."""
    return {option: words.replace(" ", "") for option, words in
            re.findall(r"^\.It Fl .*-([\w-]+) Cm ([a-z |]+)$", page, re.M)}


def undescribed(page):
    """Words of report --by of which nothing is said below it."""
    found = re.search(r"^\.It Fl -by Cm ([a-z |]+)$(.*?)^\.It", page, re.M | re.S)
    return [word for word in found.group(1).split(" | ") if f"\n.Cm {word}\n" not in found.group(2)]


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
    page = common.read(root, path)
    told, written = help_options(text), man_options(page)
    problems += [f"{path}: --{option} {words} is not written as in --help"
                 for option, words in help_words(text).items() if man_words(page).get(option) != words]
    if name == "report":
        problems += [f"{path}: --by {word} is not described" for word in undescribed(page)]
    problems += [f"completion of {name} lacks the words of --{option}"
                 for option, words in help_words(text).items()
                 if f"how=(-W '{words.replace('|', ' ')}')" not in completion]
    if told - written:
        problems.append(f"{path}: lacks {show(told - written)}")
    if written - told:
        problems.append(f"{path}: has {show(written - told)}, which --help has not")
    problems += [f"help {name}: wider than 80 columns: {line}" for line in text.split("\n")
                 if len(line) > 80]
    problems += [f"completion of {name or 'battprof'} lacks --{long}" for _, long in told
                 if f"--{long}" not in completion]
    return problems


def check_syntax(shell, text, commands):
    """As far as the shell is installed."""
    problems = [f"completion for {shell} lacks {name}" for name in commands if name not in text]
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False)
        problems += [f"the completion is no valid {shell}: {done.stderr}"] if done.returncode else []
    else:
        print(f"{shell} is not installed: the syntax of its completion is not checked")
    return problems


def main():
    root, battprof = sys.argv[1:3]
    commands = re.findall(r"^  (\w+)  ", output(battprof, "help").split("Options:")[0], re.M)
    completion = output(battprof, "--completion", "bash")
    problems = []
    for shell in ("bash", "zsh", "fish"):
        problems += check_syntax(shell, output(battprof, "--completion", shell), commands)
    for name in [""] + [name for name in commands if name != "help"]:
        problems += check_command(root, battprof, name, completion)
    common.finish(problems, len(commands), "commands")


if __name__ == "__main__":
    main()
