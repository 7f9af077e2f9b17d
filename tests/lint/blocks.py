# SPDX-License-Identifier: MIT
"""Commands and tables of a page are blocks: indented, fenced, or rows of equal length. A tool that
wraps paragraphs joins a block that lost its indentation, and nobody can paste what is left. So prose
has no run of blanks and no command of ours outside a code span; neither has a man page outside its
literal displays."""
import re
import sys

import common

BLOCK = re.compile(r"    |\t|```|\||#|<!--")  # what begins a line that is no prose
ITEM = re.compile(r"\s*([-*+]|\d+\.)\s+")
SPAN = re.compile(r"(`+).+?\1", re.S)
GAP = re.compile(r"\S {2,}\S")
SHELL = re.compile(r"(\$|!?pip|meson|ninja|chmod|sudo|git|[A-Z_]+=\S+) \S|(tools|\.ci)/\w+(\s|$)")


def commands(root):
    """A pattern for "battprof run" and the like; the manual has a page for each."""
    names = [path[len("battprof-"):-2] for path in common.manual(root) if path.startswith("battprof-")]
    return re.compile(r"\bbattprof (?:" + "|".join(names) + r")\b")


def paragraphs(text):
    """(number of its first line, its lines), for all that is prose. What continues an item of a list
    may be indented like a block; what follows a blank line and is indented is one."""
    found, fenced, begin = [], False, True
    for number, line in enumerate(text.split("\n"), 1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        prose = line.strip() and not fence and not fenced and not (BLOCK.match(line) and
                                                                 (begin or line[0] in "|#"))
        if prose and begin:
            found.append((number, []))
        if prose:
            found[-1][1].append(ITEM.sub("", line).strip())
        begin = not prose
    return found


def check_prose(path, text, command):
    problems = []
    for number, lines in paragraphs(text):
        begins = [line for line in lines if SHELL.match(line)]
        plain = SPAN.sub("`", "\n".join(lines))
        faults = [("blanks within prose", GAP.findall(plain)), ("a command begins", begins),
                  ("a command outside a block or a code span", command.findall(plain))]
        problems += [f"{path}:{number}: {what}, in the paragraph that begins here: {found[0].strip()}"
                     for what, found in faults if found]
    return problems


def cells(row):
    return len(re.findall(r"(?<!\\)\|", row.strip())) - 1


def check_tables(path, text):
    """Rows of as many cells as their head has, after which comes the line of dashes."""
    problems, width, fenced = [], 0, False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        row = line.startswith("|") and not fenced
        first = row and not width
        width = (width or cells(line)) if row else 0
        following = text.split("\n")[number:number + 1]
        if first and not (following and re.fullmatch(r"\|([ :-]*-[ :-]*\|)+", following[0])):
            problems.append(f"{path}:{number}: a table without the line below its head")
        if row and (cells(line) != width or not line.endswith("|")):
            problems.append(f"{path}:{number}: {cells(line)} cells, the head has {width}")
    return problems


def check_manual(path, text, command):
    problems, literal = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith((".Bd", ".Ed")):
            literal = line.startswith(".Bd -literal")
        elif not literal and not line.startswith(".") and (GAP.search(line) or command.search(line)):
            problems.append(f"{path}:{number}: a block without .Bd: {line}")
    return problems


def main():
    root = sys.argv[1]
    problems, command = [], commands(root)
    pages = common.markdown(root)
    for path in pages:
        text = common.read(root, path)
        problems += check_prose(path, text, command) + check_tables(path, text)
    for name in common.manual(root):
        path = f"docs/man/{name}"
        problems += check_manual(path, common.read(root, path), command)
    common.finish(problems, len(pages), "pages")


if __name__ == "__main__":
    main()
