# SPDX-License-Identifier: MIT
def step(n):
    return leaf(n)


def leaf(n):
    return n
