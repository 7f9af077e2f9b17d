# SPDX-License-Identifier: MIT
from pack.model import Grid

print(sum(Grid(size).energy() for size in range(60, 160)))
