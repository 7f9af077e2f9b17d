# SPDX-License-Identifier: MIT
"""Exports of Nsight Systems made here: known times, odd copies, missing and unknown tables,
damage."""
import os
import sqlite3
import unittest

from harness.imports import MS, ImportTest, cuda_calls, function

PID, TID = 4242, 4242
GLOBAL_PID = PID << 24
PAGEABLE, PINNED, DEVICE, MANAGED, UNKNOWN = 0, 1, 2, 4, 7

TABLES = {
    "StringIds": "id INTEGER, value TEXT",
    "CUPTI_ACTIVITY_KIND_RUNTIME":
        "start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY":
        "start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER, globalPid INTEGER, "
        "bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMSET":
        "start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER, globalPid INTEGER, "
        "bytes INTEGER",
    "CUPTI_ACTIVITY_KIND_KERNEL":
        "start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER, globalPid INTEGER, "
        "demangledName INTEGER",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE":
        "start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER, globalPid INTEGER, "
        "graphId INTEGER, graphExecId INTEGER",
    "NVTX_EVENTS":
        "start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT, "
        "textId INTEGER",
    "OSRT_API": "start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER",
    "TARGET_INFO_GPU": "id INTEGER, name TEXT, totalMemory INTEGER",
    "TARGET_INFO_CUDA_GPU": "deviceId INTEGER, name TEXT",
    "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER, cudaId INTEGER, pid INTEGER",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "SOMETHING_NEW": "id INTEGER",
}


class Export:
    """An export; tables are made when the first row comes, as nsys does."""

    def __init__(self, path):
        self.path = path
        self.database = sqlite3.connect(path)
        self.strings = {}
        self.correlation = 0
        self.create("StringIds")

    def create(self, table, columns=None):
        self.database.execute("CREATE TABLE IF NOT EXISTS %s (%s)" % (table,
                                                                      columns or TABLES[table]))

    def add(self, table, *values):
        self.create(table)
        self.database.execute("INSERT INTO %s VALUES (%s)" % (table, ",".join("?" * len(values))),
                              values)

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.add("StringIds", self.strings[text], text)
        return self.strings[text]

    def call(self, name, start, end, tid=TID, process=GLOBAL_PID):
        self.correlation += 1
        self.add("CUPTI_ACTIVITY_KIND_RUNTIME", start * MS, end * MS, process | tid,
                 self.correlation, self.string(name))
        return self.correlation

    def copy(self, call, start, end, kind, source, target, size=1 << 20, device=0,
             process=GLOBAL_PID):
        self.add("CUPTI_ACTIVITY_KIND_MEMCPY", start * MS, end * MS, device, call, process, size,
                 kind, source, target)

    def kernel(self, call, start, end, name="k", device=0, process=GLOBAL_PID):
        self.add("CUPTI_ACTIVITY_KIND_KERNEL", start * MS, end * MS, device, call, process,
                 self.string(name))

    def done(self):
        self.database.commit()
        self.database.close()
        return self.path


