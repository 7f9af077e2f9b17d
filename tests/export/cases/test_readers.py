# SPDX-License-Identifier: MIT
"""The programs that the formats are for read what battprof export writes: self and total times are
those of report --json, to the reader's rounding, of a golden profile and five real runs. A reader
that is missing is a skip of its own that says so; tools/deps --readers installs them."""
import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import readers
from harness.command import CMD, CommandTest, main
from harness.exports import FORMATS, expected, read_firefox
from harness.page import GOLDEN, one_run, write_case

RUN_BATT = os.environ["RUN_BATT"]
TWIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../dsl/python/run_batt.py")
RUNS = {
    "native": [RUN_BATT, "-c", "8", "-j", "2"],
    "python": ["/usr/bin/python3", TWIN, "-c", "3"],
    "gpu": [RUN_BATT, "-c", "4", "--gpu=naive"],
    "many": [RUN_BATT, "-c", "48", "--generate", "48", "--processes", "24"],
    "killed": ["sh", "-c", f"{RUN_BATT} -c 500 >/dev/null & sleep 0.3; kill -9 $!; wait"],
}
HOSTILE = ['a;b', 'quote"s', "it's", "back\\slash", "tab\there", "new\nline", "<script>", "{brace}",
           "a = 1 # x", "x:y", "(1) z", "e\u0301\u202e\U0001f600", "100%", "$x", "a" * 4000, "fn=(3)"]
# Errors of the trace processor, and what it says of slices and processes.
ASK = {"errors": "SELECT name, value FROM stats WHERE severity = 'error' AND value != 0",
       "tasks": "SELECT name, count(*) AS n, sum(dur) AS ns FROM slice WHERE category = 'task' GROUP BY name",
       "lives": "SELECT p.pid AS pid, s.dur AS ns FROM slice s JOIN process_track t ON s.track_id = t.id "
                "JOIN process p USING (upid) WHERE s.category = 'process'"}


