# SPDX-License-Identifier: MIT
"""How not to do it: shares of the sum of cumulative times, with the DSL told by parts of names. This
is the formula behind the "93.6 % framework" of docs/tutorial.md.  old_formula.py SCRIPT ARGUMENT..."""
import cProfile
import os
import pstats
import runpy
import sys
import time

NAMES = ("identity p_g o_g objects size color fill paint move shift rotate mirror crop vconcat "
         "hconcat apply mapply").split()


def main():
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    profile = cProfile.Profile()
    began = time.perf_counter()
    profile.enable()
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit:
        pass
    profile.disable()
    wall = time.perf_counter() - began
    total = dsl = 0
    for (file, _, name), row in pstats.Stats(profile).stats.items():
        if file.startswith("<"):
            continue
        total += row[3]
        if any(part in name.lower() for part in NAMES):
            dsl += row[3]
    print('wall %.2f s, "total" %.2f s: DSL %.1f %%, framework %.1f %%'
          % (wall, total, 100 * dsl / total, 100 - 100 * dsl / total), file=sys.stderr)


main()