class Nsys(ImportTest):
    def export(self):
        return Export(self.path("trace.sqlite"))

    def test_known_times(self):
        """cudaMemcpy of 100 ms: 60 behind a kernel, 30 copying, 10 of its own."""
        export = self.export()
        launch = export.call("cudaLaunchKernel_v7000", 0, 10)
        export.kernel(launch, 10, 80, "map(int)")
        copy = export.call("cudaMemcpy_v3020", 20, 120)
        export.copy(copy, 85, 115, 1, PAGEABLE, DEVICE, 64 << 20)
        export.add("TARGET_INFO_GPU", 0, "Tesla T4", 16 << 30)
        export.add("SOMETHING_NEW", 1)
        report = self.report(export.done())
        self.assertEqual(report["device"]["name"], "Tesla T4")
        self.assertFalse(report["device"]["simulated"])
        self.assertAlmostEqual(report["wall_s"], 0.12)
        self.assertAlmostEqual(report["categories"]["transfer"]["s"], 0.03)
        self.assertAlmostEqual(report["framework"]["kernel_wait_s"], 0.06)
        self.assertAlmostEqual(report["framework"]["cuda_api_s"], 0.02)
        self.assertEqual(report["transfers"]["h2d"]["count"], 1)
        self.assertEqual(report["transfer_list"][0]["call"], "cudaMemcpy")
        self.assertEqual(report["transfer_list"][0]["source"], "pageable")
        self.assertEqual(report["kernels"][0]["name"], "map(int)")
        self.assertAlmostEqual(report["kernels"][0]["device_s"], 0.07)
        self.assertEqual(function(report, "cudaMemcpy")["calls"], 1)

    def test_kinds_of_copies(self):
        export = self.export()
        call = export.call("cudaMemcpyAsync_v3020", 0, 100)
        export.copy(call, 0, 10, 2, DEVICE, PINNED)
        export.copy(call, 10, 20, 8, DEVICE, DEVICE)
        export.copy(call, 20, 30, 10, DEVICE, DEVICE)
        peer = export.call("cudaMemcpyPeer_v4000", 100, 200)
        export.copy(peer, 110, 130, 2, DEVICE, DEVICE, device=0)  # no peer access: one copy
        export.copy(peer, 130, 150, 1, DEVICE, DEVICE, device=1)
        export.copy(None, 160, 170, 11, UNKNOWN, UNKNOWN)
        export.copy(None, 210, 220, 12, UNKNOWN, UNKNOWN)
        export.copy(call, 60, 70, 9, PAGEABLE, PAGEABLE)
        export.add("CUPTI_ACTIVITY_KIND_MEMSET", 230 * MS, 240 * MS, 0, None, GLOBAL_PID, 4096)
        report = self.report(export.done())
        counts = {name: row["count"] for name, row in report["transfers"].items()}
        self.assertEqual(counts, {"h2d": 1, "d2h": 2, "d2d": 1, "p2p": 2, "memset": 1})
        self.assertAlmostEqual(report["categories"]["transfer"]["thread_s"], 0.02)
        self.assertAlmostEqual(report["transfers"]["d2h"]["hidden_s"], 0.01)
        self.assertIn("1 host-to-host copies left out", self.said)
        self.assertEqual([row["async"] for row in report["transfer_list"]
                          if row["call"] == "cudaMemcpyAsync"], [True] * 3)
        managed = [row for row in report["transfer_list"] if row["source"] == "managed"]
        self.assertEqual([row["function"] for row in managed], ["", ""])

    def test_threads_ranges_and_nesting(self):
        """Two threads; a driver call within a runtime call; a copy within a range of NVTX."""
        export = self.export()
        export.add("NVTX_EVENTS", 0, 50 * MS, 59, GLOBAL_PID | TID, "upload", None)
        export.add("NVTX_EVENTS", 0, 90 * MS, 60, GLOBAL_PID | TID, "start-end range", None)
        outer = export.call("cudaMemcpy_v3020", 0, 40)
        export.call("cuMemcpyHtoD_v2", 10, 30)
        export.copy(outer, 15, 35, 1, PINNED, DEVICE)
        export.call("cudaDeviceSynchronize_v3020", 0, 100, tid=TID + 1)
        report = self.report(export.done())
        self.assertEqual(report["threads"], 2)
        self.assertEqual(report["transfer_list"][0]["function"], "upload")
        self.assertAlmostEqual(function(report, "cuMemcpyHtoD_v2")["transfer_s"], 0.015)
        self.assertAlmostEqual(function(report, "cudaMemcpy")["transfer_s"], 0.005)
        self.assertAlmostEqual(function(report, "cudaMemcpy")["self_s"], 0.02)
        self.assertAlmostEqual(function(report, "cudaDeviceSynchronize")["transfer_s"], 0.02)
        self.assertFalse([f for f in report["functions"] if "start-end" in f["name"]])

    def test_calls_of_the_system(self):
        """Waiting is waiting, but not within a CUDA call, and not in Nsight's own threads."""
        export = self.export()
        export.call("cudaMalloc_v3020", 0, 10)
        for name, start, end, tid in (("ioctl", 2, 8, TID), ("poll", 3, 4, TID),
                                      ("nanosleep", 20, 50, TID), ("fread", 50, 55, TID),
                                      ("poll", 0, 90, TID + 5)):
            export.add("OSRT_API", start * MS, end * MS, GLOBAL_PID | tid, export.string(name))
        report = self.report(export.done())
        self.assertEqual(report["threads"], 1)
        self.assertAlmostEqual(report["framework"]["cuda_api_s"], 0.01)
        self.assertAlmostEqual(report["framework"]["waiting_s"], 0.03)
        self.assertAlmostEqual(report["framework"]["io_s"], 0.005)
        self.assertFalse([f for f in report["functions"] if f["name"] in ("ioctl", "poll")
                          and f["calls"]])

    def test_copies_that_are_missing(self):
        """What the trace lacks is said of the trace, and no page of copies is proposed."""
        export = Export(self.path("a.sqlite"))
        export.kernel(export.call("cudaLaunchKernel", 0, 1), 1, 3)
        report = self.report(export.done())
        self.assertIn("a.sqlite: no copies in it (no table CUPTI_ACTIVITY_KIND_MEMCPY)", self.said)
        self.assertNotIn("no kernels", self.said)
        self.assertFalse([note for note in report["notes"] if "libdsl" in note], report["notes"])

    def test_graphs_as_a_whole(self):
        """What nsys records of a graph unless it is told to trace nodes: one row for a launch."""
        export = self.export()
        export.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 0, 0, 0, 9, GLOBAL_PID, 3, 4)
        for i in range(1, 3):
            launch = export.call("cudaGraphLaunch_v10000", 100 * i, 100 * i + 5)
            export.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", (100 * i + 10) * MS, (100 * i + 70) * MS,
                       0, launch, GLOBAL_PID, 3, 4)
            export.call("cudaStreamSynchronize_v3020", 100 * i + 20, 100 * i + 80)
        export.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 290 * MS, 0, 0, 9, GLOBAL_PID, 3, 4)
        report = self.report(export.done())
        self.assertAlmostEqual(report["framework"]["kernel_wait_s"], 0.1)
        self.assertEqual([(row["name"], row["count"]) for row in report["kernels"]],
                         [("CUDA graph 3", 2)])
        self.assertIn("2 launches of CUDA graphs count as kernels", self.said)
        self.assertIn("2 rows without a recorded time left out", self.said)
        self.assertAlmostEqual(report["wall_s"], 0.18)
        self.assertNotIn("no kernels", self.said)

    def test_processes(self):
        """Two ranks: what one waits for is its own work, and each has a device 0."""
        export = self.export()
        other = (255 << 56) | (PID + 1) << 24
        other -= 1 << 64  # as SQLite has it
        for process, gpu, at in ((GLOBAL_PID, 2, 0), (other, 5, 1000)):
            pid = process >> 24 & 0xffffff
            export.add("TARGET_INFO_GPU", gpu, "GPU %d" % gpu, 1 << 30)
            export.add("TARGET_INFO_CUDA_DEVICE", gpu, 0, pid)
            call = export.call("cudaMemcpy_v3020", 0, 100, pid, process)
            export.copy(call, 10 + at, 30 + at, 1, PINNED, DEVICE, process=process)
            export.kernel(call, 40 + at, 60 + at, process=process)
        export.call("cudaFree_v3020", 1100, 1101)
        report = self.report(export.done())
        self.assertIn("2 processes in it, shown as one", self.said)
        self.assertEqual(report["threads"], 2)
        self.assertAlmostEqual(report["categories"]["transfer"]["thread_s"], 0.02)
        self.assertAlmostEqual(report["framework"]["kernel_wait_s"], 0.02)
        self.assertAlmostEqual(report["framework"]["cuda_api_s"], 0.06 + 0.1 + 0.001)
        self.assertAlmostEqual(report["transfers"]["h2d"]["hidden_s"], 0.02)
        self.assertEqual([(row["name"], round(row["busy_s"], 6)) for row in report["devices"]],
                         [("GPU 2", 0.04), ("GPU 5", 0.04)])

    def test_older_exports(self):
        """Until 2021: another table of devices, no ids of texts; work that names no process."""
        export = self.export()
        export.create("NVTX_EVENTS", "start INTEGER, end INTEGER, eventType INTEGER, "
                                     "globalTid INTEGER, text TEXT")
        export.add("NVTX_EVENTS", 0, 50 * MS, 59, GLOBAL_PID | TID, "upload")
        export.add("TARGET_INFO_CUDA_GPU", 0, "Tesla V100")
        call = export.call("cudaMemcpy_v3020", 0, 40)
        export.copy(call, 10, 30, 1, PINNED, DEVICE, process=None)
        export.copy(call, 31, 32, 99, PINNED, DEVICE)
        report = self.report(export.done())
        self.assertEqual(report["device"]["name"], "Tesla V100")
        self.assertEqual(report["transfer_list"][0]["function"], "upload")
        self.assertAlmostEqual(report["categories"]["transfer"]["s"], 0.02)
        self.assertEqual(report["transfers"]["d2d"]["count"], 0)
        self.assertIn("1 copies of an unknown direction left out", self.said)

    def test_what_is_missing(self):
        export = self.export()
        export.copy(1, 0, 10, 1, PINNED, DEVICE)
        report = self.report(export.done())
        self.assertIn("no CUDA calls", self.said)
        self.assertTrue(any("no CUDA calls" in note for note in report["notes"]))
        self.assertAlmostEqual(report["transfers"]["h2d"]["hidden_s"], 0.01)
        self.assertEqual(report["categories"]["transfer"]["s"], 0)

    def test_other_columns(self):
        """A table of an unknown version is left out, and the user is told."""
        export = self.export()
        export.call("cudaFree_v3020", 0, 1)
        export.create("CUPTI_ACTIVITY_KIND_MEMCPY", "start INTEGER, end INTEGER, size INTEGER")
        report = self.report(export.done())
        self.assertEqual(cuda_calls(report), 1)
        self.assertIn("CUPTI_ACTIVITY_KIND_MEMCPY left out: no such column", self.said)

    def test_nothing_in_it(self):
        self.fails(self.export().done(), "without CUDA calls", "nsys profile --trace cuda")
        path = self.path("other.sqlite")
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE people (name TEXT)")
        database.commit()
        database.close()
        self.fails(path, "no export of Nsight Systems", "StringIds")

    def test_damage(self):
        """Cut and overwritten at many places: a profile or one sentence, never a crash."""
        export = self.export()
        for i in range(3000):
            export.copy(export.call("cudaMemcpy_v3020", i, i + 0.5), i, i + 0.4, 1, PINNED, DEVICE)
        with open(export.done(), "rb") as file:
            data = file.read()
        seen = set()
        for step in range(24):
            broken = bytearray(data)
            at = len(data) * step // 24
            if step % 2:
                del broken[at:]
            else:
                broken[at:at + 300] = b"\xa5" * 300
            path = self.path("broken.sqlite")
            with open(path, "wb") as file:
                file.write(broken)
            done = self.battprof("import", path)
            self.assertIn(done.returncode, (0, 1), (step, done))
            self.assertLessEqual(len(done.stderr.splitlines()), 1, done)
            seen.add((done.returncode, bool(done.stderr)))
        self.assertIn((1, True), seen)
        self.assertIn((0, True), seen)

    def test_damaged_schema(self):
        """What SQLite says of it has lines; we have one."""
        export = self.export()
        export.create("CUPTI_ACTIVITY_KIND_MEMCPY", "start INTEGER, -- first\n `end INTEGER\n, x`")
        with open(export.done(), "rb+") as file:
            data = file.read()
            file.seek(data.index(b"\n, x`") + 4)
            file.write(b" ")
        self.fails(export.path, "damaged or cut", "export it again")

    def test_not_a_trace(self):
        for name, content, word in (("empty", b"", "an empty file"),
                                    ("text", b"hello", "neither an SQLite export"),
                                    ("zeros", bytes(100), "neither an SQLite export"),
                                    ("run.nsys-rep", b"\x01\x02\x03", "nsys export --type sqlite"),
                                    ("run.bp", b"BATTPROF" + bytes(4096), "a profile already")):
            with open(self.path(name), "wb") as file:
                file.write(content)
            self.fails(self.path(name), name, word)
        self.fails(self.path("nowhere"), "No such file")
        os.mkfifo(self.path("pipe"))
        self.fails(self.path("pipe"), "not a regular file")
        self.fails(self.directory, self.directory)
        self.assertEqual(self.battprof("import").returncode, 2)
        self.assertEqual(self.battprof("import", "-o", "x", "a", "b").returncode, 2)

    def test_where_it_goes(self):
        export = self.export()
        export.call("cudaFree_v3020", 0, 1)
        path = export.done()
        self.assertEqual(self.battprof("import", path).returncode, 0)
        self.assertTrue(os.path.exists(path + ".bp"))
        self.fails_to_write(path)

        done = self.battprof("import", "-o", "trace.sqlite", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is the trace itself", done.stderr)
        self.assertEqual(self.battprof("import", path).returncode, 0)

    def fails_to_write(self, path):
        done = self.battprof("import", "-o", self.path("no/such/place.bp"), path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("choose another place with -o", done.stderr)


if __name__ == "__main__":
    unittest.main()
