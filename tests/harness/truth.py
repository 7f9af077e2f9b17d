# SPDX-License-Identifier: MIT
"""What a run on the simulated device must come to, computed from its truth log by plain interval
arithmetic."""
import json
import os
import re

from harness.intervals import common, length, split, union

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def intercepted():
    """{name: class}"""
    names = {}
    for path in ("runtime_api.def", "driver_api.def"):
        with open(os.path.join(ROOT, "cuda", path)) as f:
            names.update(re.findall(r"^X\((\w+), (\w+)\)", f.read(), re.M))
    return names


def blocks(call_class):
    return call_class == "SYNC" or (call_class.startswith("COPY") and
                                    not call_class.endswith("ASYNC"))


class Truth:
    """Seconds of thread time, summed over threads, and counts."""

    def __init__(self, path):
        names, calls, copies, kernels = intercepted(), {}, [], []
        unblocked = {}  # calls that, as far as their names tell, do not wait
        self.copies = {"h2d": [0, 0, 0.0], "d2h": [0, 0, 0.0], "p2p": [0, 0, 0.0]}
        self.kernels = self.calls = 0
        self.named = {}  # calls by name
        self.queue_full = self.held_up = 0.0
        faults = []  # copies that the host waited for, outside of calls
        with open(path) as f:
            lines = [json.loads(line) for line in f if line.endswith("}\n")]
        for line in lines:
            span = (line.get("start", 0), line.get("start", 0) + line.get("took", 0))
            if line["type"] == "call":
                name = re.sub(r"(_v\d+|_pt[sd][zs])+$", "", line["name"])
                if name in names:
                    calls.setdefault(line["tid"], []).append(span)
                    self.calls += 1
                    if not blocks(names[name]):
                        unblocked.setdefault(line["tid"], []).append(span)
                    self.named[name] = self.named.get(name, 0) + 1
            elif line["type"] in ("copy", "migration") and line["direction"] in self.copies:
                peer = line["source"] == line["target"] == "device"
                kind = self.copies["p2p" if peer else line["direction"]]
                if not peer or line["direction"] != "h2d":  # else the second half of one
                    kind[0] += 1
                    kind[1] += line["bytes"]
                kind[2] += (span[1] - span[0]) / 1e9
                if not peer:
                    copies.append(span)
                if line["direction"] == "d2h" and line.get("cause") in (2, 3):
                    faults.append(span)
            elif line["type"] == "fault":
                self.held_up += (span[1] - span[0]) / 1e9
            elif line["type"] == "overhead":
                self.queue_full += (span[1] - span[0]) / 1e9
            elif line["type"] == "kernel":
                kernels.append(span)
                self.kernels += 1
        _, self.transfer, self.wait, self.overhead, hidden = split(calls, copies, kernels)
        # Without kernel records the rest of the calls' time is taken for waiting.
        _, _, _, self.unblocked, _ = split(unblocked, copies, [])
        x, a = union(faults), union(sum(calls.values(), []))
        self.faulted = (length(x) - length(common(a, x))) / 1e9
        self.hidden = hidden - self.faulted
