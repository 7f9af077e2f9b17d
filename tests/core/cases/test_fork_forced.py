# SPDX-License-Identifier: MIT
"""A thread of the parent is stopped at each step that changes what a forked child could find, before
the fork or while the child has not moved out. The child must live, and every call be counted."""
import re

import harness
from harness import *

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "..", "..", "profile", "stop.h")) as f:
    POINTS = re.findall(r"X\((\w+), ([01])\)", f.read())
harness.LIB = os.environ["BP_TEST_STOPS"]


def forced(point, when):
    def go():
        counted([subject("fork_forced"), point, when], env={"LD_LIBRARY_PATH": BIN})
    go.__name__ = point.lower() + "_" + when
    case(go)


for name, locked in POINTS:
    if name == "CHILD":
        continue
    forced(name, "after")
    if locked == "0":  # with the lock held by another thread nobody can fork
        forced(name, "before")


@case
def all_points_are_there():
    equal("points", len(POINTS), 12)


main()
