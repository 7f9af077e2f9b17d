# SPDX-License-Identifier: MIT
"""The man pages have no warnings, by mandoc where it is installed, else by groff."""
import glob
import os
import shutil
import subprocess
import sys

import common

CHECKERS = (
    # mandoc's style hints about dates and cross references depend on its version and system.
    ("mandoc", ["mandoc", "-T", "lint", "-W", "warning"]),
    ("groff", ["groff", "-mandoc", "-ww", "-z", "-T", "utf8", "-K", "utf8"]),
)


def main():
    pages = sorted(glob.glob(os.path.join(sys.argv[1], "docs", "man", "*.[1-8]")))
    problems, ran = [], False
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
