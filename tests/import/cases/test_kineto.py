# SPDX-License-Identifier: MIT
"""Traces of the PyTorch profiler made here: names and clocks of several versions, Python
functions, coarse times, and files that were cut."""
import gzip
import json
import random
import subprocess
import unittest

from harness.imports import CMD, ImportTest, cuda_calls, function

PID = 77
BASE = 1700000000000000


def host(category, name, start, duration, tid=PID, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": PID, "tid": tid, "ts": start,
            "dur": duration, "args": arguments}


def device(category, name, start, duration, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, "ts": start,
            "dur": duration, "args": dict(arguments, device=0, stream=7)}


def copy(start, duration, correlation, name="Memcpy HtoD (Pageable -> Device)", size=4096):
    return device("gpu_memcpy", name, start, duration, correlation=correlation, bytes=size)


class Kineto(ImportTest):
    def trace(self, events, name="trace.json", **more):
        text = json.dumps(dict({"schemaVersion": 1, "deviceProperties": [
            {"id": 0, "name": "NVIDIA L4", "totalGlobalMem": 24 << 30}]}, traceEvents=events,
            **more), indent=1)
        with (gzip.open if name.endswith(".gz") else open)(self.path(name), "wt") as file:
            file.write(text)
        return self.path(name)

    def test_known_times(self):
        base = 1700000000000000
        report = self.report(self.trace([
            {"ph": "M", "name": "process_name", "pid": PID, "tid": 0, "args": {"name": "python"}},
            {"ph": "M", "name": "thread_name", "pid": PID, "tid": PID, "args": {"name": "main"}},
            host("python_function", "/work/dsl.py(17): objects", base, 1000),
            host("cpu_op", "aten::copy_", base + 100, 800),
            host("cuda_runtime", "cudaMemcpyAsync", base + 200, 600, correlation=5),
            copy(base + 300, 400, 5, size=1 << 20),
            host("cuda_runtime", "cudaLaunchKernel", base + 910, 20, correlation=6),
            device("kernel", "k", base + 2000, 500, correlation=6),
            host("cuda_runtime", "cudaStreamSynchronize", base + 1500, 1100, correlation=7),
            device("gpu_memset", "Memset (Device)", base + 2600, 10, correlation=8, bytes=64),
            {"ph": "s", "id": 5, "pid": PID, "tid": PID, "ts": base, "cat": "ac2g"},
        ], "trace.json.gz"))
        self.assertEqual(report["command"], "python")
        self.assertEqual(report["device"]["name"], "NVIDIA L4")
        self.assertEqual(cuda_calls(report), 3)
        self.assertAlmostEqual(report["categories"]["transfer"]["s"], 400e-6)
        # The kernel was launched under dsl.objects: waiting for it is work of the DSL.
        self.assertAlmostEqual(report["categories"]["dsl"]["s"], (1000 - 820 + 500) * 1e-6)
        self.assertAlmostEqual(report["framework"]["cuda_api_s"], (200 + 20 + 600) * 1e-6)
        self.assertAlmostEqual(report["framework"]["kernel_wait_s"], 0)
        self.assertEqual(report["transfer_list"][0]["function"], "aten::copy_")
        self.assertEqual(report["kernels"][0]["launched_by"], "dsl.objects")
        self.assertEqual(report["thread_list"][0]["name"], "main")
        python = function(report, "dsl.objects")
        self.assertEqual((python["module"], python["line"], python["category"]), ("dsl", 17, "dsl"))

    def test_python_modules(self):
        names = ("/home/me (old)/dsl.py(17): a", "C:\\work\\dsl.py(18): b", "dsl.py(19): c",
                 "/lib/dsl/__init__.py(20): d", "my.python.py(21): e", "<string>(1): f",
                 "<built-in method f of g(): h>", "nn.Module: Linear_0", "): x", "")
        report = self.report(self.trace([host("python_function", name, 10 * i, 10)
                                         for i, name in enumerate(names, 1)]))
        self.assertEqual({(f["name"], f["line"]) for f in report["functions"]
                          if f["category"] == "dsl"},
                         {("dsl.a", 17), ("dsl.b", 18), ("dsl.c", 19), ("dsl.d", 20)})
        self.assertEqual(function(report, "my.python.e")["line"], 21)
        self.assertAlmostEqual(report["categories"]["dsl"]["s"], 40e-6)

    def test_old_names(self):
        report = self.report(self.trace([
            host("Operator", "aten::to", 0, 100),
            host("Runtime", "cudaMemcpy", 10, 50, correlation=1),
            device("Memcpy", "Memcpy DtoH (Device -> Pinned)", 20, 30, correlation=1, bytes=10),
            device("Kernel", "k", 70, 10, correlation=2),
            device("Memset", "Memset", 81, 1, correlation=2),
        ]))
        self.assertEqual(report["transfers"]["d2h"]["count"], 1)
        self.assertEqual(report["transfers"]["memset"]["count"], 1)
        self.assertAlmostEqual(report["transfers"]["d2h"]["exposed_s"], 30e-6)
        self.assertEqual(report["transfer_list"][0]["target"], "pinned")

    def test_fractions_and_base(self):
        """Newer files: microseconds with fractions, from a base on."""
        report = self.report(self.trace([
            host("cuda_runtime", "cudaMemcpy", 1000.25, 10.5, correlation=1),
            copy(1001.125, 2.25, 1),
        ], baseTimeNanoseconds=1700000000000000000))
        self.assertAlmostEqual(report["wall_s"], 10.5e-6, places=9)
        self.assertAlmostEqual(report["categories"]["transfer"]["s"], 2.25e-6, places=9)

    def test_peer_copies(self):
        report = self.report(self.trace([
            host("cuda_runtime", "cudaMemcpyPeerAsync", 0, 100, correlation=1),
            copy(10, 20, 1, "Memcpy DtoH (Device -> Device)"),
            copy(30, 20, 1, "Memcpy HtoD (Device -> Device)"),
            copy(60, 20, 1, "Memcpy PtoP (Device -> Device)"),
            copy(80, 10, 1, "Memcpy DtoD (Device -> Device)"),
        ]))
        self.assertEqual(report["transfers"]["p2p"]["count"], 2)  # the first two are one
        self.assertEqual(report["transfers"]["d2d"]["count"], 1)
        self.assertEqual(report["categories"]["transfer"]["s"], 0)

    def test_coarse_times(self):
        """Whole microseconds: neighbours overlap by one, an inner call ends one after its outer."""
        report = self.report(self.trace([
            host("cpu_op", "outer", 0, 100),
            host("cpu_op", "first", 0, 50),
            host("cuda_runtime", "cudaFree", 10, 41, correlation=1),
            host("cpu_op", "second", 49, 40),
            host("cpu_op", "next", 99, 50),
        ]))
        calls = {f["name"]: f for f in report["functions"]}
        self.assertAlmostEqual(calls["cudaFree"]["self_s"], 41e-6)
        self.assertAlmostEqual(calls["first"]["self_s"], 10e-6)
        self.assertAlmostEqual(calls["second"]["self_s"], 40e-6, delta=2.1e-6)
        self.assertAlmostEqual(calls["next"]["self_s"], 50e-6, delta=1.1e-6)
        self.assertAlmostEqual(report["wall_s"], 149e-6)

    def test_annotations_across_calls(self):
        """Whatever a range begins or ends in, the time of CUDA calls is all there."""
        report = self.report(self.trace([
            host("user_annotation", "early", 0, 100),
            host("cuda_runtime", "cudaDeviceSynchronize", 60, 80, correlation=1),
            device("kernel", "k", 50, 85, correlation=9),
            host("cuda_runtime", "cudaMemcpy", 200, 100, correlation=2),
            copy(210, 85, 2),
            host("user_annotation", "late", 220, 200)]))
        self.assertAlmostEqual(report["framework"]["kernel_wait_s"], 75e-6)
        self.assertAlmostEqual(report["categories"]["transfer"]["s"], 85e-6)
        self.assertAlmostEqual(report["framework"]["cuda_api_s"], (5 + 15) * 1e-6)
        self.assertAlmostEqual(function(report, "late")["self_s"], 120e-6)

    def test_put_together(self):
        report = self.report(self.trace([
            host("cuda_runtime", "cudaLaunchKernel", 1, 9, correlation=1),
            dict(host("cuda_runtime", "cudaMemcpy", 20, 80, correlation=2), pid=PID + 1),
            copy(30, 50, 2)]))
        self.assertIn("calls of several processes in it, shown as one process", self.said)
        self.assertAlmostEqual(report["categories"]["transfer"]["thread_s"], 50e-6)
        self.assertEqual(report["transfer_list"][0]["call"], "cudaMemcpy")

    def test_calls_of_one_length(self):
        """A driver's call fills its runtime's to the microsecond: the inner one has the time."""
        report = self.report(self.trace([
            host("cuda_driver", "cuMemcpyHtoDAsync_v2", 10, 90, correlation=1),
            host("cuda_runtime", "cudaMemcpyAsync", 10, 90, correlation=1),
            host("cpu_op", "aten::copy_", 10, 90),
            host("python_function", "train.py(1): step", 10, 90),
            copy(20, 60, 1), device("kernel", "k", 85, 10, correlation=2)]))
        self.assertAlmostEqual(report["categories"]["transfer"]["s"], 60e-6)
        self.assertAlmostEqual(report["framework"]["kernel_wait_s"], 10e-6)
        self.assertAlmostEqual(report["framework"]["cuda_api_s"], 20e-6)
        self.assertEqual(report["transfer_list"][0]["function"], "aten::copy_")
        self.assertEqual(report["transfer_list"][0]["call"], "cudaMemcpyAsync")
        self.assertEqual(function(report, "aten::copy_")["calls"], 1)
        self.assertEqual(function(report, "train.step")["total_s"], 90e-6)

    def test_recursion(self):
        report = self.report(self.trace([
            host("cpu_op", "aten::add", 0, 100), host("cpu_op", "aten::to", 10, 80),
            host("cpu_op", "aten::add", 20, 50)]))
        self.assertEqual(function(report, "aten::add")["calls"], 2)
        self.assertAlmostEqual(function(report, "aten::add")["total_s"], 100e-6)
        self.assertAlmostEqual(function(report, "aten::add")["self_s"], 70e-6)

    def cut(self, name, share):
        events = [host("cuda_runtime", "cudaMemcpy", 10 * i, 5, correlation=i + 1)
                  for i in range(500)]
        path = self.trace(events, name)
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(data[:int(len(data) * share)])
        return path

    def test_cut(self):
        report = self.report(self.cut("cut.json", 0.5))
        self.assertIn("the file is cut", self.said)
        self.assertTrue(any("the file is cut" in note for note in report["notes"]))
        self.assertTrue(200 < cuda_calls(report) < 300, cuda_calls(report))
        report = self.report(self.cut("cut.json.gz", 0.7))
        self.assertIn("the file is cut", self.said)
        self.assertTrue(50 < cuda_calls(report) < 499, cuda_calls(report))
        self.fails(self.cut("head.json", 0.0005), "no valid JSON")

    def test_not_a_trace(self):
        def write(text):
            with open(self.path("x.json"), "w", encoding="utf-8") as file:
                file.write(text)
            return self.path("x.json")
        self.fails(write('{"a": 1}'), "no traceEvents")
        self.fails(write('{"a": 1}\n{"b": 2}\n'), "no traceEvents")  # nsys export --type json
        self.fails(write('{"traceEvents": [{"ph": "X", "cat": "x", "ts": 1, "dur": 1}, 7, null]}'),
                   "3 events, but none of the kinds")
        self.fails(write('{"traceEvents": [}'), "x.json:1: no valid JSON")
        self.fails(write('{"traceEvents": [], '), "x.json")
        with open(self.path("bad.json.gz"), "wb") as file:
            file.write(b"\x1f\x8b\x08\x00" + b"\xff" * 100)
        self.fails(self.path("bad.json.gz"), "bad.json.gz", "damaged")

    def test_odd_events(self):
        report = self.report(self.trace([
            host("cpu_op", "good", 0, 10),
            {"ph": "X", "cat": "cpu_op", "name": "no time", "pid": PID, "tid": PID},
            {"ph": "X", "cat": "cpu_op", "name": "no thread", "pid": "x", "ts": 1, "dur": 1},
            host("cpu_op", "\u00e9\t\u001b[31m", 11, 5), host("cpu_op", "n" * 5000, 17, 5),
            host("cpu_op", "negative", -5, -5), host("cpu_op", "huge", 1, 1e300)]))
        self.assertIn("4 events without time or thread", self.said)
        self.assertEqual(function(report, "good")["calls"], 1)
        self.assertAlmostEqual(report["wall_s"], 22e-6)

    def raw(self, data, name="raw.json"):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def test_first_version(self):
        """PyTorch 1.8: threads are texts, and numbers may be; what CUPTI had no time for is at 0."""
        report = self.report(self.trace([
            dict(host("Operator", "aten::to", BASE, 100), tid="3239786240"),
            dict(host("Runtime", "cudaMemcpyAsync", BASE + 10, 50, correlation="20002"),
                 tid="3239786240"),
            dict(device("Memcpy", "Memcpy HtoD (Pageable -> Device)", BASE + 20, 30,
                        correlation="20002", bytes="4096"), tid="stream 7"),
            dict(device("Kernel", "volta_sgemm_64x64_nt", 0, 0, correlation=106123),
                 tid="stream 7"),
        ]))
        self.assertAlmostEqual(report["wall_s"], 100e-6)
        self.assertEqual(cuda_calls(report), 1)
        self.assertEqual(report["transfers"]["h2d"]["bytes"], 4096)
        self.assertAlmostEqual(report["transfers"]["h2d"]["exposed_s"], 30e-6)
        self.assertEqual(report["transfer_list"][0]["function"], "aten::to")
        self.assertEqual(report["kernels"], [])
        self.assertIn("1 events without a recorded time left out", self.said)

    def test_rocm(self):
        report = self.report(self.trace([
            host("cuda_runtime", "hipMemcpyWithStream", 0, 100, correlation=1),
            copy(10, 20, 1, "CopyHostToDevice"),
            copy(40, 20, 1, "Memcpy DtoH (Device -> Host)"),
            copy(70, 20, 1, "CopyDeviceToDevice"),
        ]))
        self.assertEqual({key: row["count"] for key, row in report["transfers"].items()},
                         {"h2d": 1, "d2h": 1, "d2d": 1, "p2p": 0, "memset": 0})
        self.assertAlmostEqual(report["categories"]["transfer"]["s"], 40e-6)
        self.assertEqual(function(report, "hipMemcpyWithStream")["library"], "libamdhip64")

    def test_copies_of_no_device(self):
        """No direction is made up."""
        report = self.report(self.trace([
            host("cuda_runtime", "cudaMemcpyAsync", 0, 100, correlation=1),
            copy(10, 20, 1, "Memcpy HtoH (Pageable -> Pinned)"),
            copy(40, 20, 1, "Memcpy <unknown>")]))
        self.assertFalse(any(row["count"] for row in report["transfers"].values()))
        self.assertIn("1 host-to-host copies left out", self.said)
        self.assertIn("1 copies of an unknown direction left out", self.said)

    def test_nearly_json(self):
        """What Kineto wrote that JSON does not have: inf and nan, control characters, backslashes
        of Windows, names that are no UTF-8, numbers beyond 64 bits."""
        events = [
            b'{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpy", "pid": 77, "tid": 77, '
            b'"ts": 1e2, "dur": 50, "args": {"correlation": 5, "x": -inf, "y": Infinity}}',
            b'{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, '
            b'"tid": 7, "ts": 110, "dur": 20, "args": {"correlation": 5, "bytes": 200, '
            b'"memory bandwidth (GB/s)": inf, "b": nan, "ok": true, "addr": 99999999999999999999}}',
            b'{"ph": "X", "cat": "python_function", "name": "torch\\cuda\\__init__.py(219): _lazy",'
            b' "pid": 77, "tid": 77, "ts": 10, "dur": 20, "args": {"a\\u12": "\n"}}',
            b'{"ph": "X", "cat": "cpu_op", "name": "tab\there, \xff\xfe", "pid": 77, "tid": 77, '
            b'"ts": 40, "dur": 20}',
            b'{"ph": "X", "cat": oops "cpu_op"}']
        report = self.report(self.raw(b'{"traceEvents": [' + b",\n".join(events) + b"]}"))
        self.assertAlmostEqual(report["categories"]["transfer"]["s"], 20e-6)
        self.assertEqual(report["transfers"]["h2d"]["bytes"], 200)
        self.assertEqual(function(report, "cuda._lazy")["line"], 219)
        self.assertEqual(function(report, "tab?here, ??")["calls"], 1)
        self.assertIn("1 events that are no valid JSON left out", self.said)

    def test_base_and_names_after_the_events(self):
        event = json.dumps(host("cpu_op", "x", 1000.25, 10.5))
        label = ('{"ph": "M", "name": "%s_name", "pid": 77, "tid": 77, "args": {"name": "%s"}}')
        text = '[%s, %s, %s]' % (label % ("thread", "first"), event, label % ("process", "python"))
        report = self.report(self.raw(('{"traceEvents": %s, "displayTimeUnit": "ms", '
                                       '"baseTimeNanoseconds": 1700000000000000000}'
                                       % text).encode()))
        self.assertEqual(report["command"], "python")
        self.assertEqual(report["thread_list"][0]["name"], "first")
        self.assertAlmostEqual(report["wall_s"], 10.5e-6)
        self.assertEqual(self.report(self.raw(text.encode()))["command"], "python")

    def test_compressed_in_parts(self):
        text = json.dumps({"traceEvents": [host("cpu_op", "x", i, 1) for i in range(10, 999)]})
        half = len(text) // 2
        packed = [gzip.compress(part.encode()) for part in (text[:half], text[half:])]
        report = self.report(self.raw(b"".join(packed), "parts.json.gz"))
        self.assertEqual(function(report, "x")["calls"], 989)
        self.assertNotIn("damaged", self.said)
        wrong = bytearray(b"".join(packed))
        wrong[-6] ^= 1  # of the checksum
        self.report(self.raw(wrong, "wrong.json.gz"))
        self.assertIn("the compressed file is damaged", self.said)
        wrong[-600] ^= 255
        report = self.report(self.raw(wrong, "wrong.json.gz"))
        self.assertIn("the compressed file is damaged after byte", self.said)
        self.assertTrue(100 < function(report, "x")["calls"] < 989)

    def test_what_comes_after_damage(self):
        event = json.dumps(host("cpu_op", "x", 5, 10)).encode()
        report = self.report(self.raw(b'{"traceEvents": [' + event + b'\n]] , "a": 1}'))
        self.assertEqual(function(report, "x")["calls"], 1)
        self.assertIn("no valid JSON after byte", self.said)
        self.assertIn("line 2", self.said)

    def test_damage(self):
        """Cut, overwritten and turned inside out at many places: a profile or one sentence."""
        events = [host("cuda_runtime", "cudaMemcpy", 10 * i, 5, correlation=i) for i in range(1, 40)]
        events += [copy(10 * i, 4, i) for i in range(1, 40)]
        plain = json.dumps({"deviceProperties": [{"id": 0, "name": "x"}], "traceEvents": events,
                            "baseTimeNanoseconds": 17}).encode()
        seen = set()
        for seed in range(60):
            chance = random.Random(seed)
            data = bytearray(gzip.compress(plain) if seed % 4 == 0 else plain)
            at = chance.randrange(len(data))
            data[at:at + chance.choice((1, 1, 100, len(data)))] = chance.choice(
                (b"", b'"', b"\\", b"[[{", b"}]", b"\0", b"\xff\xfe", b"9" * 40, b"-1e999", b","))
            done = self.battprof("import", self.raw(data, "damaged"))
            self.assertIn(done.returncode, (0, 1), (seed, done))
            self.assertLessEqual(len(done.stderr.splitlines()), 1, (seed, done))
            seen.add((done.returncode, bool(done.stderr)))
        self.assertLessEqual({(1, True), (0, True)}, seen)

    def test_size(self):
        """Memory goes by what is kept of an event, not by its text."""
        with open(CMD, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("a sanitizer needs all addresses there are")
        event = json.dumps(host("cpu_op", "x", 5, 10, shapes=[[1]] * 1000)).encode()
        path = self.raw(b"[" + b",\n".join([event] * 10000) + b"]")  # 50 MB
        done = subprocess.run(["sh", "-c", 'ulimit -v 250000; exec "$0" import "$1"', CMD, path],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done)


if __name__ == "__main__":
    unittest.main()
