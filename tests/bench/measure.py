# SPDX-License-Identifier: MIT
"""Interleaved measuring: subjects that stay alive, asked in turn for slices of a millisecond."""
import os
import select
import shutil
import statistics
import subprocess

SLICE_NS = 300_000  # short against the scheduler's time slice: most slices run undisturbed
PATIENCE_S = 120
TRIES = 4
PROBE = "probe"
QUIET = 1.15  # a round counts as quiet if a fixed piece of work took at most so many times its best
OVERLAP_PCT = 80  # two threads must have run at the same time for this part of a slice


class CannotMeasure(Exception):
    """A subject that should run does not."""


class Subject:
    """A process that answers "what calls" with nanoseconds per call and overlap."""

    def __init__(self, name, command, extra, most):
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("LD_", "BATTPROF_"))}
        self.name, self.most, self.calls, self.made = name, most, {}, {}
        self.process = subprocess.Popen(command, env=environment | extra, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, what, calls):
        try:
            self.process.stdin.write(f"{what} {calls}\n".encode())
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
            line = self.process.stdout.readline().split() if ready else []
        except BrokenPipeError:
            line = []
        if len(line) != 2:
            raise CannotMeasure(f"{self.name}: no answer to '{what} {calls}'")
        self.made[what] = self.made.get(what, 0) + calls
        return float(line[0]), float(line[1])

    def slice(self, what, unit):
        """One slice of about SLICE_NS; how many calls that is, is found at the first time."""
        if what not in self.calls:
            self.calls[what] = self.find_calls(what, unit)
        for _ in range(TRIES):
            ns, overlap = self.ask(what, self.calls[what])
            if overlap >= OVERLAP_PCT:
                return ns
        return None

    def find_calls(self, what, unit):
        self.ask(what, unit)  # what happens once: lazy binding, first nodes
        calls = unit
        while calls < self.most:
            per_call = min(self.ask(what, calls)[0] for _ in range(2))
            if per_call * calls > SLICE_NS / 8:
                return max(unit, min(int(SLICE_NS / per_call), self.most) // unit * unit)
            calls *= 4
        return calls

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise CannotMeasure(f"{self.name}: does not end") from None


def interleave(start, questions, generations, rounds, probe=None):
    """Rounds of slices {what: [{name: ns}]}. `start` makes the subjects anew in each generation:
    where memory happens to lie is then part of the spread. `questions` are (what, unit, names or
    None for all). The subject named `probe` times fixed work before and after each round: under
    PROBE is the longer one."""
    samples = {what: [] for what, _, _ in questions}
    for _ in range(generations):
        subjects = start()
        for number in range(rounds):
            for what, unit, names in questions:
                asked = [s for s in subjects if names is None or s.name in names]
                asked = asked[number % len(asked):] + asked[:number % len(asked)]
                prober = [s for s in subjects if s.name == probe]
                work = f"{PROBE} {what.split()[-1]}"  # on as many processors
                before = [s.slice(work, 1) for s in prober]
                taken = {s.name: s.slice(what, unit) for s in asked}
                times = before + [s.slice(work, 1) for s in prober]
                taken[PROBE] = max((t or float("inf") for t in times), default=1)
                samples[what].append(taken)
        for subject in subjects:
            subject.close()
    return samples


def quiet(samples):
    """For each `what` the numbers of its quiet rounds. The choice looks at the probe only."""
    best = min(r[PROBE] for rounds in samples.values() for r in rounds)
    return {what: {i for i, r in enumerate(rounds) if r[PROBE] <= QUIET * best}
            for what, rounds in samples.items()}


def spread(values):
    """Quartiles of what was measured, or None."""
    values = sorted(v for v in values if v is not None)
    if len(values) < 3:
        return None
    low, middle, high = statistics.quantiles(values, n=4)
    return low, middle, high


def above(rounds, name, base="bare"):
    """Of each round: what `name` costs beyond `base`, or None."""
    return [r[name] - r[base] if r.get(name) is not None and r.get(base) is not None else None
            for r in rounds]


def ratios(tops, bottoms):
    return [a / b if a is not None and b is not None and b > 0 else None
            for a, b in zip(tops, bottoms)]


def spawn(helper, count, preloads, command, extra):
    """Nanoseconds of `count` runs of the command: one list for each of the preloads."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "BATTPROF_"))}
    result = subprocess.run([helper, str(count)] + preloads + ["--"] + command, text=True,
                            env=environment | extra, capture_output=True, check=False)
    if result.returncode:
        raise CannotMeasure(f"{' '.join(command)}: did not run, or failed")
    return [[int(v) for v in line.rpartition(":")[2].split()]
            for line in result.stdout.splitlines()]


def have(tool):
    return shutil.which(tool) is not None
