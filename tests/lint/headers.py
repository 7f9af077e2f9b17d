# SPDX-License-Identifier: MIT
"""Every header compiles alone: headers.py ROOT BUILD COMPILER..."""
import os
import subprocess
import sys

import common

FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
         "-Wno-unused-function", "-x", "c"]


def main():
    root, build, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    problems, checked = [], 0
    folders = ("profile", "interpose", "cuda", "dsl", "tools")
    for path in common.sources(root, (".h",), folders):
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
