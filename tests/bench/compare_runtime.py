#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What calls of the C runtime and a start cost with one libbattprof.so and with another, in turn.

    python3 tests/bench/compare_runtime.py BUILD OLD.so NEW.so DIRECTORY [GENERATIONS [ROUNDS]]

As compare.py, with bench_runtime and bench_spawn of BUILD. Profiles go to DIRECTORY and stay there:
ext4 does not give out inodes for some seconds after files were deleted, and looking for others
makes each new file ten times as dear. On a busy machine put `chrt -f 50` before it."""
import os
import random
import sys
import tempfile

import measure

OPERATIONS = ("fork", "thread", "dlsym", "read", "write")
STARTS = 150


def subject(name, folder, library, scratch):
    extra = {}
    if library:
        directory = tempfile.mkdtemp(dir=scratch)
        extra = {"LD_PRELOAD": library, "BATTPROF_DIR": directory, "BATTPROF_QUIET": "1"}
    return measure.Subject(name, [os.path.join(folder, "bench_runtime")], extra, 1 << 24)


def show(title, rounds):
    plain = measure.spread([r["bare"] for r in rounds])[1]
    old, new = (measure.above(rounds, name) for name in ("old", "new"))
    low, _, high = measure.spread(measure.ratios(new, old))
    old, new = (measure.spread(values)[1] for values in (old, new))
    print(f"{title:<12}{plain / 1e3:>10.3f}{old / 1e3:>10.3f}{new / 1e3:>10.3f}{new / old:>9.2f}"
          f"  [{low:.2f} {high:.2f}]")


def main(build, old, new, scratch, generations="4", rounds="100"):
    folder = os.path.join(build, "tests", "bench")
    libraries = {"bare": None, "old": os.path.abspath(old), "new": os.path.abspath(new)}

    def start():  # in random order: which process comes first must not matter
        names = random.sample(list(libraries), len(libraries))
        return [subject(name, folder, libraries[name], scratch) for name in names]

    samples = measure.interleave(start, [(name, 1, None) for name in OPERATIONS],
                                 int(generations), int(rounds))
    print("µs, medians: bare, and what each library adds\n"
          f"{'':<12}{'bare':>10}{'old':>10}{'new':>10}{'new/old':>9}  quartiles")
    for name in OPERATIONS:
        show(name, samples[name])
    times = measure.spawn(os.path.join(folder, "bench_spawn"), STARTS,
                          ["", libraries["old"], libraries["new"]], ["/bin/true"],
                          {"BATTPROF_DIR": tempfile.mkdtemp(dir=scratch), "BATTPROF_QUIET": "1"})
    show("/bin/true", [dict(zip(("bare", "old", "new"), row)) for row in zip(*times)])


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except measure.CannotMeasure as error:
        sys.exit(f"compare_runtime: {error}")
