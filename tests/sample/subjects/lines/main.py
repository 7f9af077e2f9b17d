# SPDX-License-Identifier: MIT
"""main.py ten SECONDS, or main.py FUNCTION SECONDS: calls one function of dsl for so long."""
import random
import sys
import time

import dsl

name, end = sys.argv[1], time.thread_time() + float(sys.argv[2])
random.seed(1)
grid = tuple(tuple(range(12)) for _ in range(12))
rows = [tuple(random.choices(range(9), k=40)) for _ in range(2000)]
spent = [0.0] * 10
turn = 0
while time.thread_time() < end:
    if name == "ten":
        # Lengths that vary: a round of just one tick of the kernel's clock, 4 ms, would have its
        # samples at the same place for seconds.
        dsl.ten(random.randrange(1000, 3000), spent)
    elif name == "index":
        dsl.index(grid, (turn % 12, 3))
    elif name == "collect":
        dsl.collect()
    else:
        getattr(dsl, name)(rows)
    turn += 1
for part in spent:
    print("%.4f" % (100 * part / (sum(spent) or 1)))
