# SPDX-License-Identifier: MIT
"""The exported symbols of a library equal the list: exports.py LIBRARY LIST"""
import subprocess
import sys

import common


def main():
    library, wanted = sys.argv[1], set(common.data(sys.argv[2]))
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                            text=True, check=True).stdout
    symbols = {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()}
    problems = [f"{name}: exported, but not in {sys.argv[2]}" for name in sorted(symbols - wanted)]
    problems += [f"{name}: in {sys.argv[2]}, but not exported" for name in sorted(wanted - symbols)]
    # A library that exports nothing, as listed, is checked too.
    common.finish(problems, len(symbols) or 1, "symbols")


if __name__ == "__main__":
    main()
