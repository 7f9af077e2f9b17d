# SPDX-License-Identifier: MIT
"""battprof export: in every format the sums are those of report --json, as a few lines of our own read
them; test_readers.py has the programs that the formats are for."""
import gzip
import json
import os
import re
import subprocess
import sys
import unittest

from harness.command import CMD, CommandTest, main
from harness.exports import (FORMATS, RESTS, expected, fields, read_callgrind, read_firefox, read_folded,
                             read_pprof, read_speedscope)
from harness.page import write_case

RUN_BATT = os.environ["RUN_BATT"]
PYTHON = "/usr/bin/python3"
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../golden")
PROGRAM = """
import json, time
def solve(n):
    return json.dumps(list(range(3000))) if n < 3 else solve(n - 1)
for i in range(30):
    solve(i % 6)
time.sleep(0.03)
"""


class Formats(CommandTest):
    def compare(self, what, found, wanted, slack=100):
        for name, value in wanted.items():
            if name is not None:
                self.assertAlmostEqual(found[name], value, delta=slack + 1e-6 * value,
                                       msg=f"{what}: {name}")

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def export(self, profile, name, *options):
        path = self.path(f"{profile}.{name}{''.join(options)}".replace("/", "_"))
        result = self.battprof("export", "-f", name, "-o", path, *options, profile)
        self.assertEqual(result.status, 0, result)
        return path

    def check(self, profile, recursive=False):
        report = json.loads(self.battprof("report", "--json", profile).out)
        own, wall, total = expected(report)
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
        labels = read_pprof(paths["pprof"], "wall")[1]["category"]
        for name, row in report["categories"].items():
            self.assertAlmostEqual(labels[name], row["s"] * 1e9, delta=slack + 1e-5 * sum(labels.values()),
                                   msg=f"category {name}")
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

    def test_whole_run(self):
        """The Firefox Profiler shows what lies between two times of the head, and no task beyond."""
        self.battprof("run", "-q", "-o", "a", "--", RUN_BATT, "-c", "5", "-j", "2")
        with gzip.open(self.export("a", "firefox")) as file:
            data = json.load(file)
        report = json.loads(self.battprof("report", "--json", "a").out)
        self.assertAlmostEqual(data["meta"]["profilingEndTime"], 1e3 * report["wall_s"], 3)
        ends = [end for thread in data["threads"] for end in thread["markers"]["endTime"]]
        self.assertGreaterEqual(len(ends), 5)
        self.assertLessEqual(max(ends), data["meta"]["profilingEndTime"])

    def test_python(self):
        self.write("program.py", PROGRAM)
        result = self.battprof("run", "-q", "--python", "__main__", "--task", "__main__.solve",
                               "-o", "python", "--", PYTHON, "program.py")
        self.assertEqual(result.status, 0, result)
        self.check("python", recursive=True)

    @unittest.skipIf("UBSAN_OPTIONS" in os.environ, "bytes of the device are not understood there")
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

    def test_same_numbers(self):
        """Two machines, or containers, with the same process numbers."""
        with open(os.path.join(GOLDEN, "machines", "input.json"), encoding="utf-8") as file:
            write_case(json.load(file), self.directory)
        with open(self.export("all", "perfetto"), "rb") as file:
            tracks = [dict(fields(packet[60])) for packet in
                      (dict(fields(content)) for _, content in fields(file.read())) if 60 in packet]
        processes = [dict(fields(track[3])) for track in tracks if 3 in track]
        threads = [dict(fields(track[4])) for track in tracks if 4 in track]
        self.assertEqual((len(processes), len({row[1] for row in processes})), (4, 4))
        self.assertEqual({row[1] for row in processes}, {row[2] for row in threads})
        self.assertTrue({row[1] for row in processes} > {100, 101})
        self.assertIn(b"run_batt, rank 1 on node2, process 100", {row[6] for row in processes})
        with gzip.open(self.export("all", "firefox")) as file:
            threads = [row for row in json.load(file)["threads"] if row["name"] != "no thread"]
        self.assertEqual(len({row["pid"] for row in threads}), 4)
        self.assertIn("run_batt --processes 1, rank 1 on node2", {row["processName"] for row in threads})

    def test_marks(self):
        result = self.battprof("run", "-q", "-o", "m", "--", "sh", "-c",
                               f"{CMD} mark m 'a <b> \"c\"' && sleep 0.1")
        self.assertEqual(result.status, 0, result)
        mark = json.loads(self.battprof("report", "--json", "m").out)["recording"]["marks"][0]
        with gzip.open(self.export("m", "firefox")) as file:
            found = [(thread["stringArray"][name], at, thread["markers"]["endTime"])
                     for thread in json.load(file)["threads"] for name, at in
                     zip(thread["markers"]["name"], thread["markers"]["startTime"], strict=True)]
        self.assertEqual([row[::2] for row in found], [(mark["text"], [None])])
        self.assertAlmostEqual(found[0][1], 1e3 * mark["at_s"], 3)
        with open(self.export("m", "perfetto"), "rb") as file:
            packets = [dict(fields(content)) for _, content in fields(file.read())]
        events = [(packet[8], dict(fields(packet[11]))) for packet in packets if 11 in packet]
        instants = [(at, event[23]) for at, event in events if event[9] == 3]
        self.assertEqual([text for _, text in instants], [mark["text"].encode()])
        self.assertAlmostEqual(instants[0][0], 1e9 * mark["at_s"], delta=1e3)
        self.assertFalse([row for row in json.loads(self.read(self.export("m", "speedscope")))["profiles"]
                          if row["type"] == "evented"])

    def test_sources(self):
        """Files and lines of native functions; no reader takes a library for a source file."""
        self.write("lines.c", "static int twice(int a) { return a; }\n\n\nint dsl_lines(int a);\n"
                   "int dsl_lines(int a)\n{\n    return twice(a) + 1;\n}\n")
        self.write("plain.c", "int dsl_plain(int a);\nint dsl_plain(int a) { return a; }\n")
        self.write("main.c", "int dsl_lines(int), dsl_plain(int);\n"
                   "int main(void) { return dsl_lines(0) + dsl_plain(0) - 1; }\n")
        for command in ("-g -shared -fPIC lines.c -o libdsl_lines.so", "-shared -fPIC plain.c -o libdsl_plain.so",
                        f"main.c -o main -L. -ldsl_lines -ldsl_plain -Wl,-rpath,{self.directory}"):
            subprocess.run(["cc", *command.split()], cwd=self.directory, check=True)
        self.battprof("run", "-q", "-o", "a", "--", "./main")
        text = self.read(self.export("a", "callgrind"))
        files = dict(re.findall(r"(?m)^(?:fl|cfi)=(\(\d+\)) (.+)$", text))
        self.assertIn(os.path.realpath(self.path("lines.c")), {os.path.realpath(name) for name in files.values()})
        self.assertIn("[libdsl_plain.so]", files.values())
        self.assertFalse([name for name in files.values() if "/" in name and ".so" in name])
        self.assertIn(self.path("libdsl_plain.so"), re.findall(r"(?m)^c?ob=\(\d+\) (.+)$", text))
        frames = {row["name"]: row for row in
                  json.loads(self.read(self.export("a", "speedscope")))["shared"]["frames"]}
        self.assertIn(frames["dsl_lines"]["line"], (5, 6))
        self.assertTrue(frames["dsl_plain"]["file"].endswith("libdsl_plain.so"))
        self.assertNotIn("line", frames["dsl_plain"])
        self.write("libdsl_lines.so", "another one")  # wrong lines are worse than none
        frames = {row["name"]: row for row in
                  json.loads(self.read(self.export("a", "speedscope")))["shared"]["frames"]}
        self.assertNotIn("line", frames["dsl_lines"])

    def test_sampled(self):
        """Where hardly anything was intercepted, export says where functions are."""
        self.write("program.py", "import time\nend = time.time() + 1\nwhile time.time() < end:\n"
                   "    sum(range(1000))\n")
        self.battprof("run", "-q", "-o", "s", "--", PYTHON, "program.py")
        self.battprof("run", "-q", "-o", "n", "--", RUN_BATT, "-c", "5")
        words = "go tool pprof -sample_index=cpu p"
        self.assertIn(words, self.battprof("export", "-f", "pprof", "-o", "p", "s").err)
        self.assertNotIn(words, self.battprof("export", "-f", "pprof", "-o", "p", "n").err)
        self.assertNotIn("sampled", self.battprof("export", "-f", "folded", "--weight", "cpu", "-o", "-", "s").err)

    def test_closed_output(self):
        self.battprof("run", "-q", "-o", "a", "--", "true")
        done = subprocess.run(["sh", "-c", f"exec {CMD} export -f folded -o - a >&-"], check=False,
                              cwd=self.directory, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Bad file descriptor", done.stderr)

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
            done = subprocess.run(["bash", "-c", command, "-", CMD, "export", "-f", form, "-o", name, "a"], check=False,
                                  cwd=self.directory, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            files = [file for _, _, names in os.walk(self.path("out")) for file in names]
            self.assertEqual(files, ["old"], form)
            self.assertEqual(os.listdir(self.path("out")), ["old"], form)
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
