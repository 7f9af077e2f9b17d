# SPDX-License-Identifier: MIT
"""What runs below a stub must leave the target's registers alone: the ledger refers to nothing but
itself, and no instruction of it or of the stubs names a vector or x87 register. And the stubs'
calls are near one another, which the CFA in stub.inc takes for granted.
ledger.py LEDGER.a LIBRARY"""
import re
import subprocess
import sys

import common

REGISTER = re.compile(r"%(?:[xyz]mm\d|st\b|mm\d|k[0-7]\b)")
NEAR = 2048
STUBS = ("enter_fast", "enter_slow", "bp_thread_enter", "bp_thread_leave", "bp_thread_close")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def return_addresses(library):
    return [int(line.split()[0], 16) for line in output("nm", library).splitlines()
            if "bp_stub_return_" in line]


def main():
    ledger, library = sys.argv[1:]
    problems = []
    for line in output("nm", "-u", ledger).splitlines():
        name = line.split()[-1] if line.split() else ""
        if name and not name.endswith(":") and not name.startswith(("bp_", "_GLOBAL_OFFSET")):
            problems.append(f"the ledger refers to {name}")
    for line in output("objdump", "-d", "--no-show-raw-insn", ledger).splitlines():
        if REGISTER.search(line):
            problems.append(f"the ledger uses a vector register: {line.strip()}")
    for name in STUBS:
        text = output("objdump", "-d", "--no-show-raw-insn", f"--disassemble={name}", library)
        if f"<{name}>:" not in text:
            problems.append(f"{library}: no function {name}")
        problems += [f"{name}: {line.strip()}" for line in text.splitlines() if REGISTER.search(line)]
    returns = return_addresses(library)
    if len(returns) < 2 or max(returns) - min(returns) >= NEAR:
        problems.append(f"{library}: bp_stub_return_* are not within {NEAR} bytes")
    common.finish(problems, len(STUBS) + 2, "places")


if __name__ == "__main__":
    main()
