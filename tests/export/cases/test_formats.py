# SPDX-License-Identifier: MIT
"""battprof export: in every format the sums are those of report --json, whoever reads it. Readers that
are not installed are skipped, one by one; each format is read by a few lines of our own, too."""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from harness.command import CommandTest, main

RUN_BATT = os.environ["RUN_BATT"]
PYTHON = "/usr/bin/python3"
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../golden")
RESTS = ("[idle]", "[start]", "[overhead]", "[unsplit]")
FORMATS = ("pprof", "speedscope", "perfetto", "callgrind", "firefox", "folded", "openmetrics")
PROGRAM = """
import json, time
def solve(n):
    return json.dumps(list(range(3000))) if n < 3 else solve(n - 1)
for i in range(30):
    solve(i % 6)
time.sleep(0.03)
"""


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: a number, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield key >> 3, value


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


class Stacks:
    """Self and total by name, of stacks from the innermost frame."""

    def __init__(self):
        self.own, self.total = collections.Counter(), collections.Counter()

    def add(self, stack, weight):
        self.own[stack[0]] += weight
        for name in set(stack):
            self.total[name] += weight


def read_pprof(path, value):
    """{value type: Stacks}, and all labels that were seen."""
    top = collections.defaultdict(list)
    with gzip.open(path) as file:
        for number, content in fields(file.read()):
            top[number].append(content)
    text = [content.decode("utf-8") for content in top[6]]
    types = [text[dict(fields(content))[1]] for content in top[1]]
    names = {row[1]: text[row[2]] for row in map(dict, map(fields, top[5]))}
    places = {row[1]: names[dict(fields(row[4]))[1]] for row in map(dict, map(fields, top[4]))}
    stacks, labels = Stacks(), collections.defaultdict(collections.Counter)
    for content in top[2]:
        row = collections.defaultdict(list)
        for number, data in fields(content):
            row[number].append(data)
        values = packed(row[2][0])
        assert len(values) == len(types)
        stacks.add([places[place] for place in packed(row[1][0])], values[types.index(value)])
        for label in row[3]:
            label = dict(fields(label))
            labels[text[label[1]]][text[label[2]]] += values[types.index(value)]
    return stacks, labels


def read_folded(path):
    stacks = Stacks()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            stacks.add(stack.split(";")[::-1], int(weight))
    return stacks


def read_speedscope(path, name):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    frames = [frame["name"] for frame in data["shared"]["frames"]]
    stacks = Stacks()
    for profile in data["profiles"]:
        if profile["name"] == name:
            for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
                stacks.add([frames[i] for i in sample[::-1]], weight)
            assert sum(profile["weights"]) == profile["endValue"]
    return stacks


def read_firefox(path):
    with gzip.open(path) as file:
        data = json.load(file)
    stacks = Stacks()
    for thread in data["threads"]:
        table, samples = thread["stackTable"], thread["samples"]
        for name, columns in thread.items():
            if isinstance(columns, dict):
                for column in columns.values():
                    assert not isinstance(column, list) or len(column) == columns["length"], name
        for at, weight in zip(samples["stack"], samples["weight"], strict=True):
            stack = []
            while at is not None:
                func = thread["frameTable"]["func"][table["frame"][at]]
                stack.append(thread["stringArray"][thread["funcTable"]["name"][func]])
                at = table["prefix"][at]
            stacks.add(stack, weight * 1e6)
    return stacks


def read_callgrind(path, event):
    """Self and inclusive; a function within itself is one function again."""
    stacks, names, current, calls = Stacks(), {}, None, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
            if found:
                names.setdefault(found[2], found[3])
                if found[1] == "fn":
                    current = names[found[2]]
            elif line.startswith("events:"):
                column = line.split().index(event)
            elif line.startswith("calls="):
                calls = True
            elif line[0].isdigit():
                cost = int(line.split()[column])
                stacks.own[re.sub(r"'\d+$", "", current)] += 0 if calls else cost
                if not re.search(r"'\d+$", current):
                    stacks.total[current] += cost
                calls = False
    return stacks


