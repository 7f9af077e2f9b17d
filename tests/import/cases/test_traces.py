# SPDX-License-Identifier: MIT
"""Traces of real GPUs: counts that are known, and the attribution compared with arithmetic on sets
of intervals that shares no code with ours. Exit 77 where the traces are not."""
import collections
import gzip
import json
import os
import sqlite3
import sys
import unittest

from harness.imports import ImportTest, cuda_calls
from harness.intervals import common, length, split, union

TRACES = os.environ["BP_TEST_TRACES"]


def read_nsys(path):
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    calls = collections.defaultdict(list)
    for start, end, thread in database.execute(
            "SELECT start, end, globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME"):
        calls[thread].append((start, end))
    copies = database.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_MEMCPY"
                              " WHERE copyKind IN (1, 2, 11, 12)").fetchall()
    kernels = database.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchall()
    return split(calls, copies, kernels)


def read_kineto(path):
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    calls, copies, kernels = collections.defaultdict(list), [], []
    for event in events:
        if event.get("ph") != "X":
            continue
        interval = (int(event["ts"] * 1000), int((event["ts"] + event["dur"]) * 1000))
        if event["cat"] == "cuda_runtime":
            calls[event["tid"]].append(interval)
        elif event["cat"] == "kernel":
            kernels.append(interval)
        elif event["cat"] == "gpu_memcpy" and "DtoD" not in event["name"]:
            copies.append(interval)
    return split(calls, copies, kernels)


def downloads(path):
    """Seconds in the calls that downloaded, and of these while a kernel ran."""
    with gzip.open(path) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    down = {e["args"]["correlation"] for e in events
            if e["cat"] == "gpu_memcpy" and "DtoH" in e["name"]}
    calls = [(e["ts"], e["ts"] + e["dur"]) for e in events
             if e["cat"] == "cuda_runtime" and e["args"].get("correlation") in down]
    kernels = union([(e["ts"], e["ts"] + e["dur"]) for e in events if e["cat"] == "kernel"])
    held = sum(end - start for start, end in calls)
    return held / 1e6, sum(length(common([call], kernels)) for call in calls) / 1e6


class Traces(ImportTest):
    def check(self, name, expected, tolerance):
        """The report against the other arithmetic; the tolerance is for calls that overlap by
        rounding, which we cut."""
        report = self.report(os.path.join(TRACES, name))
        transfer = report["categories"]["transfer"]["thread_s"]
        wait, other = (report["framework"][key] for key in ("kernel_wait_s", "cuda_api_s"))
        hidden = sum(report["transfers"][key][part] for key in ("h2d", "d2h")
                     for part in ("hidden_s", "faulted_s"))
        for got, want in zip((transfer + wait + other, transfer, wait, other, hidden), expected):
            self.assertAlmostEqual(got, want, delta=tolerance * want + 1e-9)
        return report

    def counts(self, report):
        return {key: row["count"] for key, row in report["transfers"].items()}

    def test_pinned(self):
        path = os.path.join(TRACES, "nsys-rtx4060ti-pinned.sqlite")
        report = self.check("nsys-rtx4060ti-pinned.sqlite", read_nsys(path), 1e-6)
        for got, want in ((report["categories"]["transfer"]["s"], 0.091644),
                          (report["framework"]["kernel_wait_s"], 0.000532),
                          (report["framework"]["cuda_api_s"], 0.882983)):
            self.assertAlmostEqual(got, want, delta=0.001 * want)
        self.assertEqual(cuda_calls(report), 44)
        self.assertEqual(self.counts(report),
                         {"h2d": 8, "d2h": 4, "d2d": 0, "p2p": 0, "memset": 0})
        self.assertEqual({(row["source"], row["target"]) for row in report["transfer_list"]},
                         {("pinned", "device"), ("device", "pinned")})
        self.assertEqual(report["device"]["name"], "NVIDIA GeForce RTX 4060 Ti")

    def test_managed(self):
        path = os.path.join(TRACES, "nsys-t4-managed.sqlite")
        report = self.check("nsys-t4-managed.sqlite", read_nsys(path), 1e-6)
        counts = self.counts(report)
        self.assertEqual(counts["h2d"] + counts["d2h"], 2370)
        self.assertEqual({row["source"] for row in report["transfer_list"]}, {"managed"})
        self.assertEqual(report["device"]["name"], "Tesla T4")
        # What came down came because the host touched it (768 pages and their neighbours).
        self.assertAlmostEqual(report["transfers"]["d2h"]["faulted_s"], 0.042418, delta=5e-5)
        self.assertEqual(report["transfers"]["d2h"]["hidden_s"], 0)
        self.assertEqual(report["transfers"]["h2d"]["faulted_s"], 0)

    def test_alexnet(self):
        path = os.path.join(TRACES, "kineto-a100-alexnet.json.gz")
        report = self.check("kineto-a100-alexnet.json.gz", read_kineto(path), 0.001)
        self.assertEqual(cuda_calls(report), 361)
        self.assertEqual(sum(row["count"] for row in report["kernels"]), 79)
        self.assertEqual(self.counts(report)["h2d"], 16)
        self.assertEqual({row["source"] for row in report["transfer_list"]
                          if row["direction"] == "h2d"}, {"pageable"})

    def test_event_sync(self):
        path = os.path.join(TRACES, "kineto-a100-event-sync.json.gz")
        report = self.check("kineto-a100-event-sync.json.gz", read_kineto(path), 0.01)
        self.assertEqual(self.counts(report)["d2h"], 1)
        self.assertEqual(cuda_calls(report), 12)

    def test_training(self):
        path = os.path.join(TRACES, "kineto-a100-training.json.gz")
        report = self.check("kineto-a100-training.json.gz", read_kineto(path), 0.001)
        self.assertEqual(cuda_calls(report), 33924)
        self.assertEqual(sum(row["count"] for row in report["kernels"]), 6080)
        counts = self.counts(report)
        self.assertEqual((counts["h2d"], counts["d2h"], counts["d2d"]), (80, 30, 1280))
        row = report["transfers"]["d2h"]
        held, computed = downloads(path)
        self.assertAlmostEqual(row["in_call_s"], held, delta=0.001)
        self.assertAlmostEqual(row["in_call_wait_s"], computed, delta=0.01)
        parts = ("in_call_moving_s", "in_call_wait_s", "in_call_own_s")
        self.assertAlmostEqual(sum(row[key] for key in parts), row["in_call_s"], delta=1e-9)
        self.assertIn("30 downloads to pageable memory held the CPU for 758 ms",
                      report["advice"][0]["what"])


if __name__ == "__main__":
    if not os.path.isdir(TRACES):
        print("SKIP: no traces of real GPUs in", TRACES)
        sys.exit(77)
    unittest.main()
