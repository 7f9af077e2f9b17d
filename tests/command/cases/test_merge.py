# SPDX-License-Identifier: MIT
"""battprof merge: totals of the whole are those of its parts; nothing is overwritten."""
import json
import os
import unittest

from harness.command import CommandTest


class Merge(CommandTest):
    def report(self, path):
        return json.loads(self.battprof("report", "--json", path).out)

    def record(self, output, rank):
        self.environment["PMI_RANK"] = str(rank)
        result = self.battprof("run", "-q", "-o", output, "sh", "-c", "sh -c : & sh -c :; wait")
        self.assertEqual(result.status, 0, result)

    def test_sums(self):
        for rank in range(2):
            os.makedirs(self.path(f"node{rank}"))
            self.record(f"node{rank}/battprof.out", rank)
        result = self.battprof("merge", "all", "node0/battprof.out", "nosuch")
        self.assertEqual(result.status, 1, result)
        self.assertFalse(os.path.exists(self.path("all")))
        result = self.battprof("merge", "all", "node0/battprof.out", "node1/battprof.out/")
        self.assertEqual(result.status, 0, result)
        self.assertIn("copied 2 runs;", result.err)
        self.assertEqual(sorted(os.listdir(self.path("all"))), ["node0", "node1"])
        parts = [self.report(f"node{rank}/battprof.out") for rank in range(2)]
        whole = self.report("all")
        for key in ("wall_s", "thread_s", "cpu_s", "processes", "threads"):
            self.assertAlmostEqual(whole[key], sum(part[key] for part in parts), 6, key)
        self.assertLess(abs(whole["unsplit_s"]), 0.005 * whole["wall_s"])
        self.assertEqual({row["rank"] for row in whole["process_list"]}, {0, 1})
        self.assertEqual(sum(row["processes"] for row in whole["roles"]),
                         len(whole["process_list"]))
        self.assertAlmostEqual(sum(row["threads_lifetime_s"] for row in whole["roles"]),
                               whole["thread_s"], 6)

    def test_series_and_same_names(self):
        self.battprof("run", "-q", "--repeat", "2", "-o", "a", "true")
        self.battprof("run", "-q", "-o", "x/a", "true")
        os.makedirs(self.path("x"))
        self.battprof("run", "-q", "-o", "x/a", "true")
        result = self.battprof("merge", "all", "a", "x/a")
        self.assertEqual(result.status, 0, result)
        self.assertEqual(sorted(os.listdir(self.path("all"))), ["a", "run-1", "run-2"])

    def test_mistakes(self):
        self.battprof("run", "-q", "-o", "a", "true")
        self.write("empty/x")
        for status, words, arguments in ((2, ["new directory"], []), (2, ["new directory"], ["b"]),
                                         (1, ["a", "new name"], ["a", "a"]),
                                         (1, ["no-such"], ["b", "no-such"]),
                                         (1, ["empty", "no profile"], ["c", "empty"])):
            result = self.battprof("merge", *arguments)
            self.assertEqual(result.status, status, result)
            self.assert_one_sentence(result, *words)


if __name__ == "__main__":
    unittest.main()
