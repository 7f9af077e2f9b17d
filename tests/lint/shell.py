# SPDX-License-Identifier: MIT
"""Shell scripts are valid for their shell and, where shellcheck is installed, without warnings;
splitting the output of $(...) into words (SC2046) is meant where it is done."""
import os
import shutil
import subprocess
import sys

import common


def scripts(root):
    """Files that begin with a #! line of a shell, and *.sh."""
    found = []
    for path in common.sources(root, ("",)) + [os.path.join(".ci", "run")]:
        with open(os.path.join(root, path), "rb") as file:
            first = file.readline(200)
        if first.startswith(b"#!") and first.strip().endswith((b"/sh", b"/bash", b" bash")):
            found.append((path, "bash" if first.strip().endswith(b"bash") else "sh"))
    return found


def main():
    root, problems = sys.argv[1], []
    found = scripts(root)
    for path, shell in found:
        full = os.path.join(root, path)
        commands = [[shell, "-n", full]]
        if shutil.which("shellcheck"):
            commands.append(["shellcheck", "-S", "warning", "-e", "SC2046", full])
        if not os.access(full, os.X_OK) and not path.endswith(".sh"):
            problems.append(f"{path}: is not executable")
        for command in commands:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode:
                problems.append(f"{path}: {command[0]}:\n{result.stdout}{result.stderr}")
    common.finish(problems, len(found), "scripts")


if __name__ == "__main__":
    main()
