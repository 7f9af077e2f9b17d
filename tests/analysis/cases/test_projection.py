# SPDX-License-Identifier: MIT
"""Whether the interval of `report --scale` holds what a longer run takes: real pipelines of tasks
whose lengths are drawn from heavy tails, each run short and long.

    projection.py [-n PIPELINES] [-s SEED] [-j AT_ONCE] [-v] [--least HELD]

BATTPROF_CMD and E2E_BIN say where the command and the built subject `lengths` are. The long run is
there twice: with the tasks of the short one as its first (`same`), and with other ones (`redrawn`).
A pipeline whose walls are outside is run again with the same lengths, since other programs lengthen
a wall; the last of its tries counts. The status is 3 if too few are within.
"""
import argparse
import concurrent.futures
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

CMD = os.path.abspath(os.environ.get("BATTPROF_CMD", "build/tools/battprof"))
BIN = os.path.abspath(os.environ.get("E2E_BIN", "build/tests/analysis"))
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONG_S = 1.2  # about what the long run's tasks take
SHORTEST_US = 50
TRIES = 3
NOISE = 3  # the exit status if times alone are wrong, as in tests/harness/__init__.py

# How a task's length is drawn: of a median of about 1.
TAILS = {
    "lognormal 0.5": lambda r: r.lognormvariate(0, 0.5),
    "lognormal 1": lambda r: r.lognormvariate(0, 1),
    "lognormal 1.5": lambda r: r.lognormvariate(0, 1.5),
    "pareto 3": lambda r: r.paretovariate(3),
    "pareto 2": lambda r: r.paretovariate(2),
    "pareto 1.5": lambda r: r.paretovariate(1.5),
    "bimodal 8x": lambda r: (8 if r.random() < 0.25 else 1) * r.lognormvariate(0, 0.1),
    "bimodal 20x": lambda r: (20 if r.random() < 0.15 else 1) * r.lognormvariate(0, 0.3),
}
KINDS = [("spin", 1), ("sleep", 1), ("sleep", 4), ("fork", 2), ("fork", 3), ("fork", 4), ("map", 2),
         ("map", 4), ("wait", 2), ("wait", 4)]


def shield():
    """Where it is allowed: other programs must not lengthen tasks whose length is drawn."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(20))
    except PermissionError:
        pass


class Pipeline:
    def __init__(self, number, seed):
        dice = random.Random("%d/%d" % (seed, number))
        self.kind, self.places = KINDS[number % len(KINDS)]
        self.tail = list(TAILS)[number % len(TAILS)]
        self.count = dice.randint(10, 50)
        self.more = self.count * dice.randint(4, 10)
        self.dice = dice
        mean = statistics.fmean(TAILS[self.tail](random.Random(i)) for i in range(10000))
        self.unit_us = LONG_S * 1e6 * self.places / self.more / mean
        self.name = "%s on %d, %s, %d to %d" % (self.kind, self.places, self.tail, self.count,
                                                self.more)

    def draw(self, count):
        return [max(int(self.unit_us * TAILS[self.tail](self.dice)), SHORTEST_US)
                for _ in range(count)]

    def run(self, directory, name, lengths):
        path = os.path.join(directory, name)
        with open(path + ".us", "w") as file:
            file.write("".join("%d\n" % us for us in lengths))
        python = [sys.executable, os.path.join(HERE, "subjects", "run_lengths.py")]
        program = python if self.kind in ("map", "wait") else [os.path.join(BIN, "lengths")]
        subprocess.run([CMD, "run", "-q", "-o", path, "--task",
                        "batt(task_id)", "--task", "check_batt(task_id)",
                        "--"] + program + [self.kind, str(self.places), path + ".us"],
                       check=True, timeout=120, preexec_fn=shield, stdout=subprocess.DEVNULL)
        return path

    def measure(self):
        """The projection of the short run, and the walls of the two long ones."""
        same, redrawn = self.draw(self.more), self.draw(self.more)
        for n in range(1, TRIES + 1):
            projection, walls = self.measure_once(same, redrawn)
            if n == TRIES or all(projection["low_s"] <= wall <= projection["high_s"]
                                 for wall in walls):
                return projection, walls
            print("   retry projection: %s" % self.name, flush=True)  # for tools/check_summary.py

    def measure_once(self, same, redrawn):
        with tempfile.TemporaryDirectory() as directory:
            short = report(self.run(directory, "short", same[:self.count]), "--scale",
                           str(self.more))
            walls = [report(self.run(directory, name, lengths))["wall_s"]
                     for name, lengths in (("same", same), ("redrawn", redrawn))]
        if short["tasks"]["count"] != self.count:
            raise SystemExit("%s: %d tasks" % (self.name, short["tasks"]["count"]))
        return short["projection"], walls


def report(path, *options):
    done = subprocess.run([CMD, "report", "--json", path] + list(options), check=True,
                          stdout=subprocess.PIPE, timeout=60)
    return json.loads(done.stdout)


def show(pipeline, projection, walls):
    marks = ["" if projection["low_s"] <= wall <= projection["high_s"] else " OUTSIDE"
             for wall in walls]
    print("%-44s %.2f (%.2f to %.2f) s: same %.2f%s, redrawn %.2f%s"
          % (pipeline.name, projection["wall_s"], projection["low_s"], projection["high_s"],
             walls[0], marks[0], walls[1], marks[1]), flush=True)


def summarise(results):
    held = []
    for i, name in enumerate(("same", "redrawn")):
        inside = [p["low_s"] <= walls[i] <= p["high_s"] for p, walls in results]
        widths = [(p["high_s"] - p["low_s"]) / walls[i] for p, walls in results]
        errors = [abs(p["wall_s"] / walls[i] - 1) for p, walls in results]
        held.append(sum(inside))
        print("%-8s %d of %d within the interval, median width %.2f of the run, median error of the "
              "wall %.0f %%" % (name, held[i], len(results), statistics.median(widths),
                                100 * statistics.median(errors)))
    return held


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=30)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-j", type=int, default=3)
    parser.add_argument("--least", type=int, default=0)
    options = parser.parse_args()
    pipelines = [Pipeline(number, options.s) for number in range(options.n)]
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        results = list(pool.map(Pipeline.measure, pipelines))
    for pipeline, (projection, walls) in zip(pipelines, results):
        show(pipeline, projection, walls)
    sys.exit(NOISE if min(summarise(results)) < options.least else 0)


main()
