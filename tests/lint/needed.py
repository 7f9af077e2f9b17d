# SPDX-License-Identifier: MIT
"""Libraries run on older systems than the one they were built on: no version newer than the glibc that
doctor names, no executable stack, no text relocations. libbattprof.so needs libc alone and has no run
path. needed.py ROOT LIBBATTPROF OTHER..."""
import re
import subprocess
import sys

import common

LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2"}
OTHERS = LIBRARIES | {"libbattprofsim.so", "libdl.so.2", "libpthread.so.0"}
DOCTOR = "tools/command/doctor/glibc.c"


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, library], capture_output=True, text=True,
                          check=True).stdout


def check(library, allowed, newest):
    """How many versions it needs, and the problems."""
    problems = []
    dynamic, versions = readelf("-d", library), readelf("-V", library)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in allowed:
            problems.append(f"needs {name}")
    needs = versions.split("Version needs section", 1)[-1]
    used = sorted({tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", needs)})
    for version in used:
        if version > newest:
            name = ".".join(map(str, version))
            problems.append(f"needs GLIBC_{name}; nm -D {library} | grep {name} names the symbol")
    for name in re.findall(r"Name: (GLIBC_[A-Z]+)", needs):
        problems.append(f"needs {name}")  # GLIBC_PRIVATE, GLIBC_ABI_DT_RELR
    if re.search(r"\(TEXTREL\)", dynamic):
        problems.append("has text relocations")
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic) and allowed is LIBRARIES:
        problems.append("has a run path")
    if re.search(r"GNU_STACK.*RWE", readelf("-l", library)):
        problems.append("has an executable stack")
    return len(used), [f"{library}: {problem}" for problem in problems]


def main():
    newest = re.search(r"#define NEEDED_GLIBC (\d+)", common.read(sys.argv[1], DOCTOR))
    checked, problems = 0, []
    for library in sys.argv[2:]:
        count, wrong = check(library, OTHERS if checked else LIBRARIES, (2, int(newest.group(1))))
        checked += count + 1
        problems += wrong
    common.finish(problems, checked, "versions")


if __name__ == "__main__":
    main()
