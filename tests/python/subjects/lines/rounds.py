# SPDX-License-Identifier: MIT
"""Loops within a line, and others."""
ROW = list(range(200))


def work(row):
    a = [v + 1 for v in row]
    b = sorted(row)
    for v in row: a.append(v)  # noqa: E701
    for v in row:
        a.append(v)
    while b and a: b.pop()  # noqa: E701
    return {v for v in a}


# The jump back from its last line has an argument of two bytes.
LONG = "def long(row):\n for v in row[:2]:\n  a = " + " + ".join(["v"] * 300)
exec(compile(LONG, __file__, "exec"))

for _ in range(300):
    work(ROW)
    long(ROW)  # noqa: F821
