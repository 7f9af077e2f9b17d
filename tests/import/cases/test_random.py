# SPDX-License-Identifier: MIT
"""Random traces in whole microseconds, where much begins and ends together: the attribution
compared with arithmetic on sets of intervals, counts with what was put in."""
import collections
import json
import random
import unittest

from harness.imports import ImportTest, cuda_calls
from harness.intervals import split

PID = 77
SEEDS = 30
DIRECTIONS = {"HtoD": "h2d", "DtoH": "d2h", "DtoD": "d2d"}


class Maker:
    """Threads of nested operators and CUDA calls, ranges across them, and work of two devices."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events, self.copies, self.kernels = [], [], []
        self.calls = collections.defaultdict(list)
        self.counts = collections.Counter()
        self.correlation = 0
        for tid in range(PID, PID + self.random.randint(1, 3)):
            self.fill(tid, 1000, 1000 + self.random.randint(50, 600), 0)
            self.range(tid)
        for _ in range(self.random.randint(0, 40)):
            self.work()
        self.random.shuffle(self.events)

    def host(self, category, name, tid, start, end):
        self.correlation += 1
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": PID, "tid": tid,
                            "ts": start, "dur": end - start,
                            "args": {"correlation": self.correlation}})
        if category.startswith("cuda"):
            self.calls[tid].append((start * 1000, end * 1000))
            self.counts["calls"] += 1

    def fill(self, tid, start, end, depth):
        while True:
            start += self.random.randint(0, 8)
            last = start + self.random.randint(0, 30)
            if last > end:
                return
            if self.random.random() < 0.5:
                self.host("cuda_runtime", "cuda%d" % self.random.randint(0, 3), tid, start, last)
                if self.random.random() < 0.3:
                    inner = sorted(self.random.choices(range(start, last + 1), k=2))
                    self.host("cuda_driver", "cuInner", tid, *inner)
            else:
                self.host("cpu_op", "op%d" % self.random.randint(0, 4), tid, start, last)
                if depth < 4:
                    self.fill(tid, start, last, depth + 1)
            start = last

    def range(self, tid):
        """From anywhere to anywhere."""
        for _ in range(self.random.randint(0, 3)):
            start = self.random.randint(1000, 1500)
            self.host("user_annotation", "range", tid, start, start + self.random.randint(1, 200))

    def work(self):
        start = self.random.randint(990, 1600)
        time = self.random.randint(0, 40)
        arguments = {"device": self.random.randint(0, 1), "bytes": self.random.randint(0, 1 << 20),
                     "correlation": self.random.randint(1, self.correlation + 3)}
        category, name = "kernel", "k%d" % self.random.randint(0, 3)
        if self.random.random() < 0.5:
            category, way = "gpu_memcpy", self.random.choice(list(DIRECTIONS))
            name = "Memcpy %s (Pinned -> Device)" % way
            self.counts[DIRECTIONS[way]] += 1
            self.counts[DIRECTIONS[way] + " bytes"] += arguments["bytes"]
        self.counts[category] += 1
        if "DtoD" not in name:
            (self.kernels if category == "kernel" else self.copies).append(
                (start * 1000, (start + time) * 1000))
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7,
                            "ts": start, "dur": time, "args": arguments})


class Random(ImportTest):
    def check(self, seed):
        made = Maker(seed)
        path = self.path("random.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": made.events}, file)
        report = self.report(path)
        transfer = report["categories"]["transfer"]["thread_s"]
        wait, other = (report["framework"][key] for key in ("kernel_wait_s", "cuda_api_s"))
        hidden = sum(report["transfers"][key]["hidden_s"] for key in ("h2d", "d2h"))
        for got, want in zip((transfer + wait + other, transfer, wait, other, hidden),
                             split(made.calls, made.copies, made.kernels)):
            self.assertAlmostEqual(got, want, delta=2e-9)
        self.assertEqual(cuda_calls(report), made.counts["calls"])
        self.assertEqual(sum(row["count"] for row in report["kernels"]), made.counts["kernel"])
        for way in DIRECTIONS.values():
            self.assertEqual(report["transfers"][way]["count"], made.counts[way])
            self.assertEqual(report["transfers"][way]["bytes"], made.counts[way + " bytes"])

    def test_seeds(self):
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                self.check(seed)


if __name__ == "__main__":
    unittest.main()
