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


for _ in range(300):
    work(ROW)
