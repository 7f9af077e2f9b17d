# SPDX-License-Identifier: MIT
"""libbattprof.so runs on older systems than the one it was built on: it needs libc alone, no
version newer than glibc 2.31, no executable stack and no text relocations. needed.py LIBRARY"""
import re
import subprocess
import sys

import common

LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2"}
NEWEST = (2, 31)


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, library], capture_output=True, text=True,
                          check=True).stdout


def main():
    library, problems = sys.argv[1], []
    dynamic, versions = readelf("-d", library), readelf("-V", library)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in LIBRARIES:
            problems.append(f"needs {name}")
    needs = versions.split("Version needs section", 1)[-1]
    used = sorted({tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", needs)})
    for version in used:
        if version > NEWEST:
            name = ".".join(map(str, version))
            problems.append(f"needs GLIBC_{name}; nm -D {library} | grep {name} names the symbol")
    for name in re.findall(r"Name: (GLIBC_[A-Z]+)", needs):
        problems.append(f"needs {name}")  # GLIBC_PRIVATE, GLIBC_ABI_DT_RELR
    if re.search(r"\((TEXTREL|RPATH|RUNPATH)\)", dynamic):
        problems.append("has text relocations or a run path")
    if re.search(r"GNU_STACK.*RWE", readelf("-l", library)):
        problems.append("has an executable stack")
    common.finish(problems, len(used) + 1, "versions")


if __name__ == "__main__":
    main()
