# SPDX-License-Identifier: MIT
"""The samples of a run, read through the profile's own reader (dump.c), with native functions named
by the symbol tables of their objects: independent of what `report` makes of them."""
import bisect
import collections
import json
import math
import os
import subprocess

from harness import check, check_time, execute

DUMP = os.path.abspath(os.environ["SAMPLE_DUMP"])
POINTS = 2.0  # a share with samples enough is not further off
DEVIATIONS = 5  # chance alone: once in a million
EXACT, SIGNAL, FUNCTION = 1, 2, 4
tables = {}


def symbols(path):
    """Sorted (address, name) of the functions of an object."""
    if path not in tables:
        found = {}
        for option in ("", "-D"):
            output = subprocess.run(["nm"] + option.split() + ["--defined-only", path],
                                    capture_output=True, text=True).stdout
            for line in output.splitlines():
                fields = line.split()
                if len(fields) == 3 and fields[1] in "tTwWi":
                    found[int(fields[0], 16)] = fields[2].split("@")[0]
        tables[path] = sorted(found.items())
    return tables[path]


def name(frame):
    if frame["kind"] == "native":
        table = symbols(frame["object"])
        place = frame["offset"] - (0 if frame["flags"] & (EXACT | FUNCTION) else 1)
        i = bisect.bisect_right(table, (place, "\x7f")) - 1
        return table[i][1] if i >= 0 else "?"
    return {"ledger": "ledger:", "truncated": "truncated:"}.get(frame["kind"], "") + frame["name"]


class Stack:
    """One sample: names innermost first, how often, and the frames as dumped."""

    def __init__(self, sample):
        self.frames = sample["frames"]
        self.names = [name(frame) for frame in self.frames]
        self.count, self.weight = sample["count"], sample["weight"]
        self.kind, self.node, self.own = sample["kind"], sample["node"], sample["own"]
        self.func = sample["func"]  # of the node, an index
        self.truncated = self.frames[-1]["name"] if self.frames[-1]["kind"] == "truncated" else None

    def __str__(self):
        return "%d * %s in %s" % (self.count, " < ".join(self.names), self.node or "the thread")


class Samples:
    def __init__(self, run):
        self.files = []
        for file in run.files():
            output = subprocess.run([DUMP, os.path.join(run.profile, file)], capture_output=True,
                                    text=True, check=True).stdout
            self.files.append(json.loads(output))
        self.all = [Stack(sample) for file in self.files for sample in file["samples"]]
        self.stacks = [stack for stack in self.all if stack.kind == 0]

    def total(self, field):
        return sum(file["sampler"][field] for file in self.files if file["sampler"])

    def check_sums(self):
        """No sample is lost: each is counted in a stack, or as dropped."""
        for file in self.files:
            sampler = file["sampler"]
            if not sampler:
                continue
            counted = sum(s["count"] for s in file["samples"] if s["kind"] == 0)
            check(sampler["taken"] == counted + sampler["dropped_full"] + sampler["dropped_busy"],
                  "%d taken, %d counted: %s" % (sampler["taken"], counted, sampler))
            check(not file["missing"], file["missing"])

    def having(self, function):
        return [stack for stack in self.stacks if function in stack.names]


def sampled(argv, rate=1000, **how):
    """Runs a program; its samples."""
    env = dict(how.pop("env", {}), BATTPROF_SAMPLE=str(rate))
    run = execute(argv, True, env=env, **how)
    check(run.status == 0, "status %s: %s" % (run.status, run.stderr[-400:]))
    samples = Samples(run)
    samples.check_sums()
    return run, samples


def slack(share, samples):
    """Points by which chance may set off a share in percent. How many samples a second of CPU time
    has depends on the kernel's clock."""
    return max(POINTS, DEVIATIONS * math.sqrt(share * (100 - share) / max(samples, 1)))


def check_share(what, got, share, samples):
    """A share in percent, 0 if it was not sampled."""
    check_time(abs(got - share) <= slack(share, samples),
               "%s: %.2f %% of %d samples, not %.2f" % (what, got, samples, share))
    check_time(got > 0, "%s: not one of %d samples" % (what, samples))


def inclusive(stacks):
    """Weight by function, each once per stack; and the sum."""
    weights = collections.Counter()
    for stack in stacks:
        for function in set(stack.names):
            weights[function] += stack.weight
    return weights, sum(stack.weight for stack in stacks)


def is_chain(names, chain):
    """Whether `chain` occurs in `names` in this order."""
    rest = iter(names)
    return all(function in rest for function in chain)
