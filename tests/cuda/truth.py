# SPDX-License-Identifier: MIT
"""What a run on the stand-in device must come to, computed from its truth log by plain interval
arithmetic: the formulae of docs/cuda.md, written a second time."""
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def intercepted():
    names = set()
    for path in ("runtime_api.def", "driver_api.def"):
        with open(os.path.join(ROOT, "cuda", path)) as f:
            names.update(re.findall(r"^X\((\w+),", f.read(), re.M))
    return names


def union(intervals):
    merged = []
    for start, end in sorted(i for i in intervals if i[1] > i[0]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def intersect(a, b):
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            found.append([start, end])
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return found


class Truth:
    """Seconds of thread time, summed over threads, and counts."""

    def __init__(self, path):
        names, calls, copies, kernels = intercepted(), {}, [], []
        self.copies = {"h2d": [0, 0, 0.0], "d2h": [0, 0, 0.0], "p2p": [0, 0, 0.0]}
        self.kernels = self.calls = 0
        with open(path) as f:
            lines = [json.loads(line) for line in f if line != "\n"]
        for line in lines:
            span = (line.get("start", 0), line.get("end", 0))
            if line["type"] == "call":
                name = re.sub(r"(_v\d+|_pt[sd][zs])+$", "", line["name"])
                if name in names:
                    calls.setdefault(line["tid"], []).append(span)
                    self.calls += 1
            elif line["type"] in ("copy", "migration") and line["direction"] in self.copies:
                peer = line["source"] == line["target"] == "device"
                kind = self.copies["p2p" if peer else line["direction"]]
                kind[0] += 1
                kind[1] += line["bytes"]
                kind[2] += (span[1] - span[0]) / 1e9
                if not peer:
                    copies.append(span)
            elif line["type"] == "kernel":
                kernels.append(span)
                self.kernels += 1
        self.fill({tid: union(c) for tid, c in calls.items()}, union(copies), union(kernels))

    def fill(self, calls, copies, kernels):
        either = union(copies + kernels)
        everywhere = union([i for c in calls.values() for i in c])
        total = sum(length(c) for c in calls.values())
        self.transfer = sum(length(intersect(c, copies)) for c in calls.values()) / 1e9
        busy = sum(length(intersect(c, either)) for c in calls.values()) / 1e9
        self.wait = busy - self.transfer
        self.overhead = total / 1e9 - busy
        self.hidden = (length(copies) - length(intersect(everywhere, copies))) / 1e9
