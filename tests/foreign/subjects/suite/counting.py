# SPDX-License-Identifier: MIT


def steps(start):
    count = 0
    while start != 1:
        start = start * 3 + 1 if start % 2 else start // 2
        count += 1
    return count