class Formats(CommandTest):
    def expected(self, profile):
        """Frames by name: what report --json says of them."""
        report = json.loads(self.battprof("report", "--json", profile).out)
        own, wall, total, calls = (collections.Counter() for _ in range(4))
        for row in report["functions"]:
            name = row["library"] if row["kind"] == "root" else row["name"]
            name = name if "<" not in name else None  # labels of these have their line
            own[name] += row["self_s"] * 1e9
            wall[name] += (row["wall_s"] + row["idle_s"]) * 1e9
            total[name] += row["total_s"] * 1e9
            calls[name] += row["calls"]
        return report, own, wall, total, calls

    def compare(self, what, found, wanted, slack=100):
        for name, value in wanted.items():
            if name is not None:
                self.assertAlmostEqual(found[name], value, delta=slack + 1e-6 * value,
                                       msg=f"{what}: {name}")

    def export(self, profile, name, *options):
        path = self.path(f"{profile}.{name}{''.join(options)}".replace("/", "_"))
        result = self.battprof("export", "-f", name, "-o", path, *options, profile)
        self.assertEqual(result.status, 0, result)
        return path

    def check(self, profile, recursive=False):
        report, own, wall, total, _ = self.expected(profile)
        slack = 2 * len(report["functions"]) * len(report["thread_list"]) + 2000
        paths = {name: self.export(profile, name) for name in FORMATS}
        threads = self.export(profile, "folded", "--weight", "thread")
        by_wall = {"pprof": read_pprof(paths["pprof"], "wall")[0],
                   "folded": read_folded(paths["folded"]),
                   "speedscope": read_speedscope(paths["speedscope"], "wall"),
                   "firefox": read_firefox(paths["firefox"]),
                   "callgrind": read_callgrind(paths["callgrind"], "wall")}
        by_thread = {"pprof": read_pprof(paths["pprof"], "thread")[0],
                     "folded": read_folded(threads),
                     "speedscope": read_speedscope(paths["speedscope"], "thread time"),
                     "callgrind": read_callgrind(paths["callgrind"], "thread")}
        for name, stacks in by_wall.items():
            self.compare(name + " wall", stacks.own, wall, slack)
            parts = report["wall_s"] - min(report["unsplit_s"], 0)
            self.assertAlmostEqual(sum(stacks.own.values()), parts * 1e9, delta=slack, msg=name)
        for name, stacks in by_thread.items():
            self.compare(name + " self", stacks.own, own, slack)
            if not recursive:
                self.compare(name + " total", stacks.total, total, slack)
            self.assertAlmostEqual(sum(stacks.own.values()), report["thread_s"] * 1e9,
                                   delta=slack + 1e-4 * report["thread_s"] * 1e9, msg=name)
        self.check_readers(profile, paths, report, wall)

    def check_readers(self, profile, paths, report, wall):
        parts = report["wall_s"] - min(report["unsplit_s"], 0)
        readers = {"promtool": lambda: self.check_promtool(paths["openmetrics"]),
                   "go": lambda: self.check_go(paths["pprof"], wall),
                   "protoc": lambda: self.check_protoc(paths["pprof"]),
                   "callgrind_annotate": lambda: self.check_annotate(paths["callgrind"], parts)}
        for name, check in readers.items():
            if shutil.which(name):
                check()
            else:
                print("skipped: %s of %s (tools/deps --readers)" % (name, profile))

    def check_promtool(self, path):
        with open(path, encoding="utf-8") as file:
            done = subprocess.run(["promtool", "check", "metrics"], stdin=file, check=False,
                                  capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def check_go(self, path, wall):
        out = self.run_reader("go", "tool", "pprof", "-top", "-nodecount=9999", "-unit=ns",
                              "-nodefraction=0", path)
        found = collections.Counter()
        for own, name in re.findall(r"^ *([\d.]+)ns +\S+ +\S+ +\S+ +\S+ +(.*)$", out, re.M):
            found[name.replace(" (inline)", "")] += float(own)
        self.compare("go tool pprof", found, {name: value for name, value in wall.items()
                                              if value > 1000}, 5000)

    def check_protoc(self, path):
        with gzip.open(path) as file:
            done = subprocess.run(["protoc", "--decode_raw"], input=file.read(), check=False,
                                  capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def check_annotate(self, path, parts):
        out = self.run_reader("callgrind_annotate", "--threshold=100", "--auto=no", path)
        sums = re.search(r"^([\d,]+) .*PROGRAM TOTALS", out, re.M)
        self.assertAlmostEqual(int(sums[1].replace(",", "")), parts * 1e9, delta=1e6)

    def run_reader(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": self.directory}, errors="replace")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_native(self):
        self.battprof("run", "-q", "-o", "native", "--", RUN_BATT, "-c", "5", "-j", "2")
        self.check("native")
        tasks = read_pprof(self.export("native", "pprof", "--by", "task"), "wall")
        plain = read_pprof(self.export("native", "pprof"), "wall")
        self.assertEqual(tasks[0].own, plain[0].own)
        rows = json.loads(self.battprof("report", "--json", "native").out)["tasks"]["list"]
        self.assertLessEqual({row["id"] for row in rows}, set(tasks[1]["task"]))
        self.assertGreater(sum(tasks[1]["task"].values()), 0)
        self.assertEqual(set(plain[1]), {"category", "group", "process", "thread", "host"})

    def test_python(self):
        self.write("program.py", PROGRAM)
        result = self.battprof("run", "-q", "--python", "__main__", "--task", "__main__.solve",
                               "-o", "python", "--", PYTHON, "program.py")
        self.assertEqual(result.status, 0, result)
        self.check("python", recursive=True)

    def test_device(self):
        result = self.battprof("run", "-q", "--device", "sim:t4", "-o", "gpu", "--", RUN_BATT,
                               "-c", "3", "--gpu=naive")
        if result.status:
            self.skipTest("without the simulated device")
        self.check("gpu")
        report = json.loads(self.battprof("report", "--json", "gpu").out)
        stacks, labels = read_pprof(self.path("gpu.pprof"), "bytes")
        self.assertEqual(sum(stacks.own.values()),
                         sum(row["bytes"] for row in report["transfer_list"]))
        for direction in ("h2d", "d2h"):
            self.assertEqual(labels["direction"][direction],
                             report["transfers"][direction]["bytes"])
        self.assertEqual(set(labels["gpu"]), {"0"})

    def test_processes_and_killed(self):
        script = "for i in $(seq 23); do sh -c : & done; wait"
        self.battprof("run", "-q", "-o", "many", "--", "sh", "-c", script)
        self.check("many")
        self.battprof("run", "-q", "-o", "killed", "--", "sh", "-c",
                      f"{RUN_BATT} -c 500 >/dev/null & sleep 0.3; kill -9 $!; wait")
        self.check("killed")

    def test_hostile_names(self):
        name = 'a;b"c\\d\'e\te\nf {g} <h> \u202e é = 1 # x'
        profile = {"about": "names", "path": "battprof.1.bp", "files": {"battprof.1.bp": {
            "pid": 1, "end": 100, "objects": [{"path": "/x/lib\n;\".so", "hooked": True}],
            "funcs": [[name, "/x/lib\n;\".so", "call"]],
            "threads": [{"tid": 1, "name": name[:15], "end": 100, "cpu": 100, "v": 100,
                         "root": {"self": 40, "children": [
                             {"func": name, "self": 60, "calls": [[3, 20]]}]}}]}}}
        self.write("input.json", json.dumps(profile))
        subprocess.run([sys.executable, os.path.join(GOLDEN, "make_bp.py"),
                        self.path("input.json"), self.directory], check=True)
        paths = {form: self.export("battprof.1.bp", form) for form in FORMATS}
        name = re.sub("[\t\n]", " ", name)  # as report --json has it
        self.assertEqual(read_pprof(paths["pprof"], "thread")[0].own[name], 60e6)
        self.assertEqual(read_speedscope(paths["speedscope"], "thread time").own[name], 60e6)
        self.assertIn(name, read_firefox(paths["firefox"]).own)
        self.assertEqual(len(read_folded(paths["folded"]).own), 2)
        self.assertIn(60000000, read_callgrind(paths["callgrind"], "thread").own.values())
        self.check_readers("battprof.1.bp", paths, {"wall_s": 0.1, "unsplit_s": 0}, {})

    def test_trouble(self):
        self.battprof("run", "-q", "-o", "a", "--", "true")
        for status, words, arguments in (
                (2, ["pprof"], ["-f", "pproof"]), (2, ["-f", "pprof|"], []),
                (2, ["--weight", "folded"], ["-f", "pprof", "--weight", "cpu"]),
                (1, ["no/such"], ["-f", "pprof", "-o", "no/such", "a"]),
                (1, ["nowhere"], ["-f", "pprof", "nowhere"]),
                (1, ["/dev/full"], ["-f", "pprof", "-o", "/dev/full", "a"]),
                (1, ["a/run.bp"], ["-f", "tables", "-o", "a/run.bp", "a"])):
            result = self.battprof("export", *arguments)
            self.assertEqual(result.status, status, result)
            self.assert_one_sentence(result, *words)

    def test_full_disk(self):
        """Limits on a file's size are a disk that is full in the middle."""
        self.battprof("run", "-q", "-o", "a", "--", RUN_BATT, "-c", "2")
        os.mkdir(self.path("out"))
        self.write("out/old", "old")
        for form in ("speedscope", "pprof", "tables"):
            command = "trap '' XFSZ; ulimit -f 1; exec \"$@\""
            name = "out/t" if form == "tables" else "out/old"
            done = subprocess.run(["bash", "-c", command, "-", os.environ["BATTPROF_CMD"],
                                   "export", "-f", form, "-o", name, "a"], check=False,
                                  cwd=self.directory, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            files = [file for _, _, names in os.walk(self.path("out")) for file in names]
            self.assertEqual(files, ["old"], form)
        with open(self.path("out/old"), encoding="ascii") as file:
            self.assertEqual(file.read(), "old")

    def test_empty(self):
        profile = {"about": "nothing", "path": "battprof.1.bp", "files": {
            "battprof.1.bp": {"pid": 1, "end": 100}}}
        self.write("input.json", json.dumps(profile))
        subprocess.run([sys.executable, os.path.join(GOLDEN, "make_bp.py"),
                        self.path("input.json"), self.directory], check=True)
        for form in FORMATS + ("tables",):
            result = self.battprof("export", "-f", form, "-o", form, "battprof.1.bp")
            self.assertEqual(result.status, 0, result)
            self.assertIn("no thread was measured", result.err)
        self.assertFalse(read_speedscope(self.path("speedscope"), "calls").own)
        self.assertTrue(set(read_pprof(self.path("pprof"), "wall")[0].own) <= set(RESTS))
        read_firefox(self.path("firefox"))

    def test_report_folded(self):
        self.battprof("run", "-q", "-o", "a", "--", RUN_BATT, "-c", "5")
        report = self.battprof("report", "--folded", "a").out
        export = self.battprof("export", "-f", "folded", "--weight", "cpu", "-o", "-", "a").out
        self.assertEqual(export, report)


if __name__ == "__main__":
    main()
