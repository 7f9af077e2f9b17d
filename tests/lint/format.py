# SPDX-License-Identifier: MIT
"""C sources are as clang-format 14 (Debian 12's) leaves them; other versions differ in details."""
import re
import shutil
import subprocess
import sys

import common

VERSION = 14


def find():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if not path:
            continue
        output = subprocess.run([path, "--version"], capture_output=True, text=True,
                                check=False).stdout
        version = re.search(r"version (\d+)", output)
        if version and int(version.group(1)) == VERSION:
            return path
    return common.skip(f"no clang-format {VERSION}")


def main():
    root, tool = sys.argv[1], find()
    files = common.sources(root, (".c", ".h"))
    result = subprocess.run([tool, "--dry-run", "-Werror"] + files, cwd=root, capture_output=True,
                            text=True, check=False)
    wrong = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error", result.stderr, re.M)))
    if result.returncode and not wrong:
        wrong = [result.stderr]
    common.finish([f"{name}: not formatted; clang-format -i {name}" for name in wrong], len(files),
                  "files")


if __name__ == "__main__":
    main()
