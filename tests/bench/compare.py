#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a native call costs with one libbattprof.so and with another, in turn.

    python3 tests/bench/compare.py BUILD OLD.so NEW.so [GENERATIONS [ROUNDS]]

BUILD has tests/bench/bench_calls, the program for both. A round asks a bare process, one with each
library and the two-rdtsc wrapper for a slice of 0.3 ms; processes are started anew in each
generation. Costs are above the bare call of the same round; ratios are taken within a round, too,
and the figures are medians over all rounds. The library OLD runs twice: OLD / OLD shows the spread
of two equal subjects, the least difference that means anything. NEW runs twice, too: as it is,
where the bench's short functions are timed by samples, and with BATTPROF_EXACT. On a busy machine put
`chrt -f 50` before it."""
import os
import random
import re
import sys
import tempfile

import measure

NAMES = ("wrapper", "old", "again", "new", "new exact")
SHAPES = (("one 1", 1, "1 function"), ("many 1", 64, "64 functions"), ("nested 1", 3, "depth 3"))


def subject(name, build, library, scratch):
    folder = os.path.join(build, "tests", "bench")
    extra = {}
    if library:
        directory = tempfile.mkdtemp(dir=scratch)
        extra = {"LD_PRELOAD": library, "BATTPROF_DIR": directory, "BATTPROF_QUIET": "1"}
        if name.endswith("exact"):
            extra["BATTPROF_EXACT"] = "1"
    return measure.Subject(name, [os.path.join(folder, "bench_calls")], extra, 1 << 24)


def show(title, rounds):
    cost = {name: measure.above(rounds, name) for name in NAMES}
    middle = {name: measure.spread(values)[1] for name, values in cost.items()}
    low, ratio, high = measure.spread(measure.ratios(cost["new exact"], cost["old"]))
    hand = {n: measure.spread(measure.ratios(cost[n], cost["wrapper"]))[1]
            for n in ("old", "new exact", "new")}
    equal = measure.spread(measure.ratios(cost["again"], cost["old"]))[1]
    print(f"{title:<14}{middle['wrapper']:>9.2f}{middle['old']:>9.2f}{middle['new exact']:>9.2f}{middle['new']:>9.2f}"
          f"{ratio:>10.3f}  [{low:.3f} {high:.3f}]{equal:>10.3f}"
          f"{hand['old']:>9.2f}{hand['new exact']:>9.2f}{hand['new']:>9.2f}")


def processor():
    """What the figures hold for: they differ between makes."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        fields = dict(re.findall(r"^(.+?)\s*:\s(.+)$", file.read(), re.M))
    return (f"{fields.get('model name', 'unknown processor')}, family "
            f"{fields.get('cpu family', '?')} model {fields.get('model', '?')} "
            f"stepping {fields.get('stepping', '?')}")


def main(build, old, new, generations="12", rounds="40"):
    libraries = {"bare": None, "wrapper": os.path.join(build, "tests/bench/libbenchwrapper.so"),
                 "old": old, "again": old, "new": new, "new exact": new}
    libraries = {name: path and os.path.abspath(path) for name, path in libraries.items()}
    with tempfile.TemporaryDirectory() as scratch:
        def start():  # in random order: which process comes first must not matter
            names = random.sample(list(libraries), len(libraries))
            return [subject(name, build, libraries[name], scratch) for name in names]
        samples = measure.interleave(start, [(what, unit, None) for what, unit, _ in SHAPES],
                                     int(generations), int(rounds))
    print(processor())
    print("ns per call above the bare call, medians")
    print(f"{'':<14}{'wrapper':>9}{'old':>9}{'exact':>9}{'new':>9}{'exact/old':>10}  "
          f"{'quartiles':<13}{'old/old':>12}{'old/wr':>9}{'exact/wr':>9}{'new/wr':>9}")
    for what, _, title in SHAPES:
        show(title, samples[what])


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except measure.CannotMeasure as error:
        sys.exit(f"compare: {error}")
