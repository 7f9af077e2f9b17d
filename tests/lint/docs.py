# SPDX-License-Identifier: MIT
"""Pages that can be read: lines of 100 columns, short table cells, links that lead somewhere, an index
that has every page."""
import glob
import os
import re
import sys

import common

COLUMNS = 100
CELL = 120
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def check_lines(path, text):
    problems, code = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            code = not code
        if code or line.startswith("    "):
            continue
        if line.startswith("|"):
            longest = max(len(cell.strip()) for cell in line.split("|"))
            if longest > CELL:
                problems.append(f"{path}:{number}: a cell of {longest} characters")
        elif len(line) > COLUMNS and "](" not in line:
            problems.append(f"{path}:{number}: {len(line)} columns")
    return problems


def check_links(root, path, text):
    folder = os.path.dirname(os.path.join(root, path))
    return [f"{path}: nothing at {link}" for link in LINK.findall(text)
            if not link.startswith("http") and not os.path.exists(os.path.join(folder, link))]


def check_index(root, folder):
    index = common.read(root, os.path.join(folder, "README.md"))
    pages = [os.path.basename(page) for page in glob.glob(os.path.join(root, folder, "*.md"))]
    return [f"{folder}/README.md: does not list {page}" for page in sorted(pages)
            if page != "README.md" and f"({page})" not in index]


def main():
    root = sys.argv[1]
    names = common.markdown(root)
    problems = check_index(root, "docs") + check_index(root, "docs/internals")
    for name in names:
        text = common.read(root, name)
        problems += check_lines(name, text) + check_links(root, name, text)
    common.finish(problems, len(names), "pages")


if __name__ == "__main__":
    main()
