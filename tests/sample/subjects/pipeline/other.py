# SPDX-License-Identifier: MIT
def log(n):
    return deeper(n)


def deeper(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
