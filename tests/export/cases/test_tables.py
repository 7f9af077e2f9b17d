# SPDX-License-Identifier: MIT
"""Tables: rows are those of report --json, ranks come together, and the shipped views find what was
planted, in DuckDB where there is one (tools/deps --readers)."""
import glob
import gzip
import json
import os
import subprocess
import unittest

from harness import readers
from harness.command import LIB, CommandTest, main

RUN_BATT = os.environ["RUN_BATT"]
TABLES = ("runs", "processes", "threads", "functions", "contexts", "groups", "tasks", "transfers",
          "kernels", "advice")
QUERY = """
import duckdb, json, os, sys
os.chdir(sys.argv[1])
database = duckdb.connect()
database.execute(open("battprof.sql").read())
answers = []
for question in sys.argv[2:]:
    rows = database.execute(question)
    names = [column[0] for column in rows.description]
    answers.append([dict(zip(names, row)) for row in rows.fetchall()])
print(json.dumps(answers))
"""
# chdb is ClickHouse in a Python module.
CLICKHOUSE = """
import json, os, sys
from chdb import session
os.chdir(sys.argv[1])
database = session.Session()
with open("battprof-clickhouse.sql") as file:
    lines = [line for line in file if not line.startswith("--")]
for statement in "".join(lines).split(";\\n"):
    if statement.strip():
        database.query(statement)
answers = [str(database.query(question, "JSONEachRow")) for question in sys.argv[2:]]
print(json.dumps([[json.loads(line) for line in answer.splitlines() if line] for answer in answers]))
"""
ENGINES = {"duckdb": QUERY, "chdb": CLICKHOUSE}


def rows(directory, table):
    found = []
    for path in glob.glob(os.path.join(directory, "run=*", "**", table + "-*.ndjson.gz"),
                          recursive=True):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            found += [json.loads(line) for line in file]
    return found


class Tables(CommandTest):
    def record(self, rank, cases):
        self.environment["RANK"] = str(rank)
        result = self.battprof("run", "-q", "-o", f"all/rank{rank}", "--", RUN_BATT, "-c",
                               str(cases))
        self.assertEqual(result.status, 0, result)

    def query(self, engine, directory, *questions):
        """The rows of each answer."""
        done = subprocess.run([readers.PYTHON, "-c", ENGINES[engine], self.path(directory), *questions],
                              check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def each_engine(self):
        """Those that are installed; without any, or without one, says so."""
        found = []
        for engine in ENGINES:
            try:
                readers.need_python(engine)
                found.append(engine)
            except readers.Missing as missing:
                print("skipped: %s" % missing, flush=True)
        if not found:
            self.skipTest("no database")
        return found

    def test_rows(self):
        os.mkdir(self.path("all"))
        self.record(3, 2)
        self.assertEqual(self.battprof("export", "-f", "tables", "-o", "t", "--run", "x/y",
                                       "all/rank3").status, 0)
        places = glob.glob(self.path("t/run=x%2Fy/host=*/rank=3"))
        self.assertEqual(len(places), 1)
        self.assertEqual(len(os.listdir(places[0])), len(TABLES))
        report = json.loads(self.battprof("report", "--json", "all/rank3").out)
        for table, key in (("functions", "functions"), ("processes", "process_list"),
                           ("threads", "thread_list"), ("groups", "groups")):
            found = rows(self.path("t"), table)
            self.assertEqual(len(found), len(report[key]), table)
            for mine, theirs in zip(found, report[key], strict=True):
                self.assertEqual((mine["run"], mine["rank"]), ("x/y", 3))
                for name in set(mine) & set(theirs) - {"rank"}:
                    self.assertEqual(mine[name], theirs[name], (table, name))
        contexts = rows(self.path("t"), "contexts")
        self.assertAlmostEqual(sum(row["self_s"] for row in contexts),
                               sum(row["self_s"] for row in report["functions"]), 5)
        self.assertAlmostEqual(rows(self.path("t"), "runs")[0]["dsl_s"],
                               report["categories"]["dsl"]["s"], 6)

    def test_directory_of_a_rank(self):
        """Values of the launcher stay within the name, and children write where their parent did."""
        environment = {**self.environment, "LD_PRELOAD": LIB, "BATTPROF_QUIET": "1",
                       "BATTPROF_DIR": "p-%r-%j-%x-%%r", "RANK": "7", "SLURM_JOB_ID": "../9/%p"}
        subprocess.run(["sh", "-c", "sh -c :; sh -c :"], cwd=self.directory, env=environment,
                       check=True)
        self.assertEqual(os.listdir(self.directory), ["p-7-_._9__p-%x-%r"])
        self.assertGreater(len(os.listdir(self.path("p-7-_._9__p-%x-%r"))), 1)
        del environment["RANK"]
        environment["BATTPROF_DIR"] = "%h-%r-%p"
        subprocess.run(["true"], cwd=self.directory, env=environment, check=True)
        self.assertTrue(glob.glob(self.path(os.uname().nodename + "-none-[0-9]*")))

    def test_fleet(self):
        os.mkdir(self.path("all"))
        for rank in range(7):
            self.record(rank, 8 if rank == 4 else 1)
        result = self.battprof("export", "-f", "tables", "-o", "t", "--run", "r", "all")
        self.assertEqual(result.status, 0, result)
        self.assertEqual(len(glob.glob(self.path("t/run=r/*.gz"))), len(TABLES))
        self.assertEqual({row["rank"] for row in rows(self.path("t"), "runs")}, set(range(7)))
        wall = sum(row["wall_s"] for row in rows(self.path("t"), "runs"))
        for engine in self.each_engine():
            found, split = self.query(
                engine, "t", "SELECT rank, z FROM stragglers", "SELECT * FROM fleet_split",
                *(f"SELECT * FROM {view}" for view in
                  ("transfer_by_host", "slowest_tasks", "regressions", "advice", "kernels")))[:2]
            self.assertEqual((len(found), found[0]["rank"]), (7, 4), engine)
            self.assertGreater(found[0]["z"], 3.5)
            self.assertAlmostEqual(split[0]["wall_s"], wall, 6)

    def test_engines(self):
        """What a database sums up is what the report says, of each kind of run."""
        runs = {"native": ["-c", "3", "-j", "2"], "gpu": ["-c", "2", "--gpu=naive"],
                "many": ["-c", "6", "--processes", "6"]}
        for name, options in runs.items():
            device = ["--device", "sim:t4"] if name == "gpu" else []
            self.battprof("run", "-q", "-o", name, *device, "--", RUN_BATT, *options)
            self.battprof("export", "-f", "tables", "-o", "t", "--run", name, name)
        sums = "SELECT run, name, sum(self_s) AS own, sum(total_s) AS total FROM functions GROUP BY run, name"
        for engine in self.each_engine():
            found = {(row["run"], row["name"]): row for row in self.query(engine, "t", sums)[0]}
            for name in runs:
                report = json.loads(self.battprof("report", "--json", name).out)
                for wanted in report["functions"]:
                    if wanted["name"] != "(own code)":
                        row = found[name, wanted["name"]]
                        self.assertAlmostEqual(row["own"], wanted["self_s"], 6, (engine, name, wanted))
                        self.assertAlmostEqual(row["total"], wanted["total_s"], 6, (engine, name, wanted))


if __name__ == "__main__":
    main()
