# SPDX-License-Identifier: MIT
"""The option parser takes every `battprof SUBCOMMAND OPTIONS` that the pages show, and some subcommand
has every option that they name alone. Nothing is run: --help follows the options, and what would be
a program is not found. commands.py ROOT BATTPROF"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

import common

USAGE = 2
OURS = re.compile(r"!?(\./|/tmp/|build/tools/)?battprof")
SPAN = re.compile(r"(`+)(.+?)\1", re.S)
# What stands for a number or a time, in the order in which one of several words comes first.
STANDS_FOR = {"N": "1", "PID": "1", "MS": "1", "TIME": "1s", "FORMAT": "folded", "ROW": "group"}
# Options of other programs whose names stand alone in a table.
FOREIGN = {"--all", "--native", "--subprocesses", "--follow-fork", "--separate-recs", "--cprofile"}


def spans(text):
    """Code of a page: indented and fenced lines, and spans."""
    found = re.findall(r"^(?: {4}|\t)(.*)$", text, re.M)
    for block in re.findall(r"^```.*?\n(.*?)^```", text, re.M | re.S):
        found += block.split("\n")
    prose = re.sub(r"^```.*?^```|^ {4}.*?$", "", text, flags=re.M | re.S)
    return found + [" ".join(span.split()) for _, span in SPAN.findall(prose)]


def displays(page):
    """The same of a man page."""
    found = re.findall(r"^\.(?:Dl|(?:Pq )?Ql) (.*?)(?: [.,;:)])*$", page, re.M)
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", page, re.M | re.S):
        found += block.split("\n")
    return found


def simple_commands(line):
    """The words of each command of a line of shell."""
    lexer = shlex.shlex(line.replace("\\|", "|"), posix=True, punctuation_chars=";&<>()")
    lexer.whitespace_split = True
    commands = [[]]
    try:
        for word in lexer:
            if set(word) <= set(";&()<>") or word == "|":
                commands.append([])
            else:
                commands[-1].append(word)
    except ValueError:  # an apostrophe: this is text
        return []
    return commands


def ours(line, names):
    """The words after `battprof`, for each command of ours; a span may leave out that word."""
    found = []
    for words in simple_commands(line):
        at = [n for n, word in enumerate(words) if OURS.fullmatch(word)]
        rest = words[at[0] + 1:] if at else words
        if rest and rest[0] in names and (at or rest[1:2] and rest[1].startswith("--")):
            found.append(rest[:rest.index("--")] if "--" in rest else rest)
    return found


def parsed(words):
    """What the parser is given: one of several words, values for what stands for them."""
    result = []
    for word in words:
        option, equals, value = word.rpartition("=")
        value = STANDS_FOR.get(value.strip("[]"), value.strip("[]").split("|")[0])
        if value not in ("…", "..."):
            result.append(option.strip("[]") + equals + value)
    if words[:2] == ["doctor", "attach"]:  # what follows is no option
        result = result[:1]
    return result + ["--help"]


def check_command(battprof, path, words, folder):
    done = subprocess.run([battprof] + parsed(words), capture_output=True, text=True, check=False,
                          cwd=folder, stdin=subprocess.DEVNULL, env={"PATH": folder, "HOME": folder})
    return [f"{path}: battprof {' '.join(words)}: {done.stderr}"] if done.returncode == USAGE else []


def check_alone(path, span, known):
    """`--option` and `--option VALUE`."""
    words = span.split()
    options = [word.split("=")[0] for word in words if re.match(r"--[a-z]", word)]
    if not words or not words[0].startswith("--"):
        return []
    return [f"{path}: {option}: no command has it" for option in options if option not in known]


def help_of(battprof, *command):
    return subprocess.run([battprof, "help", *command], capture_output=True, text=True,
                          check=True).stdout


def pages(root, battprof, names):
    """(name, pieces of code) of all that shows commands."""
    return ([(path, spans(common.read(root, path))) for path in common.markdown(root)
             if path.startswith(("README.md", "docs/", "NEWS.md"))] +
            [(f"docs/man/{name}", displays(common.read(root, f"docs/man/{name}")))
             for name in common.manual(root)] +
            [(f"help {name}", re.findall("battprof .*", help_of(battprof, name))) for name in names])


def known_options(battprof, names):
    text = "".join(help_of(battprof, *words) for words in [[]] + [[name] for name in names])
    return FOREIGN | set(re.findall(r"--[a-z][\w-]*", text))


def check(battprof, code, names, folder):
    """Problems, and how many commands there were."""
    known, problems, count = known_options(battprof, names), [], 0
    for path, spans_of_page in code:
        for span in spans_of_page:
            commands = ours(span, names)
            count += len(commands)
            problems += [] if "internals" in path else check_alone(path, span, known)
            for words in commands:
                problems += check_command(battprof, path, words, folder)
    return problems, count


def main():
    root, battprof = sys.argv[1], os.path.abspath(sys.argv[2])
    names = re.findall(r"^  (\w+)  ", help_of(battprof).split("Options:")[0], re.M)
    names.remove("help")
    with tempfile.TemporaryDirectory() as folder:
        problems, count = check(battprof, pages(root, battprof, names), names, folder)
    common.finish(problems, count, "commands")


if __name__ == "__main__":
    main()
