# SPDX-License-Identifier: MIT
"""The page that `report --html` writes, as a program without scripts reads it."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import unittest

from harness.command import CMD, CommandTest, main
from harness.page import Page, golden_cases, one_run, tree_case, write_case

# Names that are to stay text, whatever a page would make of them.
HOSTILE = [
    "<script>alert(1)</script>", "</script><script>alert(2)</script>", "<!--", "-->", "]]>", "\"]]>",
    "<img src=x onerror=alert(3)>", "\" onmouseover=\"alert(4)", "' onfocus='alert(5)", "&lt;b&gt;",
    "&amp;", "&#60;", "</style>", "</textarea>", "</title>", "javascript:alert(6)", "<b>bold</b>",
    "a\u202eb\u202c", "\u2066left\u2069", "\u200bnothing\u200f", "tab\there", "bell\x07", "\x1b[31mred",
    "line\nbreak", "\x7fdel", "\u2028line", "bad\udcff\udcfebytes", "cut\udce2\udc82", "${alert(7)}",
    "`${8}`", "\\u003cscript>", "%3Cscript%3E", "{{9}}", "\ufeffbom", "\ufffe", "x" * 10000,
    "<" * 5000, "\u00e9\u6f22\U0001f600", "a" + "\u0301" * 300, ";DROP TABLE", "\\", "\\\\\"", "'", "\"",
]


def hostile_names(count):
    return ["%s%s" % (HOSTILE[i % len(HOSTILE)], i // len(HOSTILE) or "") for i in range(count)]


class Pages(CommandTest):
    def run_report(self, *arguments):
        done = subprocess.run([CMD, "report", *arguments], cwd=self.directory, capture_output=True,
                              env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"})
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode()

    def page(self, path, *more, name="page.html", options=()):
        status, _, error = self.run_report(*options, "--html", name, path, *more)
        self.assertEqual(status, 0, error)
        return Page(os.path.join(self.directory, name))

    def make(self, case):
        for name in os.listdir(self.directory):
            path = os.path.join(self.directory, name)
            if os.path.isdir(path):
                shutil.rmtree(path)
        write_case(case, self.directory)
        return case.get("path") or "."

    def check_sums(self, page, report):
        self.assertAlmostEqual(page.sum("wall"), report["wall_s"], delta=1e-6 + 1e-6 * report["wall_s"])
        self.assertAlmostEqual(page.sum("thread"), report["thread_s"],
                               delta=1e-6 + 2e-3 * report["thread_s"])
        self.assertEqual(page.sum("calls"), sum(row["calls"] for row in report["functions"]))

    def check_harmless(self, page):
        """Nothing that a page fetches, and no script but its own."""
        policy = [a for t, a in page.elements if t == "meta" and "http-equiv" in a]
        self.assertEqual(len(policy), 1)
        self.assertTrue(policy[0]["content"].startswith("default-src 'none';"), policy)
        for tag, attributes in page.elements:
            self.assertNotIn(tag, ("img", "link", "iframe", "object", "form", "base", "a"))
            self.assertFalse([k for k in attributes if k.startswith("on") or k in ("src", "href")],
                             (tag, attributes))
        scripts = [a for t, a in page.elements if t == "script"]
        self.assertEqual([a for a in scripts if a.get("type") != "application/octet-stream"], [{}])
        self.assertFalse(re.search(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]",
                                   page.text))

    def test_every_golden_case(self):
        """Sums of each switch; the JSON comes back as it was."""
        checked = 0
        for name, case in golden_cases():
            with self.subTest(name):
                path = self.make(case)
                options = case.get("options", [])
                status, text, _ = self.run_report("--json", *options, path)
                if status or not text.startswith('{\n "schema": "battprof-report/1"'):
                    continue
                page = self.page(path, options=options)
                self.check_harmless(page)
                self.assertEqual(self.run_report("--json", "page.html")[1], text)
                report = json.loads(text)
                if "--drop-outliers" not in options and not report["notes"]:
                    self.check_sums(page, report)
                checked += 1
        self.assertGreater(checked, 50)

    def test_rows_of_the_text(self):
        """Every row of every list is there without scripts, and the text as it is."""
        lists = {"function": "functions", "task": "tasks.list", "phase": "phases",
                 "candidate": "candidates.list", "transfer": "transfer_list", "kernel": "kernels",
                 "group": "groups", "process": "process_list", "thread": "thread_list"}
        names = {"process": "command", "transfer": "function"}
        seen = set()
        for case_name, case in golden_cases():
            if case.get("options"):
                continue
            path = self.make(case)
            status, text, _ = self.run_report(path)
            if status or "\nwall " not in text:
                continue
            page = self.page(path)
            for line in text.rstrip("\n").split("\n"):
                self.assertIn(line, page.text, case_name)
            for by, table in lists.items():
                status, rows, _ = self.run_report("--by", by, "--csv", path)
                key = names.get(by, "name")
                wanted = [] if status else [row[key] for row in csv.DictReader(io.StringIO(rows))]
                wanted = [name for name in wanted if name and name[0] != "("][:30]
                if wanted:
                    seen.add(by)
                    shown = page.column(table, key)
                    self.assertFalse([name for name in wanted if name not in shown],
                                     "%s: %s" % (case_name, by))
        self.assertEqual(seen, set(lists))

    def test_hostile_names(self):
        """As functions and as the command: text, and nothing else."""
        names = list(dict.fromkeys(hostile_names(200)))
        calls = [{"func": name, "self": 1, "calls": [[1, 1]]} for name in names]
        case = one_run([[name, "libdsl.so"] for name in names], {"self": 1, "children": calls},
                       len(names) + 1, command=HOSTILE[1])
        page = self.page(self.make(case))
        self.check_harmless(page)
        self.assertEqual(len(page.data["battprof-report"]["functions"]), len(names) + 1)
        self.assertIn(HOSTILE[1], page.text)
        self.assertNotIn(b"<script>alert", page.bytes)
        self.assertNotIn(b"\xe2\x80\xae", page.bytes)
        self.assertLess(max(len(row[0]) for row in page.tables["functions"]["rows"]), 2000)

    def check_tasks(self, page):
        """What each function took in each task is what the report has of its longest ones."""
        names, tasks = page.data["battprof-data"]["functions"]["name"], page.data["battprof-data"]["tasks"]
        found, at = {}, 0
        for number, count in zip(tasks["function"][::2], tasks["function"][1::2]):
            task = 0
            for at in range(at, at + count):
                task += tasks["task"][at]
                found[task, names[number]] = found.get((task, names[number]), 0) + tasks["self"][at]
            at += 1
        self.assertEqual((len(tasks["task"]), len(tasks["self"])), (at, at))
        checked = 0
        for i, task in enumerate(page.data["battprof-report"]["tasks"]["list"]):
            for row in task.get("functions", []):
                self.assertAlmostEqual(found[i, row["name"]], 1e6 * row["self_s"], delta=1, msg=row["name"])
                checked += 1
        return checked

    def test_tasks(self):
        checked = 0
        for name, case in golden_cases():
            if case.get("options"):
                continue
            path = self.make(case)
            if self.run_report("--by", "task", path)[0] == 0:
                with self.subTest(name):
                    checked += self.check_tasks(self.page(path))
        self.assertGreater(checked, 10)

    def test_durations(self):
        """By powers of two of nanoseconds: 5 calls of 1.5 us, 1 of 3 and 2 of 12."""
        calls = {"func": "f", "self": 0.0345, "calls": [[5, 0.0015], [1, 0.003], [2, 0.012]]}
        case = one_run([["f", "libdsl.so"]], {"self": 1, "children": [calls]}, 1.0345)
        data = self.page(self.make(case)).data["battprof-data"]
        number = data["functions"]["name"].index("f")
        self.assertEqual(data["histograms"][str(number)], [10, 5, 1, 0, 2])

    def test_many_contexts(self):
        """10,000 are all there in less than a megabyte; of 100,000 the sums are, and it says so."""
        page = self.page(self.make(tree_case(10000)))
        data, report = page.data["battprof-data"], page.data["battprof-report"]
        self.assertLess(len(page.bytes), 1000000)
        self.assertEqual((data["contexts"], data["folded"]), (10001, 0))
        self.check_sums(page, report)
        page = self.page(self.make(tree_case(100000, functions=3000, fan=20)))
        data, report = page.data["battprof-data"], page.data["battprof-report"]
        self.assertGreater(data["folded"], 0)
        self.assertEqual(data["nodes"]["kind"].count("3") > 0, True)
        self.check_sums(page, report)

    def test_small(self):
        """A page for a notebook: what it left out is said."""
        page = self.page(self.make(tree_case(20000, functions=2000, fan=20)), options=["--small"])
        self.assertLessEqual(len(page.bytes), 200000)
        self.assertGreater(page.data["battprof-report"]["pruned"]["functions"], 0)
        self.assertGreater(page.data["battprof-data"]["folded"], 0)
        self.check_harmless(page)
        total = sum(page.data["battprof-data"]["nodes"]["calls"])
        full = self.page(self.make(tree_case(20000, functions=2000, fan=20)))
        self.assertEqual(total, full.sum("calls"))

    def test_unknown_calls(self):
        """Calls of a program's own code are unknown, and not 0."""
        case = one_run([["f", "libdsl.so"]], {"self": 1, "children": [{"func": "f", "self": 1, "calls": [[4, 1]]}]}, 2)
        page = self.page(self.make(case))
        keys, rows = page.tables["functions"]["keys"], page.tables["functions"]["rows"]
        calls = {row[0]: row[keys.index("calls")] for row in rows}
        self.assertEqual((calls["(own code)"], calls["f"]), ("", "4"))

    def check_waiting(self, page, report, name):
        """Frames that wait are as wide as the headline's row: calls that wait, and what was blocked
        where battprof does not see it."""
        data = page.data["battprof-data"]
        nodes, kinds = data["nodes"], data["functions"]["kind"]
        waits = sum(wall for kind, fn, wall in zip(nodes["kind"], nodes["function"], nodes["wall"])
                    if fn == -5 or (kind == "0" and fn >= 0 and kinds[fn] == "2"))
        self.assertAlmostEqual(waits / 1e9 + data["rest"]["idle"] / 1e9, report["split"]["waiting"]["s"],
                               delta=1e-6 + 1e-3 * report["wall_s"], msg=name)

    def test_owners(self):
        """Without a DSL each function of the graph has the row of the headline that it is in."""
        seen = set()
        for name, case in golden_cases():
            if case.get("options"):
                continue
            path = self.make(case)
            status, text, _ = self.run_report("--json", path)
            if status or not text.startswith('{\n "schema": "battprof-report/1"'):
                continue
            page = self.page(path)
            functions = page.data["battprof-data"]["functions"]
            leads = isinstance(json.loads(text).get("choice"), dict)
            self.assertEqual("owner" in functions, leads, name)
            self.assertFalse(leads and re.search("(?i)the framework", page.text), name)
            for list_name, table in page.tables.items():
                self.assertFalse(leads and {"category", "thread_s.framework"} & set(table["keys"]), list_name)
            if leads:
                self.assertEqual(len(functions["owner"]), len(functions["name"]), name)
                seen |= set(functions["owner"])
                self.check_waiting(page, json.loads(text), name)
        self.assertTrue({"a", "c"} <= seen, seen)

    def test_blocked(self):
        """A thread that was blocked out of sight waits, in the graph as in the headline."""
        case = json.loads(json.dumps(dict(golden_cases())["samples"]).replace("dsl", "own"))
        thread = case["files"]["run.bp"]["threads"][0]
        thread["cpu"] *= 0.4
        for sample in thread["samples"]:
            sample["cpu"] *= 0.4
        path = self.make(case)
        page = self.page(path)
        report = json.loads(self.run_report("--json", path)[1])
        self.assertGreater(report["split"]["waiting"]["s"], 0)
        self.assertIn(-5, page.data["battprof-data"]["nodes"]["function"])
        self.check_waiting(page, report, "samples")
        self.check_sums(page, report)

    def test_same_run(self):
        """A run compared with itself shows no change."""
        case = tree_case(300)
        path = self.make(case)
        page = self.page(path, path)
        diff = page.data["battprof-diff"]
        self.assertEqual(diff["differences"], [])
        self.assertFalse(any(row["time_differs"] or row["calls_differ"] for row in diff["functions"]))
        self.assertNotIn("diff.differences", page.tables)
        self.assertNotIn("diff.removed", page.tables)
        self.assertIn("No function differs beyond chance.", page.text)
        self.check_harmless(page)

    def test_removed(self):
        """Functions that are gone are listed."""
        old = one_run([["gone", "libdsl.so"], ["stays", "libdsl.so"]], {"self": 1, "children": [
            {"func": "gone", "self": 50, "calls": [[10, 5]]},
            {"func": "stays", "self": 50, "calls": [[10, 5]]}]}, 101)
        new = one_run([["stays", "libdsl.so"]], {"self": 1, "children": [
            {"func": "stays", "self": 50, "calls": [[10, 5]]}]}, 51)
        old["files"]["old.bp"] = old["files"].pop("run.bp")
        self.make(old)
        page = self.page(self.make(new), "old.bp")
        self.assertEqual(page.column("diff.removed", "name"), ["gone"])
        self.assertIn("Compared with old.bp", page.text)

    def test_stdout_and_errors(self):
        path = self.make(tree_case(20))
        status, text, _ = self.run_report("--html", "-", path)
        self.assertEqual((status, text[:15]), (0, "<!doctype html>"))
        with open(os.path.join(self.directory, "page.html"), "w", encoding="utf-8") as file:
            file.write(text)
        for wanted, arguments, words in (
                (1, ["page.html"], "--json page.html"),
                (2, ["--html", "x.html", "--json", path], "one of --csv"),
                (2, ["--html", "x.html", "-o", "y", path], "--html has its FILE"),
                (2, ["--html", "x.html", "--by", "task", path], "--by goes with tables"),
                (2, ["--small", path], "--small goes with --html"),
                (2, ["--html", "x.html", path, path, path], "not 3 runs"),
                (2, [path, path], "one FILE or DIR"),
                (1, ["--html", "no/such/x.html", path], "No such file"),
                (1, ["--html", "x.html", path, "nothing.bp"], "nothing.bp")):
            status, _, error = self.run_report(*arguments)
            self.assertEqual(status, wanted, error)
            self.assertIn(words, error)
        damaged = text.replace('id="battprof-report">', 'id="battprof-report">AAAA', 1)
        with open(os.path.join(self.directory, "page.html"), "w", encoding="utf-8") as file:
            file.write(damaged)
        status, out, error = self.run_report("--json", "page.html")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("damaged", error)

    def test_run(self):
        """`run --html` writes the page and leaves the target's status alone."""
        result = self.battprof("run", "-q", "--html", "run.html", "--", "sh", "-c", "exit 3")
        self.assertEqual(result.status, 3, result)
        self.check_harmless(Page(os.path.join(self.directory, "run.html")))
        words = ["--html", "no/such/run.html", "--", "sh", "-c", "exit 3"]
        result = self.battprof("run", "-q", *words)
        self.assertEqual(result.status, 125, result)
        result = self.battprof("run", "-q", "--keep-going", *words)
        self.assertEqual(result.status, 3, result)
        self.assertIn("no/such/run.html", result.err)


if __name__ == "__main__":
    main()
