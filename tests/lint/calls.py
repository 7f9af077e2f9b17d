# SPDX-License-Identifier: MIT
"""No code inside the target calls what it must not: forbidden.txt says what and why, with the files
where a name is allowed. Looks at the sources, and at the library's undefined symbols for what a
macro or the compiler may have added. calls.py ROOT LIST LIBRARY"""
import re
import subprocess
import sys

import common


def load(path):
    """name -> set of files where it is allowed"""
    rules = {}
    for line in common.data(path):
        names, _, files = line.partition(" allow ")
        for name in names.split():
            rules.setdefault(name, set()).update(files.split())
    return rules


def check_sources(root, rules):
    problems, checked = [], 0
    # Definitions begin in column 0, calls do not. `real.X(`, `wrap_X(` and `bp_X(` are other names.
    call = re.compile(r"^[ \t]+.*?(?<![\w.>])(" + "|".join(map(re.escape, rules)) + r")\s*\(", re.M)
    for path in common.sources(root, (".c", ".h"), ("interpose", "cuda", "profile")):
        if path.startswith(("profile/image", "profile/reader", "cuda/sim/")):
            continue  # not inside the target
        checked += 1
        for number, line in enumerate(common.without_comments(common.read(root, path)).split("\n")):
            for match in call.finditer(line):
                if path not in rules[match.group(1)]:
                    problems.append(f"{path}:{number + 1}: calls {match.group(1)}")
    return problems, checked


def check_library(library, rules):
    output = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True,
                            text=True, check=True).stdout
    symbols = {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()}
    return [f"{library}: refers to {name}" for name in sorted(symbols & set(rules))
            if not rules[name]]


def main():
    root, rules = sys.argv[1], load(sys.argv[2])
    problems, checked = check_sources(root, rules)
    problems += check_library(sys.argv[3], rules)
    common.finish(problems, checked, "files")


if __name__ == "__main__":
    main()
