# SPDX-License-Identifier: MIT
"""Generated pairs of runs whose true factors are known, with the noise of a shared machine: the
headline's interval holds the truth in 95 of 100, no certain change has the wrong sign, the parts add
up to what was measured. test_pairs.py BATTPROF [PAIRS]"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import make_bp

BATTPROF = os.path.abspath(sys.argv[1])
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
SEED = 20261118
OWN = "(own code)"


class Program:
    """Functions with calls and ms per call, and code outside of them."""

    def __init__(self, rng):
        self.functions = {"f%d" % i: [rng.choice((50, 400, 3000)), rng.uniform(20, 150)]
                          for i in range(rng.randint(3, 14))}
        self.rest = rng.uniform(10, 80)

    def changed(self, factors):
        other = object.__new__(Program)
        other.rest = self.rest * factors.get(OWN, 1)
        other.functions = {name: [calls, ms * factors.get(name, 1)]
                           for name, (calls, ms) in self.functions.items()}
        return other

    def wall(self):
        return self.rest + sum(ms for _, ms in self.functions.values())


def lose(rng, ms, load):
    """How many slices of 4 ms others take while there is work for so long, and in how many calls."""
    mean = ms / 4 * load / (1 - load)
    return max(0, round(rng.gauss(mean, math.sqrt(mean))))


def profile(rng, program, pid, machine, load=0):
    """One run: the machine's speed, each function's own scatter, calls that lost their CPU; `load`
    is the part of the time in which others have it, at the start of the program, too."""
    calls, lost = {}, 0
    for name, (count, ms) in program.functions.items():
        each = ms * machine * rng.lognormvariate(0, 0.02) / count
        slices = rng.choice((4, 8, 30)) if rng.random() < 0.05 else 0
        taken = min(lose(rng, each * count, load), 20 * count)
        hit = min(taken, count - 2)
        lost += slices + 4 * taken
        calls[name] = [[count - 1 - hit, each], [1, each + slices]]
        if hit:
            calls[name].append([hit, each + 4 * taken / hit])
    rest = program.rest * machine * rng.lognormvariate(0, 0.02)
    taken = 4 * lose(rng, rest, load)
    rest += taken
    delay = rng.uniform(0, 60) if load else 0
    lost += taken
    start = rng.uniform(0, 2) + delay
    sums = {name: sum(n * ms for n, ms in row) for name, row in calls.items()}
    end = start + rest + sum(sums.values())
    root = {"self": rest, "children": [{"func": name, "self": sums[name], "calls": row}
                                       for name, row in calls.items()]}
    return {"pid": pid, "command": "pairs", "start": 0, "end": end, "end_v": end, "last": end,
            "objects": [{"path": "/usr/bin/pairs", "main": True},
                        {"path": "/usr/lib/libdsl.so", "hooked": True, "exports": 14}],
            "funcs": [[name, "libdsl.so"] for name in calls],
            "threads": [{"tid": pid, "name": "pairs", "start": start, "end": end, "v": end - start,
                         "cpu": end - start - lost, "runqueue": lost + delay, "root": root}],
            "wall_page": {"start": 0, "first_join": start, "time": end, "v": end - start}}


def speed(rng):
    """Of a machine with neighbours, some of the time."""
    return rng.lognormvariate(0, 0.03) * (rng.uniform(1.1, 1.5) if rng.random() < 0.15 else 1)


def side(rng, program, name, runs, loaded):
    def load():
        return rng.uniform(0.5, 0.85) if loaded else 0
    if runs == 1:
        return {name: profile(rng, program, 100, speed(rng), load())}
    drift = rng.lognormvariate(0, 0.01)
    return {"%s/%d/run.bp" % (name, i + 1):
            profile(rng, program, 100 + i, drift * rng.lognormvariate(0, 0.05), load())
            for i in range(runs)}


def plant(rng, program):
    """Factors from 0.05 to 20 of one function, half of them, or all; now and then of none."""
    names = list(program.functions)
    which = rng.choice((0, 1, len(names) // 2, len(names)))
    planted = rng.sample(names, which) + ([OWN] if which == len(names) else [])
    factor = math.exp(rng.uniform(math.log(0.05), math.log(20)))
    own = rng.random() < 0.5
    return {name: math.exp(rng.uniform(math.log(0.05), math.log(20))) if own else factor
            for name in planted}


def diff(directory, *options):
    done = subprocess.run([BATTPROF, "diff", *options, "old", "new"], cwd=directory, check=True,
                          stdout=subprocess.PIPE, timeout=60)
    return json.loads(done.stdout)


def is_wrong(change, truth):
    """A change that is not there counts as one of the wrong sign."""
    return change * (truth - 1) <= 0


def check_pair(rng, runs, loaded):
    """Whether the interval holds the truth; what is wrong, as texts."""
    program = Program(rng)
    factors = plant(rng, program)
    other = program.changed(factors)
    truth = other.wall() / program.wall()
    with tempfile.TemporaryDirectory() as directory:
        make_bp.write_all({"files": {**side(rng, program, "old", runs, loaded),
                                    **side(rng, other, "new", runs, loaded)}}, directory)
        got = diff(directory, "--json")
    head = got["headline"]
    wrong = []
    if head["certain"] and is_wrong(head["factor"] - 1, truth):
        wrong.append("the headline says %.3f, the truth is %.3f" % (head["factor"], truth))
    if head["likely"] and not loaded and is_wrong(head["factor"] - 1, truth) and abs(truth - 1) > 0.1:
        wrong.append("the headline says probably %.3f, the truth is %.3f" % (head["factor"], truth))
    if not head["certain"] and abs(math.log(truth)) > math.log(5 if loaded else 2.5):
        wrong.append("%.3f is not certain in %r" % (truth, head))
    for row in got["differences"]:
        if row["time_differs"] and is_wrong(row["change_s"], factors.get(row["name"], 1)):
            wrong.append("%s: %r, truth %.3f" % (row["name"], row, factors.get(row["name"], 1)))
    parts = sum(head[key] for key in ("certain_s", "even_s", "parallel_s", "profiler_s", "unexplained_s"))
    if not math.isclose(parts, head["new_s"] - head["old_s"], abs_tol=1e-6):
        wrong.append("the parts sum to %g of %r" % (parts, head))
    return head["low"] <= truth <= head["high"], wrong


def main():
    bad = 0
    for runs, loaded in ((1, False), (2, False), (5, False), (1, True), (5, True)):
        rng = random.Random(SEED + runs + 100 * loaded)
        results = [check_pair(rng, runs, loaded) for _ in range(PAIRS)]
        held = sum(within for within, _ in results)
        wrong = [text for _, texts in results for text in texts]
        print("%d + %d runs%s: the truth is in the interval of %d of %d pairs, %d wrong"
              % (runs, runs, " on a loaded machine" * loaded, held, PAIRS, len(wrong)))
        for text in wrong[:10]:
            print("   ", text)
        bad += len(wrong) + (held < 0.95 * PAIRS)
    raise SystemExit(1 if bad else 0)


main()
