# SPDX-License-Identifier: MIT
"""Small things in all sources: an SPDX line, no notes to self, no blanks at the end, comments that
begin with their subject, sorted file lists in meson.build, a README with the two commands to begin
with. And a head for whoever opens a file of the product first: what it is, in a sentence or more. A
short file may leave that to its own header."""
import os
import re
import sys

import common

NOTES = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")
SUFFIXES = (".c", ".h", ".S", ".def", ".py", ".sh", ".build")
PRODUCT = ("profile", "interpose", "cuda", "dsl", "tools")
HEAD = re.compile(r"/\* SPDX-License-" + r"Identifier: MIT\n \*\n(.*?)\*/", re.S)
HEAD_WORDS = 4
LONG = 200  # lines: a file that is longer says itself how it is ordered
COMMANDS = ("tools/demo", "tools/check")
SUBJECT_LAST = re.compile(r"/\* (Of|The same\.) ")


def check_source(path, text):
    problems = []
    if text.count("SPDX-License-" + "Identifier: MIT") != 1 or "SPDX" not in text[:200]:
        problems.append(f"{path}: wants one SPDX line at its beginning")
    for number, line in enumerate(text.split("\n")):
        if NOTES.search(line):
            problems.append(f"{path}:{number + 1}: {line.strip()}")
        if SUBJECT_LAST.search(line):
            problems.append(f"{path}:{number + 1}: begins without its subject: {line.strip()}")
        if line != line.rstrip():
            problems.append(f"{path}:{number + 1}: blanks at the end")
    return problems


def has_head(text):
    head = HEAD.match(text)
    return bool(head) and len(head.group(1).replace("*", " ").split()) >= HEAD_WORDS


def check_head(root, path, text):
    header = path[:-2] + ".h"
    explained = (text.count("\n") < LONG and os.path.exists(os.path.join(root, header)) and
                 has_head(common.read(root, header)))
    return [] if has_head(text) or explained else [f"{path}: begins with no word on what it is"]


def check_lists(path, text):
    problems = []
    for block in re.findall(r"files\(([^)+]*)\)", text):  # literal lists only
        names = re.findall(r"'([^']+)'", block)
        if names != sorted(names):
            problems.append(f"{path}: files() not sorted: {' '.join(names)}")
    return problems


def check_readme(root):
    if not os.path.exists(os.path.join(root, "README.md")):
        return ["README.md: is not there"]
    text = common.read(root, "README.md")
    return [f"README.md: does not mention {name}" for name in COMMANDS if name not in text]


def main():
    root = sys.argv[1]
    problems, paths = check_readme(root), common.sources(root, SUFFIXES)
    for path in paths + ["meson.build"]:
        text = common.read(root, path)
        if not text:
            continue
        problems += check_source(path, text)
        if path.startswith(PRODUCT) and path.endswith((".c", ".h")):
            problems += check_head(root, path, text)
        if path.endswith("meson.build"):
            problems += check_lists(path, text)
    common.finish(problems, len(paths), "files")


if __name__ == "__main__":
    main()
