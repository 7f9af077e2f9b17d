# SPDX-License-Identifier: MIT
"""The man pages have no warnings, by mandoc where it is installed, else by groff. battprof(1) has every
command, and every variable of variables.def with its default; what is read is there, and nothing else."""
import glob
import os
import re
import shutil
import subprocess
import sys

import common

VARIABLES = "interpose/process/variables.def"
CHECKERS = (
    # mandoc's style hints about dates and cross references depend on its version and system.
    ("mandoc", ["mandoc", "-T", "lint", "-W", "warning"]),
    ("groff", ["groff", "-mandoc", "-ww", "-z", "-T", "utf8", "-K", "utf8"]),
)


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def variables(root):
    """{name: default or ""} of variables.def."""
    rows = re.findall(r'^VARIABLE\((\w+), \w+, (?:NULL|"(.*?)"), "', read(root, VARIABLES), re.M)
    return dict(rows)


def used_names(root, folders):
    text = "".join(common.read(root, path) for path in common.sources(root, (".c", ".py"), folders))
    return set(re.findall(r"\bBATTPROF(?:_[A-Z_]*[A-Z])?\b", text))


def unread(root):
    """Rows whose side does not read them: the command alone sets what the library reads."""
    rows = re.findall(r"^VARIABLE\((\w+), (\w+),", read(root, VARIABLES), re.M)
    command, target = used_names(root, ("tools",)), used_names(root, ("interpose", "cuda"))
    return [name for name, kind in rows if name not in (command if kind == "COMMAND" else target)]


def wrong_variables(root, page):
    """Rows that the page lacks or that nobody reads, and names that are read and have no row."""
    rows = variables(root)
    items = {name: item for item in page.split("\n.It Ev ")[1:]
             for name in re.findall(r"BATTPROF\w*", item.split("\n")[0])}
    used = used_names(root, ("interpose", "cuda", "tools"))
    return ([f"battprof.1: {name} is not among the variables" for name in rows if name not in items] +
            [f"battprof.1: {name} is none of the variables" for name in items if name not in rows] +
            [f"battprof.1: {name}: the default {usual} is not said" for name, usual in rows.items()
             if usual not in items.get(name, usual)] +
            [f"{VARIABLES}: nobody reads {name}" for name in unread(root)] +
            [f"{VARIABLES}: {name} is not there" for name in used if name not in rows])


def missing(root, pages):
    """What is not in the main page."""
    main_page = read(root, "docs", "man", "battprof.1")
    commands = [os.path.basename(page)[:-2] for page in pages if "-" in os.path.basename(page)]
    return (wrong_variables(root, main_page) +
            [f"battprof.1: {command} is not in SEE ALSO" for command in commands
             if f".Xr {command} 1" not in main_page.split(".Sh SEE ALSO")[1]] +
            [f"battprof.1: no command {command[9:]}" for command in commands
             if f".It Cm {command[9:]}" not in main_page])


def main():
    pages = sorted(glob.glob(os.path.join(sys.argv[1], "docs", "man", "*.[1-8]")))
    problems, ran = missing(sys.argv[1], pages), False
    for tool, command in CHECKERS:
        if not shutil.which(tool):
            continue
        ran = True
        for page in pages:
            result = subprocess.run(command + [page], capture_output=True, text=True, check=False)
            problems += [f"{tool}: {line}" for line in
                         (result.stdout + result.stderr).splitlines()]
    if not ran:
        common.skip("neither mandoc nor groff is installed")
    common.finish(problems, len(pages), "pages")


if __name__ == "__main__":
    main()
