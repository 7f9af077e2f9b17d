# SPDX-License-Identifier: MIT
"""What the lint tests share: the source tree and how they end."""
import glob
import os
import re
import sys

FOLDERS = ("profile", "interpose", "cuda", "dsl", "tools", "tests")
SKIP = 77  # meson's status for a skipped test


def sources(root, suffixes, folders=FOLDERS):
    """Paths relative to the root of all files with such a suffix ("" for any), sorted."""
    found = []
    for folder in folders:
        for directory, names, files in os.walk(os.path.join(root, folder)):
            names[:] = [name for name in names if name != "__pycache__"]
            found += [os.path.relpath(os.path.join(directory, file), root)
                      for file in files if file.endswith(tuple(suffixes))]
    return sorted(found)


def markdown(root):
    """The pages, relative to the root, sorted."""
    found = glob.glob(os.path.join(root, "*.md"))
    for folder in FOLDERS + ("docs", "packaging"):
        found += glob.glob(os.path.join(root, folder, "**", "*.md"), recursive=True)
    return sorted(os.path.relpath(page, root) for page in found)


def manual(root):
    """Names of the man pages, sorted."""
    return sorted(os.path.basename(page)
                  for page in glob.glob(os.path.join(root, "docs", "man", "*.[1-8]")))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    """C text with comments, strings and characters blanked; line numbers stay."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''

    def blank(match):
        lines = match.group(0).count("\n")
        return '""' if match.group(0).startswith('"') else " " + "\n" * lines

    return re.sub(pattern, blank, text, flags=re.S)


def data(path):
    """Lines of a data file without comments and blank ones."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#", 1)[0].strip() for line in file]
    return [line for line in lines if line]


def finish(problems, checked, what):
    """Ends the test. Nothing to check is a failure: such a test could not fail."""
    for problem in problems:
        print(problem)
    if not problems and not checked:
        problems = [f"no {what} found to check"]
        print(problems[0])
    print(f"{checked} {what} checked, {len(problems)} problems")
    sys.exit(1 if problems else 0)


def skip(reason):
    print(reason)
    sys.exit(SKIP)
