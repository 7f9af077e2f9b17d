# SPDX-License-Identifier: MIT
"""`python -m battprof ARGUMENTS` is the command battprof."""
import os
import sys

import battprof

try:
    path = battprof.command()
    os.execv(path, [path] + sys.argv[1:])
except OSError as problem:
    sys.exit("battprof: %s" % problem)
