# SPDX-License-Identifier: MIT
"""The man pages have no warnings, by mandoc where it is installed, else by groff. battprof(1) has every
command and every variable that the library or the command reads."""
import glob
import os
import re
import shutil
import subprocess
import sys

import common

CHECKERS = (
    # mandoc's style hints about dates and cross references depend on its version and system.
    ("mandoc", ["mandoc", "-T", "lint", "-W", "warning"]),
    ("groff", ["groff", "-mandoc", "-ww", "-z", "-T", "utf8", "-K", "utf8"]),
)


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def missing(root, pages):
    """Commands and variables without a word in the main page."""
    main_page = read(root, "docs", "man", "battprof.1")
    sources = [name for folder in ("interpose", "interpose/*", "cuda", "tools")
               for name in glob.glob(os.path.join(root, folder, "*.c"))]
    names = {name for path in sources for name in re.findall(r'"(BATTPROF_[A-Z_]*[A-Z])"', read(path))}
    commands = [os.path.basename(page)[:-2] for page in pages if "-" in os.path.basename(page)]
    return ([f"battprof.1: {name} is not among the variables" for name in sorted(names)
             if not re.search(r"^\.It Ev (.* )?%s( |$)" % name, main_page, re.MULTILINE)] +
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
