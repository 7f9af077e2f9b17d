# SPDX-License-Identifier: MIT
"""Every header compiles alone, and no two define types of one name: headers.py ROOT BUILD COMPILER..."""
import collections
import os
import re
import subprocess
import sys

import common

FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
         "-Wno-unused-function", "-x", "c"]

TYPE = re.compile(r"^(?:struct|enum|union) (bp_\w+) \{", re.M)


def twins(root, paths):
    """Types that a reader could take for one another. The simulated device is no part of us: its
    libraries have names of their own."""
    places = collections.defaultdict(list)
    for path in paths:
        if not path.startswith("cuda/sim/"):
            for name in TYPE.findall(common.read(root, path)):
                places[name].append(path)
    return [f"{name}: defined in {' and '.join(where)}" for name, where in places.items()
            if len(where) > 1]


def main():
    root, build, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    paths = common.sources(root, (".h",), ("profile", "interpose", "cuda", "dsl", "tools"))
    problems, checked = twins(root, paths), 0
    for path in paths:
        text = f'#include "{path}"\n'
        result = subprocess.run(compiler + FLAGS + ["-I", root, "-I", build, "-I",
                                                    os.path.join(root, "dsl"), "-"],
                                input=text, capture_output=True, text=True, check=False)
        checked += 1
        if result.returncode:
            problems.append(f"{path}: does not compile alone\n{result.stderr}")
    common.finish(problems, checked, "headers")


if __name__ == "__main__":
    main()
