#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes profile files from a readable description: make_bp.py INPUT.json DIRECTORY

It writes profile/format.h a second time, on purpose: a change of the layout by accident shows as a
failing golden case. Times in the description are milliseconds from the start of the run; README.md
lists the keys.
"""
import json
import os
import struct
import sys

PAGE = 4096
BASE_MS = 1000000
ADDRESS = 0x7F0000000000
BUCKETS = 96
NONE = 0xFFFFFFFF
STATES = {"running": 0, "exited": 1, "execed": 2}
FLAGS = {"tree": 1, "session": 2, "late": 4, "forked": 8, "lost_disk": 16, "lost_stubs": 32,
         "lost_tree": 64, "off": 128, "no_cuda": 256}
KINDS = {"root": 0, "call": 1, "wait": 2, "io": 3, "folded": 4}
STRINGS, OBJECTS, FUNCS, THREADS, NODES, ENTRIES, REAPED, TREE = range(1, 9)
OBJECT_FLAGS = {"hooked": 1, "late": 2, "gone": 4, "main": 8}
ENTRY_FLAGS = {"closed": 1, "suspended": 2, "inherited": 4}
NODE = struct.Struct("<IIQQQQQQII97Q")
PYTHON_NODE = struct.Struct("<IIQQQQQQII98Q")  # with `passed`, for profiles with a Python cost
ENTRY = struct.Struct("<8Q")
THREAD_SIZE = 320
DEVICES, TRANSFERS, KERNELS, SPLITS, WAITS, COLLECTOR = range(9, 15)
DIRECTIONS = ["h2d", "d2h", "d2d", "p2p", "memset"]
MEMORIES = ["unknown", "pageable", "pinned", "device", "array", "managed"]
COLLECTOR_STATES = ["off", "waiting", "host", "active", "stopped", "imported"]
COLLECTOR_FLAGS = {"cupti": 1, "stolen": 2, "hashed": 4, "full": 8, "simulated": 16,
                   "forked": 32, "unread": 64}
COLLECTOR_COUNTS = ["records", "dropped", "unmatched", "late", "late_time", "lost_calls", "flushed",
                    "period", "own_time"]
SIZE_BUCKETS = 40
TASKS, TASK_NODES, TASK_FOLDS, VARIABLES = range(18, 22)
TASK_FLAGS = {"phase": 1, "failed": 2, "nvtx": 4, "api": 8, "unfinished": 16, "elsewhere": 64}
TASK_DETAILED = 32
FUNC_FLAGS = {"cuda": 1, "python": 2, "chosen": 4, "resumed": 0x20, "task": 0x100, "sample": 0x400}
FUNC_PHASE = 0x200


FRAMES, SAMPLES, SAMPLER = range(15, 18)
SAMPLER_STATES = ["off", "on", "stopped"]
TRUNCATIONS = ["depth", "walk", "stack"]
SAMPLER_COUNTS = ["taken", "dropped_full", "dropped_busy"]


def bucket(ticks):
    d = ticks | 2
    if d >> 48:
        return BUCKETS - 1
    power = d.bit_length() - 1
    return 2 * (power - 1) + (d >> (power - 1))


class Strings:
    def __init__(self):
        self.data = bytearray(b"\0")
        self.known = {"": 0}

    def put(self, text):
        if text not in self.known:
            self.known[text] = len(self.data)
            self.data += text.encode("utf-8", "surrogateescape") + b"\0"
        return self.known[text]


class Profile:
    def __init__(self, spec):
        self.spec = spec
        self.clock = spec.get("clock", "monotonic")
        self.rate = spec.get("ticks_per_s", 10**9)
        self.strings = Strings()
        self.chunks = bytearray()
        self.objects = spec.get("objects", [])
        self.nodes = {}  # (thread, path of names): index
        self.node = PYTHON_NODE if "python_cost" in spec else NODE
        self.funcs = [["", None, "root"], ["", None, "folded"]] + spec.get("funcs", [])

    def ticks(self, ms):
        return round(ms * self.rate / 1000)

    def at(self, ms):
        """An instant; `null` and missing ones are 0, "not yet"."""
        return 0 if ms is None else self.ticks(BASE_MS + ms)

    def pair(self, ms):
        if ms is None:
            return struct.pack("<3Q", 0, 0, 0)
        return struct.pack("<3Q", self.at(ms), round((BASE_MS + ms) * 1e6),
                           1700000000 * 10**9 + round(ms * 1e6))

    def v(self, ms):
        return 0 if ms is None else self.ticks(ms) << 12

    def place(self):
        return ADDRESS + PAGE + len(self.chunks)

    def chunk(self, kind, item_size, items, count, thread=NONE, extra_capacity=0):
        capacity = count + extra_capacity
        size = (64 + max(capacity * item_size, len(items)) + PAGE - 1) // PAGE * PAGE
        head = struct.pack("<IHHQQIIII3Q", 0x4B435042, kind, item_size, size, self.place(), thread,
                           0, capacity, count, 0, 0, 0)
        self.chunks += (head + bytes(items)).ljust(size, b"\0")

    def find_func(self, name):
        """NAME, or NAME@MODULE where several have the name."""
        only, _, module = name.partition("@")
        for index, func in enumerate(self.funcs):
            if func[0] == only and (not module or func[3]["module"] == module):
                return index
        if name == "(folded)":
            return 1
        raise SystemExit("no function %s in funcs" % name)

    def find_object(self, name):
        for index, item in enumerate(self.objects):
            if os.path.basename(item["path"]) == name:
                return index
        return NONE

    def pack_objects(self):
        data = b""
        for item in self.objects:
            flags = sum(bit for name, bit in OBJECT_FLAGS.items() if item.get(name))
            base = int(item.get("base", "0"), 16)
            data += struct.pack("<IIQQQIIII32sI5I", self.strings.put(item["path"]), 0, base, base,
                                base + (0x100000 if base else 0), flags, item.get("exports", 0), 0, 0, b"",
                                item.get("patch_error", 0), *([0] * 5))
        self.chunk(OBJECTS, 104, data, len(self.objects))

    def pack_funcs(self):
        data = b""
        for func in self.funcs:
            name, library, kind, more = (func + ["call", {}][len(func) - 2:])[:4] \
                if len(func) < 4 else func
            flags = sum(bit for key, bit in FUNC_FLAGS.items() if more.get(key))
            flags |= FUNC_PHASE if "phase" in more else 0
            data += struct.pack("<IIQHH7I", self.strings.put(name), self.find_object(library), 0,
                                KINDS[kind], flags, self.strings.put(more.get("module", "")),
                                self.strings.put(more.get("file", "")), more.get("line", 0),
                                self.strings.put(more.get("phase", "")), 0, 0, 0)
        self.chunk(FUNCS, 48, data, len(self.funcs))

    def pack_node(self, node, parent, func, index):
        histogram = [0] * BUCKETS
        shortest, longest = 2**64 - 1, 0
        for count, ms in node.get("calls", []):
            ticks = self.ticks(ms)
            histogram[bucket(ticks)] += count
            shortest, longest = min(shortest, ticks), max(longest, ticks)
        span = longest - shortest if longest >= shortest else 0
        passed = [node.get("passed", 0)] if self.node is PYTHON_NODE else []
        return self.node.pack(parent, func, self.ticks(node.get("self", 0)),
                              self.ticks(node.get("total", total_of(node))),
                              self.ticks(node.get("inner", 0)), node.get("aborted", 0), shortest,
                              span, index, 0, *histogram, self.ticks(node.get("first", 0)), *passed)

    def pack_nodes(self, thread, number):
        """Returns the addresses of the nodes by their path of names."""
        packed, places = [], {}
        address = self.place() + 64

        def walk(node, parent, path):
            index = len(packed)
            func = self.find_func(path[-1]) if path else 0
            packed.append(self.pack_node(node, parent, node.get("bad_func", func), index))
            places[path] = address + index * self.node.size
            self.nodes[number, path] = index
            for child in node.get("children", []):
                walk(child, index, path + (child["func"],))

        walk(thread.get("root", {}), NONE, ())
        self.chunk(NODES, self.node.size, b"".join(packed), len(packed), number)
        return places

    def pack_entries(self, thread, number, places, root_address):
        """Outermost first, as one reads a call path; returns the address of the innermost."""
        opened = thread.get("open", [])
        data, below = b"", root_address
        address = self.place() + 64
        for item in opened:
            node = places[tuple(item["path"])]
            flags = sum(ENTRY_FLAGS[name] for name in item.get("flags", []))
            parent = item.get("bad_parent", below)
            data += ENTRY.pack(0, 0, self.at(item["start"]), self.ticks(item.get("child", 0)),
                               parent, node, 0, 0x1000 | flags)
            below = address + len(data) - ENTRY.size
        for last in thread.get("free_entries", []):
            data += ENTRY.pack(0, 0, self.at(last), 0, 0, 0, 0, 0)
        self.chunk(ENTRIES, ENTRY.size, data, len(data) // ENTRY.size, number, 4)
        return below

    def pack_thread(self, thread, number, current):
        root = ENTRY.pack(0, 0, self.at(thread.get("start", 0)),
                          self.ticks(thread.get("child", 0)), 0, 0, 0, 0)
        ended = thread.get("end") is not None
        v_since = self.v(thread["v_since"]) if "v_since" in thread else 0
        return (struct.pack("<8Q", 0, current, 0, *([0] * 5)) + root + bytes(ENTRY.size) +
                struct.pack("<IiII5Q4QII16s2Q", number, thread["tid"], 2 if ended else 1,
                            thread.get("lives", 1), self.at(thread.get("start", 0)),
                            self.at(thread.get("end")), self.ticks(thread.get("lifetime", 0)),
                            round(thread.get("cpu", 0) * 1e6),
                            round(thread.get("runqueue", 0) * 1e6), self.v(thread.get("v")),
                            v_since, self.ticks(thread.get("idle", 0)),
                            thread.get("waits", 0), thread.get("in_tree", 1), 0,
                            thread.get("name", "main").encode(), 0, 0))

    def pack_threads(self):
        """The threads' own chunk comes first: their root entries need an address."""
        threads = self.spec.get("threads", [])
        if not threads:
            return
        where = len(self.chunks)
        first = self.place() + 64
        self.chunk(THREADS, THREAD_SIZE, b"\0" * THREAD_SIZE * len(threads), len(threads))
        packed = b""
        for number, thread in enumerate(threads):
            root_address = first + THREAD_SIZE * number + 64
            places = self.pack_nodes(thread, number)
            current = self.pack_entries(thread, number, places, root_address)
            packed += self.pack_thread(thread, number, thread.get("bad_current", current))
            self.pack_samples(thread, number)
        self.chunks[where + 64:where + 64 + len(packed)] = packed

    def pack_frame(self, text, thread, leaf):
        """py:NAME or py:NAME:LINE, LIBRARY+0xADDRESS, in:LIBRARY+0xADDRESS for a
        function without a line, call:PATH/OF/NODE, cut:REASON"""
        kind, _, rest = text.partition(":")
        if kind == "py":
            name, _, line = rest.partition(":")
            return 1, 0, 0, self.find_func(name), int(line or 0)
        if kind == "call":
            return 2, 0, 0, self.nodes[thread, tuple(rest.split("/"))], 0
        if kind == "cut":
            return 3, 0, 0, TRUNCATIONS.index(rest), 0
        library, _, address = (rest if kind == "in" else text).partition("+")
        base = int(self.objects[self.find_object(library)]["base"], 16) if library else 0
        flags = 4 if kind == "in" else 1 if leaf else 0
        return 0, flags, base + int(address, 16), 0, 0

    def pack_samples(self, thread, number):
        """Stacks are written from the outermost frame to the innermost."""
        frames, samples = {}, []
        for item in thread.get("samples", []):
            parent = NONE
            for depth, text in enumerate(item["stack"]):
                leaf = depth == len(item["stack"]) - 1
                key = (parent, *self.pack_frame(text, number, leaf))
                parent = frames.setdefault(key, len(frames))
            direction = 1 + DIRECTIONS.index(item["direction"]) if "direction" in item else 0
            samples.append(struct.pack("<2IHBBI3Q", self.nodes[number, tuple(item.get("path", []))],
                                       parent, 1 if "bytes" in item else 0, direction, 0, 0,
                                       item["count"],
                                       item.get("bytes", round(item.get("cpu", 0) * 1e6)),
                                       self.ticks(item.get("own", 0))))
        if samples:
            data = b"".join(struct.pack("<IHHQII", *key) for key in frames)
            self.chunk(FRAMES, 24, data, len(frames), number)
            self.chunk(SAMPLES, 40, b"".join(samples), len(samples), number)

    def pack_sampler(self):
        item = self.spec.get("sampler")
        if item is None:
            return
        data = struct.pack("<4I3Q4Q2Q2IQQ3Q256s192s", SAMPLER_STATES.index(item["state"]),
                           item.get("flags", 3), item.get("rate", 200), 27,
                           *[item.get(name, 0) for name in SAMPLER_COUNTS],
                           *[item.get("truncated", {}).get(name, 0) for name in TRUNCATIONS], 0,
                           item.get("python_lost", 0), item.get("threads_failed", 0),
                           item.get("timer_errno", 0), 0, 0, self.at(item.get("latest")),
                           item.get("within", 0), 0, round(item.get("weight", 0) * 1e6), b"",
                           item.get("reason", "").encode())
        self.chunk(SAMPLER, 584, data, 1)

    def pack_reaped(self):
        data = b"".join(struct.pack("<iiQQII", item["pid"], item["status"], self.at(item["at"]),
                                    self.v(item.get("v")), item.get("sent", 0), 0)
                        for item in self.spec.get("reaped", []))
        if data:
            self.chunk(REAPED, 32, data, len(data) // 32)

    def pack_tree(self):
        page = self.spec.get("wall_page")
        if page is None:
            return
        time = self.ticks(page["time"]) >> 4
        closed = [self.at(page["closed"]), self.ticks(page["closed"])] if "closed" in page else [0, 0]
        data = struct.pack("<QQQQII2Q", self.v(page["v"]), time << 16 | page.get("n", 0),
                           self.at(page.get("start", 0)), self.at(page.get("first_join", 0)),
                           2 if self.clock == "monotonic" else 1, page.get("processes", 1), *closed)
        self.chunk(TREE, 64 + 8 * 1016, data.ljust(64 + 8 * 1016, b"\0"), 1)

    def context(self, item, prefix=""):
        """(thread, node) of a path; without one: unknown."""
        path = item.get(prefix + "path")
        if path is None:
            return NONE, NONE
        thread = item.get(prefix + "thread", 0)
        return thread, self.nodes[thread, tuple(path)]

    def pack_device(self, item):
        rates = [round(item.get("best", {}).get(name, 0) * 1e9) for name in DIRECTIONS]
        latencies = [self.ticks(item.get(key, {}).get(name, 0))
                     for key in ("latency_pageable", "latency_pinned") for name in DIRECTIONS]
        busy = [self.ticks(item.get(key, 0)) for key in ("busy", "busy_copy", "busy_compute")]
        return struct.pack("<4IQ5Q10Q3Q4Q", item.get("index", 0), self.strings.put(item["name"]),
                           1 if item.get("simulated") else 0, 0, item.get("memory", 0), *rates,
                           *latencies, *busy, 0, 0, 0, 0)

    def pack_transfer(self, item):
        sizes = [0] * SIZE_BUCKETS
        for size, count in item.get("sizes", []):
            sizes[min(max(size.bit_length() - 1, 0), SIZE_BUCKETS - 1)] += count
        triples = [(item.get(name, [0, 0, 0])) for name in ("small", "duplicates", "round_trips")]
        flags = (1 if item.get("async") else 0) | (2 if item.get("host_only") else 0)
        times = [self.ticks(item.get(key, 0)) for key in
                 ("device_time", "exposed", "hidden", "min", "max")]
        call = [self.ticks(ms) for ms in item["call"]] if self.has_calls() else []
        return struct.pack("<3I4B2Q5Q9Q2Q40Q%dQ" % len(call), *self.context(item), item.get("device", 0),
                           DIRECTIONS.index(item["direction"]),
                           MEMORIES.index(item.get("source", "unknown")),
                           MEMORIES.index(item.get("target", "unknown")), flags,
                           item["count"], item["bytes"], *times,
                           *[n for count, size, ms in triples
                             for n in (count, size, self.ticks(ms))], 0, 0, *sizes, *call)

    def has_calls(self):
        """Transfers of a file before format 1.8 do not have the time of their calls."""
        return any("call" in item for item in self.spec["cuda"].get("transfers", []))

    def pack_kernel(self, item):
        times = [self.ticks(item.get(key, 0)) for key in ("device_time", "wait", "min", "max")]
        return struct.pack("<4I6Q", self.strings.put(item["name"]), *self.context(item),
                           item.get("device", 0), item["count"], *times, 0)

    def pack_split(self, item):
        times = [self.ticks(item.get(key, 0)) for key in ("time", "transfer", "wait")]
        return struct.pack("<2I5Q", *self.context(item), item.get("calls", 0), *times, 0)

    def pack_wait(self, item):
        return struct.pack("<4I2Q", *self.context(item), *self.context(item, "launch_"),
                           self.ticks(item["time"]), 0)

    def pack_collector(self, item):
        flags = sum(COLLECTOR_FLAGS[name] for name in item.get("flags", []))
        return struct.pack("<6I9Q4Q256s192s", COLLECTOR_STATES.index(item["state"]),
                           item.get("mode", 3), flags, item.get("cupti_version", 0), 0, 0,
                           *[item.get(name, 0) for name in COLLECTOR_COUNTS], 0, 0, 0, 0,
                           item.get("library", "").encode(), item.get("reason", "").encode())

    def pack_cuda(self):
        cuda = self.spec.get("cuda", {})
        for kind, size, key, pack in (
                (DEVICES, 200, "devices", self.pack_device),
                (TRANSFERS, 504 if cuda and self.has_calls() else 480, "transfers",
                 self.pack_transfer),
                (KERNELS, 64, "kernels", self.pack_kernel),
                (SPLITS, 48, "splits", self.pack_split),
                (WAITS, 32, "waits", self.pack_wait),
                (COLLECTOR, 576, "collector", self.pack_collector)):
            items = cuda.get(key, [])
            items = [items] if isinstance(items, dict) else items
            packed = [pack(item) for item in items]
            assert all(len(data) == size for data in packed), (key, [len(d) for d in packed])
            if packed:
                self.chunk(kind, size, b"".join(packed), len(packed))

    def pack_details(self, item):
        """[path, calls, self] by node; a range's path is where it began."""
        thread = item.get("thread", 0)
        found = sorted((self.nodes[thread, tuple(path)], calls, self.ticks(ms))
                       for path, calls, ms in item["nodes"])
        return [struct.pack("<IIQ", *one) for one in found]

    def pack_tasks(self):
        tasks, details = [], []
        for item in self.spec.get("tasks", []):
            own = self.pack_details(item) if "nodes" in item else []
            flags = sum(TASK_FLAGS[name] for name in item.get("flags", []))
            flags |= TASK_DETAILED if "nodes" in item else 0
            thread, node = self.context(item)
            func = self.find_func(item["path"][-1]) if "name" not in item else NONE
            tasks.append(struct.pack(
                "<8I10Q2I2Q", thread, item.get("life", 1), node, func,
                self.strings.put(item.get("id", "")), self.strings.put(item.get("name", "")), flags,
                item.get("parent", NONE), self.at(item["start"]), self.at(item.get("end")),
                self.v(item.get("part")), self.ticks(item.get("wait", 0)),
                self.ticks(item.get("io", 0)), round(item.get("cpu", 0) * 1e6),
                item.get("samples", 0), self.ticks(item.get("cuda", 0)),
                self.ticks(item.get("transfer", 0)), self.ticks(item.get("kernel_wait", 0)),
                len(details), len(own), 0, 0))
            details += own
        if tasks:
            self.chunk(TASKS, 136, b"".join(tasks), len(tasks))
        if details:
            self.chunk(TASK_NODES, 16, b"".join(details), len(details))

    def pack_folds(self):
        folds = []
        for item in self.spec.get("task_folds", []):
            histogram = [0] * BUCKETS
            times = [self.ticks(ms) for count, ms in item["calls"] for _ in range(count)]
            for ticks in times:
                histogram[bucket(ticks)] += 1
            flags = sum(TASK_FLAGS[name] for name in item.get("flags", []))
            func = self.find_func(item["func"]) if "func" in item else NONE
            folds.append(struct.pack("<4I8Q2Q96Q", func, self.strings.put(item.get("name", "")),
                                     flags, 0, len(times), item.get("failed", 0), sum(times),
                                     min(times), max(times), round(item.get("cpu", 0) * 1e6),
                                     item.get("samples", 0), self.v(item.get("part")), 0, 0,
                                     *histogram))
        if folds:
            self.chunk(TASK_FOLDS, 864, b"".join(folds), len(folds))

    def pack_variables(self):
        data = [struct.pack("<2I", self.strings.put(name), self.strings.put(value))
                for name, value in self.spec.get("variables", {}).items()]
        if data:
            self.chunk(VARIABLES, 8, b"".join(data), len(data))

    def pack_header(self):
        spec = self.spec
        flags = sum(FLAGS[name] for name in spec.get("flags", []))
        flags |= FLAGS["tree"] if "wall_page" in spec else 0
        text = [spec.get(name, default).encode() for name, default in (
            ("reason", ""), ("executable", "/usr/bin/run_batt"), ("command", "run_batt"),
            ("directory", "/work"), ("tree", ""), ("host", "golden"), ("boot_id", "golden"),
            ("version", "0.1.0"), ("hooks", "libdsl*"))]
        header = struct.pack("<8sHHIIIIIiiiI", b"BATTPROF", spec.get("major", 1), 0, PAGE,
                             spec.get("byte_order", 0x01020304),
                             2 if self.clock == "monotonic" else 1, flags,
                             STATES[spec.get("state", "exited")], spec["pid"],
                             spec.get("parent_pid", 1), spec.get("exit_status", 0),
                             spec.get("image", 0))
        header += struct.pack("<3Q", spec.get("used", PAGE + len(self.chunks)),
                              spec.get("lost_bytes", 0),
                              self.rate if self.clock == "tsc" else 10**9)
        header += self.pair(spec.get("first", spec.get("start", 0))) + self.pair(spec.get("last"))
        header += struct.pack("<3Q4IQII", self.at(spec.get("start", 0)), self.at(spec.get("end")),
                              self.v(spec.get("end_v")), *spec.get("cost", [0, 0, 0, 0]),
                              self.ticks(spec.get("startup", 0)), spec.get("node_limit_hits", 0),
                              spec.get("threads_folded", 0))
        header += struct.pack("192s512s1024s512s512s64s40s16s256s", *text)
        inside, outside, passed = spec.get("python_cost", [0, 0, 0])
        header += struct.pack("<IIIIQI", spec.get("lost_errno", 0), inside, outside,
                              spec.get("tasks_plain", 0), self.ticks(spec.get("task_time", 0)),
                              spec.get("tasks_lost", 0))
        header += struct.pack("<IQIIQQIIQI", 0, 0, 0, passed, 0, 0, 0, 0,
                              self.ticks(spec.get("python_start", 0)),
                              spec.get("python_start_node", 0))
        header += struct.pack("<I256sI", 0, spec.get("project", "").encode(), spec.get("cpus", 0))
        return header.ljust(PAGE, b"\0")

    def pack(self):
        self.pack_threads()
        self.pack_objects()
        self.pack_funcs()
        self.pack_reaped()
        self.pack_tree()
        self.pack_cuda()
        self.pack_sampler()
        self.pack_tasks()
        self.pack_folds()
        self.pack_variables()
        self.chunk(STRINGS, 1, self.strings.data, len(self.strings.data))
        return bytearray(self.pack_header() + self.chunks)


def total_of(node):
    return node.get("self", 0) + sum(total_of(child) for child in node.get("children", []))


def damage(data, spec):
    for item in spec.get("damage", []):
        if "truncate" in item:
            del data[item["truncate"]:]
        else:
            patch = bytes.fromhex(item["bytes"])
            data[item["at"]:item["at"] + len(patch)] = patch
    return data


def write_all(description, directory):
    for name, spec in description["files"].items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(spec, str):
            data = spec.encode()
        elif "json" in spec:
            data = json.dumps(spec["json"], indent=1).encode()
        else:
            data = damage(Profile(spec).pack(), spec)
        with open(path, "wb") as file:
            file.write(data)


if __name__ == "__main__":
    with open(sys.argv[1]) as source:
        write_all(json.load(source), sys.argv[2])
