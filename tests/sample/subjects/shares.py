# SPDX-License-Identifier: MIT
"""The same in Python: shares.py SECONDS [UNITS ROUNDS]"""
import sys
import time

SHARES = (1, 2, 3, 4, 5, 7, 10, 12, 16, 40)
functions = []
for share in SHARES:
    exec(compile("def share_%d(n):\n"
                 "    total = 0\n"
                 "    for i in range(%d * n):\n"
                 "        total += i * i %% 7\n"
                 "    return total\n" % (share, share), "shares_%d.py" % share, "exec"))
    functions.append(globals()["share_%d" % share])


def main(seconds, fixed=0, rounds=0):
    clock = time.thread_time
    start = clock()
    share_1(100000)  # noqa: F821
    units = fixed or int(100000 * 0.0005 / (clock() - start))
    spent = [0.0] * len(functions)
    turn = 0
    while turn < rounds if rounds else clock() - start < seconds:
        for k in range(len(functions)):
            i = (7 * k + 3 * turn) % len(functions)
            before = clock()
            functions[i](units + turn * 37 % 100 * units // 1000)
            spent[i] += clock() - before
        turn += 1
    for share, part in zip(SHARES, spent):
        print("share_%d %.4f" % (share, 100 * part / sum(spent)))


main(float(sys.argv[1]), *map(int, sys.argv[2:]))