class Readers(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.runs = tempfile.mkdtemp(prefix="battprof-readers-")
        cls.addClassCleanup(shutil.rmtree, cls.runs)
        cls.reports = {}
        for name, command in RUNS.items():
            options = ["--device", "sim:t4"] if name == "gpu" else []
            cls.call("run", "-q", "-o", name, *options, "--", *command)
        for name in ("golden", "hostile"):
            os.mkdir(os.path.join(cls.runs, name))
        with open(os.path.join(GOLDEN, "machines", "input.json"), encoding="utf-8") as file:
            write_case(json.load(file), cls.runs)
        os.rename(os.path.join(cls.runs, "all"), os.path.join(cls.runs, "machines"))
        with open(os.path.join(GOLDEN, "transfers", "input.json"), encoding="utf-8") as file:
            write_case(json.load(file), os.path.join(cls.runs, "golden"))
        write_case(one_run([[name, "libdsl.so", "call"] for name in HOSTILE],
                           {"self": 7, "children": [{"func": name, "self": 10 + i, "calls": [[1, 10 + i]]}
                                                    for i, name in enumerate(HOSTILE)]},
                           7 + sum(range(10, 10 + len(HOSTILE))), command="a\n<b>\"'"),
                   os.path.join(cls.runs, "hostile"))
        for name in os.listdir(cls.runs):
            cls.reports[name] = json.loads(cls.call("report", "--json", name).stdout)
            for form in FORMATS:
                assert cls.call("export", "-f", form, "-o", f"{name}.{form}", name).returncode == 0

    @classmethod
    def call(cls, *arguments):
        return subprocess.run([CMD, *arguments], cwd=cls.runs, capture_output=True, text=True,
                              errors="replace", check=False, timeout=300)

    def each(self, form):
        """(name, path, report) of every run."""
        for name, report in self.reports.items():
            yield name, os.path.join(self.runs, f"{name}.{form}"), report

    def reader(self, function, *arguments, **options):
        try:
            return function(*arguments, **options)
        except readers.Missing as missing:
            print("skipped: %s" % missing, flush=True)
            self.skipTest(str(missing))

    def compare(self, what, found, wanted, slack):
        """Of names with line ends each reader makes something of its own: see test_formats.py."""
        for name, value in wanted.items():
            if name is not None and not re.search(r"[\n\t\\\";:'(\[]|^.{99}", name):
                self.assertAlmostEqual(found[name], value, delta=slack + 1e-6 * value,
                                       msg=f"{what}: {name}")

    def test_go_pprof(self):
        for name, path, report in self.each("pprof"):
            own, wall, total = expected(report)
            seen = self.reader(readers.go_pprof, path, "wall")
            self.compare(name + " wall", seen[0], wall, 5000)
            seen = self.reader(readers.go_pprof, path, "thread")
            self.compare(name + " self", seen[0], own, 5000)
            self.compare(name + " total", seen[1], total, 5000)

    def test_protoc(self):
        for _, path, report in self.each("pprof"):
            text = self.reader(readers.protoc, path)
            self.assertFalse(re.findall(r"^\s*\d+[:{ ].*", text, re.M))
            self.assertEqual(len(re.findall(r"^sample_type ", text, re.M)),
                             5 if report["transfer_list"] else 4)

    def test_callgrind_annotate(self):
        for name, path, report in self.each("callgrind"):
            own, wall, total = expected(report)
            seen = self.reader(readers.annotate, path, False)
            self.compare(name + " wall", seen["wall"], wall, 5000)
            self.compare(name + " self", seen["thread"], own, 5000)
            seen = self.reader(readers.annotate, path, True)
            self.compare(name + " total", seen["thread"], total, 5000)
            parts = report["wall_s"] - min(report["unsplit_s"], 0)
            self.assertAlmostEqual(seen["wall"]["PROGRAM TOTALS"], parts * 1e9, delta=1e5)

    def test_firefox(self):
        for name, path, report in self.each("firefox"):
            seen = self.reader(readers.firefox, path)
            self.compare(name + " wall", seen[0], expected(report)[1], 5000)
            self.compare(name + " total", seen[1], read_firefox(path).total, 5000)

    def test_promtool(self):
        self.reader(readers.need, "promtool")
        for name, path, _ in self.each("openmetrics"):
            with open(path, encoding="utf-8") as file:
                done = subprocess.run(["promtool", "check", "metrics"], stdin=file, check=False,
                                      capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), name)

    def test_openmetrics(self):
        """The parser of Prometheus' own Python client is strict."""
        python = self.reader(readers.need_python, "prometheus_client")
        program = ("import sys; from prometheus_client.openmetrics.parser import "
                   "text_string_to_metric_families as parse; "
                   "print({s.name: s.value for f in parse(sys.stdin.read()) for s in f.samples}"
                   "['battprof_run_wall_seconds'])")
        for _, path, report in self.each("openmetrics"):
            with open(path, "rb") as file:
                seen = readers.run(python, "-c", program, data=file.read())
            self.assertAlmostEqual(float(seen), report["wall_s"], delta=1e-6 * report["wall_s"])

    def test_perfetto(self):
        paths = {path: (name, report) for name, path, report in self.each("perfetto")}
        answers = self.reader(readers.perfetto, {path: ASK for path in paths})
        for path, (name, report) in paths.items():
            seen = answers[path]
            self.assertEqual(seen["errors"], [], name)
            wanted = collections.Counter()
            for row in report["tasks"]["list"] or []:
                if row["id"]:
                    wanted[row["id"]] += row["duration_s"] * 1e9
            found = collections.Counter()
            for row in seen["tasks"]:  # "batt 3f2a": what it is, and its id
                found[row["name"].rsplit(" ", 1)[-1]] += row["ns"]
            for task, value in wanted.items():
                self.assertAlmostEqual(found[task], value, delta=5000 + 1e-6 * value, msg=name)
            lives = sorted((row["process"], round(row["lifetime_s"], 3)) for row in report["process_list"])
            found = sorted((row["pid"], round(row["ns"] / 1e9, 3)) for row in seen["lives"])
            if name == "machines":  # the numbers of one are replaced
                self.assertEqual((len(found), len(dict(found))), (4, 4))
            else:
                self.assertEqual(found, lives, name)

    def test_speedscope(self):
        files = {name: path for name, path, _ in self.each("speedscope")}
        answers = self.reader(readers.speedscope, files)
        for name, tables in answers.items():
            own, wall, total = expected(self.reports[name])
            for table, kind, wanted in ((0, 0, wall), (1, 0, own), (1, 1, total)):
                for function, value in wanted.items():
                    if function in tables[table] and len(function) < 99:
                        seen, digit = tables[table][function][kind]
                        self.assertAlmostEqual(seen, value, delta=digit + 1000 + 1e-6 * value,
                                               msg=f"{name}: {function}")
            self.assertGreater(len(tables[1]), 0.8 * len([n for n, v in own.items() if v > 0]), name)

    def test_speedscope_schema(self):
        python = self.reader(readers.need_python, "jsonschema")
        schema = os.path.join(readers.SPEEDSCOPE, "dist", "release", "file-format-schema.json")
        self.reader(readers.need, schema)
        for _, path, _ in self.each("speedscope"):
            readers.run(python, "-c", "import json, jsonschema, sys; a, b = [json.load(open(p)) for p in "
                        "sys.argv[1:]]; jsonschema.validate(b, a)", schema, path)


if __name__ == "__main__":
    main()
