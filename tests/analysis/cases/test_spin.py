# SPDX-License-Identifier: MIT
"""battprof diff on real runs of a program whose functions do 0.05 to 20 times as much work: one of
them, half of them, all. SPIN_PAIRS=100 tries 100 pairs of single runs and of series, and prints how
many intervals hold the truth (benchmarks.md has the result). SPIN_LOADED=1 leaves the runs, but not
the truth, to the load of the machine."""
import json
import math
import os
import random
import statistics
import subprocess
import tempfile

from harness import CMD, check_time, main, need_quiet, subject, timed

CALLS = 200
PAIRS = int(os.environ.get("SPIN_PAIRS", "4"))
SERIES = 5
LOADED = bool(os.environ.get("SPIN_LOADED"))
rng = random.Random(int(os.environ.get("SPIN_SEED", "1")))


def command(rounds):
    return [subject("spin"), str(CALLS)] + [str(int(n)) for n in rounds]


def calm():
    """Real-time priority where that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    except OSError:
        pass


def record(directory, name, rounds, runs, loaded=False):
    repeat = ["--repeat", str(runs)] if runs > 1 else []
    subprocess.run([CMD, "run", "-q", *repeat, "-o", name, "--", *command(rounds)], cwd=directory,
                   check=True, capture_output=True, timeout=120, preexec_fn=None if loaded else calm)


def wall(rounds):
    """Of one run, profiled: what the start takes is in both sides of the truth."""
    with tempfile.TemporaryDirectory() as directory:
        record(directory, "a", rounds, 1)
        done = subprocess.run([CMD, "report", "--json", "a"], cwd=directory, check=True,
                              capture_output=True, timeout=60)
        return json.loads(done.stdout)["wall_s"]


def plant(old):
    which = rng.choice((1, 4, 8))
    factor = math.exp(rng.uniform(math.log(0.05), math.log(20)))
    planted = set(rng.sample(range(8), which))
    return [n * factor if i in planted else n for i, n in enumerate(old)]


class Truth:
    """Seconds are a start and so much for each round, the least of some runs."""

    def __init__(self):
        self.start = statistics.median(wall([1] * 8) for _ in range(9))
        long = [40000] * 8
        self.round = (min(wall(long) for _ in range(5)) - self.start) / (CALLS * sum(long))

    def of(self, rounds):
        return self.start + self.round * CALLS * sum(map(int, rounds))


def compare(runs, truth):
    """The headline of a pair, and its true factor."""
    old = [rng.uniform(5000, 30000) for _ in range(8)]
    new = plant(old)
    if sum(new) > 10 * sum(old):  # the long side is OLD: short enough, and both directions
        old, new = [n / 4 for n in old], [n / 4 for n in new]
    with tempfile.TemporaryDirectory() as directory:
        record(directory, "old", old, runs, LOADED)
        record(directory, "new", new, runs, LOADED)
        done = subprocess.run([CMD, "diff", "--json", "old", "new"], cwd=directory, check=True,
                              capture_output=True, timeout=60)
    return json.loads(done.stdout)["headline"], truth.of(new) / truth.of(old)


def try_pairs(runs, pairs):
    """How many intervals hold the truth. A wrong sign ends the try."""
    truth, held, wrong = Truth(), 0, []
    for _ in range(pairs):
        head, factor = compare(runs, truth)
        held += head["low"] <= factor <= head["high"]
        if head["certain"] and (head["factor"] - 1) * (factor - 1) < 0:
            wrong.append((head, factor))
        if not head["low"] <= factor <= head["high"]:
            print("    truth %.3f, measured %.3f, interval %.3f to %.3f"
                  % (factor, head["factor"], head["low"], head["high"]))
    if pairs > 4:
        print("%d + %d runs: the truth is in the interval of %d of %d pairs, %d signs wrong"
              % (runs, runs, held, pairs, len(wrong)), flush=True)
    need_quiet(not wrong, "wrong signs: %r" % wrong)
    return held


@timed
def single_runs():
    held = try_pairs(1, PAIRS)
    check_time(held >= 0.9 * PAIRS - 1, "%d of %d intervals hold the truth" % (held, PAIRS))


@timed
def series():
    pairs = PAIRS if PAIRS > 4 else 2
    held = try_pairs(SERIES, pairs)
    check_time(held >= 0.9 * pairs - 1, "%d of %d intervals hold the truth" % (held, pairs))


main()
