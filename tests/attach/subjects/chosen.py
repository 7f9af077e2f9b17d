# SPDX-License-Identifier: MIT
"""The DSL of calls.py."""


def before(x):
    return x + 1


def after(x):
    return before(x) * 2


def inside(x):
    return x
