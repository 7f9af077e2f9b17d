# SPDX-License-Identifier: MIT
"""The page in a real Chromium: what it draws, fetches and says, and whether axe finds fault with it.

Skipped where chromium, node, or playwright-core and axe-core (npm) are not there; tools/deps --page
installs them. BATTPROF_PAGE_SHOTS names a directory for pictures of every view.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness.command import CMD, CommandTest, main
from harness.page import Page, one_run, tree_case, write_case
from test_page import hostile_names

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.environ.get("BATTPROF_NODE_MODULES") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "battprof-page", "node_modules")

# Pages with colours of their own: categories, whose code, devices, changes. A look takes 10 s and more.
DARK = ("batt", "own", "gpu", "diff")


def missing():
    for program in ("chromium", "node"):
        if not shutil.which(program):
            return "no %s" % program
    for name in ("playwright-core", "axe-core"):
        if not os.path.isdir(os.path.join(MODULES, name)):
            return "no %s in %s" % (name, MODULES)
    return None


class Browser(CommandTest):
    """All pages are looked at by one browser: starting it takes longer than looking."""

    def report(self, *arguments):
        done = subprocess.run([CMD, "report", *arguments], cwd=self.directory, capture_output=True,
                              env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def run_subject(self, name, *command, options=()):
        result = self.battprof("run", "-q", "-o", name + ".out", *options, "--", *command)
        return name, [name + ".out"], result

    def make(self, name, case):
        directory = os.path.join(self.directory, name)
        os.mkdir(directory)
        write_case(case, directory)
        return os.path.join(name, case["path"])

    def subjects(self):
        """{name: operands of report}"""
        batt = os.environ["RUN_BATT"]
        self.run_subject("batt", batt, "-c", "60", "-j", "2")
        self.run_subject("python", "/usr/bin/python3", os.path.join(HERE, "..", "..", "..", "dsl", "python", "run_batt.py"),
                         "-c", "5")
        self.run_subject("gpu", batt, "-c", "20", "--gpu=naive", options=["--device", "sim:t4"])
        self.run_subject("tasks", batt, "-c", "400", "--generate", "400", "--processes", "4")
        self.run_subject("killed", "sh", "-c", "%s -c 40 >/dev/null & sleep 0.3; kill -9 $!; kill -9 $$" % batt)
        self.run_subject("empty", "true")
        self.run_subject("own", "/usr/bin/python3", "-c", "sum(i * i % 7 for i in range(3000000))")
        names = list(dict.fromkeys(hostile_names(200)))
        calls = [{"func": name, "self": 1, "calls": [[1, 1]]} for name in names]
        hostile = one_run([[name, "libdsl.so"] for name in names], {"self": 1, "children": calls},
                          len(names) + 1, command="</title><script>alert(1)</script>")
        for name, calls in (("few", 10), ("many", 1000)):
            tree = {"self": 1, "children": [{"func": "f", "self": 0.5 * calls, "calls": [[calls, 0.5]]}]}
            self.make(name, one_run([["f", "libdsl.so"]], tree, 1 + 0.5 * calls))
        self.run_subject("batt2", batt, "-c", "60", "-j", "2")
        return {"batt": ["batt.out"], "python": ["python.out"], "gpu": ["gpu.out"], "tasks": ["tasks.out"],
                "killed": ["killed.out"], "empty": ["empty.out"], "own": ["own.out"], "diff": ["batt2.out", "batt.out"],
                "calls": ["many", "few"], "same": ["batt.out", "batt.out"], "hostile": [self.make("hostile", hostile)],
                "big": [self.make("big", tree_case(10000))],
                "huge": [self.make("huge", tree_case(100000, functions=3000, fan=20))]}

    def look(self, subjects):
        plan = {"modules": MODULES, "chromium": shutil.which("chromium"),
                "shots": os.environ.get("BATTPROF_PAGE_SHOTS"),
                "result": os.path.join(self.directory, "result.json"), "pages": []}
        for name, operands in subjects.items():
            path = os.path.join(self.directory, name + ".html")
            self.report("--html", path, *operands)
            plan["pages"].append({"name": name, "path": path, "big": name in ("big", "huge"),
                                  "dark": name in DARK})
        with open(os.path.join(self.directory, "plan.json"), "w", encoding="utf-8") as file:
            json.dump(plan, file)
        done = subprocess.run(["node", os.path.join(HERE, "..", "browser.js"), "plan.json"],
                              cwd=self.directory, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(plan["result"], encoding="utf-8") as file:
            return json.load(file)

    def check_sums(self, name, seen, report):
        """Every switch shows all of the run. Rounded nanoseconds of each context are left."""
        wanted = {"wall": 1e9 * (report["wall_s"] - min(0, report["unsplit_s"])),
                  "thread": 1e9 * report["thread_s"],
                  "calls": sum(row["calls"] for row in report["functions"]),
                  "bytes": sum(report["transfers"][key]["bytes"] for key in ("h2d", "d2h"))}
        for measure, value in seen["sums"].items():
            self.assertAlmostEqual(value / (wanted[measure] or 1), 1, delta=2e-3 if measure == "thread" else 1e-5,
                                   msg="%s: %s" % (name, measure))

    def check_plain(self, name, text, operands):
        """With scripts off every row of the text report is there."""
        flat = " ".join(text.split())
        for line in self.report(operands[0]).rstrip("\n").split("\n"):
            self.assertIn(" ".join(line.split()), flat, name)

    def check_graphs(self, seen, report):
        """However it is turned the whole is the same; threads make up all, and waiting is a part."""
        self.assertEqual((seen["inverted"], seen["again"]), (seen["plain"], seen["plain"]))
        self.assertLess(seen["busy"], seen["thread"])
        self.assertEqual(len(seen["threads"]), len(report["thread_list"]))
        self.assertAlmostEqual(sum(seen["threads"]) / seen["thread"], 1, delta=2e-3)
        self.assertGreater(min(seen["tasks"]), 0)
        self.assertGreater(seen["zoomed"][0].count(" "), 0)
        self.assertEqual((len(set(seen["zoomed"])), seen["unzoomed"]), (1, "all"))

    def check_panel(self, seen):
        self.assertEqual((seen["view"], seen["name"], seen["closed"]), ("Overview", "merge", True))
        for head in ("called from", "calls", "durations of calls, by powers of two"):
            self.assertIn(head, seen["heads"])
        self.assertTrue([head for head in seen["heads"] if head.startswith("self time in ")], seen["heads"])
        self.assertGreater(seen["source"], seen["hot"])
        self.assertGreater(seen["hot"], 0)
        self.assertEqual(seen["sandwich"][1], 2)
        self.assertIn("around merge", seen["sandwich"][0])
        self.assertEqual(seen["row"], ["Functions", "merge", "merge"])

    def check_table(self, seen, report):
        self.assertEqual(seen["falling"], sorted(seen["falling"], reverse=True))
        self.assertEqual(seen["rising"], sorted(seen["rising"]))
        self.assertEqual((seen["first"], seen["rows"]), ("descending", 1))
        self.assertEqual(seen["begin"], ["pct descending"])
        self.assertIn("1 of %d rows" % len(report["functions"]), seen["words"])
        head, row = [line.split("\t") for line in seen["copied"].splitlines()]
        wanted = next(item for item in report["functions"] if item["name"] == "merge")
        self.assertEqual(int(row[head.index("calls")]), wanted["calls"])
        self.assertAlmostEqual(float(row[head.index("self_s")]), wanted["self_s"])

    def check_links(self, seen, report):
        """A row's graph is as large as the row says, and what does not turn it is off."""
        task, thread = report["tasks"]["list"][0], report["thread_list"][0]
        self.assertEqual((seen["task"]["view"], seen["task"]["scope"]), ("Overview", "task " + task["id"]))
        self.assertLessEqual(seen["task"]["sum"], 1.01e9 * task["duration_s"])
        self.assertEqual((seen["task"]["off"], seen["task"]["pressed"]),
                         (["wall", "thread time", "calls", "invert", "hide waiting"], ["thread time"]))
        self.assertEqual((seen["thread"]["name"], seen["thread"]["off"]), (str(thread["tid"]), []))
        self.assertAlmostEqual(seen["thread"]["sum"] / 1e9 / thread["wall_s"], 1, delta=5e-3)

    def check_behaviour(self, seen, report):
        search = seen["search"]
        self.assertRegex(search["every"], r"^100\.0 % in ")
        self.assertRegex(search["steps"][1], r"^1 of \d+: (merge|objects): ")
        self.assertRegex(search["steps"][2], r"^2 of \d+: ")
        self.assertEqual(search["steps"][3], search["steps"][1])
        self.assertRegex(search["place"], r"^[\d.]+ % in \d+ frames, at 1$")
        self.assertEqual(search["broken"], "nothing found")
        self.check_graphs(seen["graphs"], report)
        self.check_panel(seen["panel"])
        self.check_table(seen["table"], report)
        self.check_links(seen["links"], report)
        self.assertTrue([name for name in seen["sources"]["files"] if name.endswith("value.c")])
        self.assertGreater(seen["sources"]["lines"], seen["sources"]["hot"])
        self.assertGreater(seen["sources"]["hot"], 0)
        self.assertGreater(len(seen["pictures"]), 5)
        for name, scale in seen["pictures"]:
            self.assertAlmostEqual(scale, 1, delta=0.02, msg=name)

    def test_pages(self):
        subjects = self.subjects()
        result = self.look(subjects)
        for name, one in result.items():
            report = json.loads(self.report("--json", os.path.join(self.directory, name + ".html")))
            with self.subTest(name):
                for look, seen in one["looks"].items():
                    self.assertEqual((seen["errors"], seen["requests"], seen["axe"]), ([], [], []), look)
                    self.assertEqual((seen["text"], seen["wide"]), (0, 0), look)
                first = one["looks"]["light1280"]
                self.assertEqual((one["frame"]["errors"], one["frame"]["requests"]), ([], []))
                self.assertEqual(one["frame"]["origin"], "null")
                self.check_sums(name, first, report)
                self.check_sums(name, one["frame"], report)
                self.assertIn("all: ", first["walk"][0])
                for table, rows, said in first["tables"]:
                    self.assertGreater(rows, 0, table)
                    self.assertIn("row", said)
                for seen in one["looks"].values():
                    if "behaviour" in seen:
                        self.check_behaviour(seen["behaviour"], report)
                if name not in ("hostile", "big", "huge"):
                    self.check_plain(name, one["plain"], subjects[name])
                if name == "same":
                    self.assertEqual(first["verdicts"], ["c-noise"])
                if name == "calls":  # exact, and so no chance: the grey one is the thread itself
                    self.assertEqual(first["verdicts"], ["c-slower", "c-noise"])
                if name == "own":
                    self.assertIn("your code", first["legend"])
                    self.assertNotIn("framework", first["legend"])
                page = os.path.getsize(os.path.join(self.directory, name + ".html"))
                print("   %-8s %8d bytes, ready %6.1f ms, graph %5.1f ms, search %5.1f ms" % (
                    name, page, first["speed"]["first"], first["speed"]["draw"], first["speed"]["find"]))


if __name__ == "__main__":
    reason = missing()
    if reason:
        print("skipped: %s; tools/deps --page installs what is missing" % reason)
        sys.exit(77)
    main()
