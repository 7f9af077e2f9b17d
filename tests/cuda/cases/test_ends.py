# SPDX-License-Identifier: MIT
"""However a process ends, its result is right, nothing hangs, and what is missing is said."""
import os
import re
import signal

from harness.device import fine, on_device, says, whole
from harness import PYTHON, Skip, case, check, check_time, close_to, equal, main, timed


def device(mode, status=0, **options):
    run = on_device(["cuda_device", mode], **options)
    fine(run, status)
    return run, run.report()


@case
def fork_after_start():
    run, report = device("fork")
    equal("copies", report["transfers"]["h2d"]["count"], 24)
    says(report, "forked from a process that had started CUDA")
    equal("profiles", len(run.files()), 2)


@case
def exit_with_work_in_flight():
    run, report = device("in-flight", 3)
    equal("copies", report["transfers"]["h2d"]["count"], 12)
    says(report, r"1[0-9] pieces of device work had not ended")
    whole(report)


@case
def exit_while_others_call():
    """Calls that go on during the last flush are not missing from it."""
    run, report = device("others", 6)
    check(report["transfers"]["h2d"]["count"] > 100, "no copies")
    equal("what is said of CUPTI", [n for n in report["notes"] if "records" in n], [])
    whole(report)


@case
def _exit():
    run, report = device("_exit", 4)
    equal("copies", report["transfers"]["h2d"]["count"], 12)
    check("untimed" not in report["transfers"]["h2d"], "copies without device time")


@case
def quick_exit():
    run, report = device("quick_exit", 4)
    equal("copies", report["transfers"]["h2d"]["count"], 12)
    check("untimed" not in report["transfers"]["h2d"], "copies without device time")


@timed
def killed():
    run = on_device(["cuda_device", "killed"])
    equal("status", run.status, -9)
    report = run.report()
    says(report, "copies have no device time: .* after the last device records")
    truth = run.truth.copies["h2d"]
    got = report["transfers"]["h2d"]
    equal("copies, bytes", [got["count"], got["bytes"]], truth[:2])
    check_time(got["untimed"] < 0.5 * truth[0], "%d of %d copies" % (got["untimed"], truth[0]))


@case
def ended_by_a_signal_at_once():
    """Copies are known by their calls, whether CUPTI has told of them or not."""
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
        run = on_device(["cuda_device", "raise", str(int(number))])
        equal("status", run.status, -number)
        report = run.report()
        for direction, count in (("h2d", 10), ("d2h", 5), ("d2d", 3)):
            got = report["transfers"][direction]
            equal(direction, (got["count"], got["bytes"]), (count, count << 20))
        says(report, "of 18 copies have no device time")
        whole(report)


@case
def a_pool_that_is_terminated():
    """As every `with Pool()` does: SIGTERM to the workers."""
    code = """
import ctypes, multiprocessing
def work(n):
    rt, p, size = ctypes.CDLL('libcudart.so.12'), ctypes.c_void_p(), ctypes.c_size_t(1 << 16)
    host = ctypes.create_string_buffer(1 << 16)
    rt.cudaMalloc(ctypes.byref(p), size)
    return sum(rt.cudaMemcpy(p, host, size, 1) == 0 for i in range(100))
with multiprocessing.get_context('fork').Pool(2) as pool:
    print(sum(pool.map(work, range(10), chunksize=1)))
"""
    for mode in ("full", "transfers"):
        run = on_device([PYTHON, "-c", code], env={"BATTPROF_CUDA": mode, "BATTPROF_SIM_TRUTH": ""})
        equal("status and copies by its own count", (run.status, run.stdout), (0, b"1000\n"))
        got = run.report()["transfers"]["h2d"]
        equal("copies, bytes", (got["count"], got["bytes"]), (1000, 1000 << 16))


def attributed_before_kill(subject, mode, **env):
    run = on_device([subject, mode], env=env)
    equal("status", run.status, -9)
    truth, report = run.truth.transfer, run.report()
    got = report["transfers"]["h2d"]["exposed_s"]
    print("   %s: %.2f of %.2f s attributed" % (mode, got, truth))
    check_time(0.2 * truth <= got <= 1.02 * truth, "%.2f of %.2f s of copies" % (got, truth))
    equal("late", report["cuda"]["late"], 0)


@timed
def killed_after_a_capture():
    """What was only recorded into a graph has no device records, and nothing waits for them: also not
    if another thread submitted it, as PyTorch's backward pass does, or if it is a graph itself."""
    for mode in ("captured", "captured-elsewhere", "captured-graph"):
        attributed_before_kill("cuda_graphs", mode)


@timed
def killed_after_calls_without_records():
    attributed_before_kill("cuda_device", "killed-nothing")


@timed
def killed_without_kernel_records():
    attributed_before_kill("cuda_device", "killed-kernels", BATTPROF_CUDA="transfers")
    attributed_before_kill("cuda_graphs", "captured", BATTPROF_CUDA="transfers")


@case
def more_launches_than_slots():
    """Without kernel records nobody waits for them, and nobody suspects another tool."""
    run, report = device("launches", env={"BATTPROF_CUDA": "transfers", "BATTPROF_SIM_TRUTH": ""})
    equal("reasons", [n for n in report["notes"] if "kernel records" not in n and "CPU" not in n],
          [])
    equal("copies", report["transfers"]["h2d"]["count"], 70)


@case
def a_million_calls():
    env = {"BATTPROF_SIM_TRUTH": ""}
    bare = on_device(["cuda_device", "million"], profiled=False, timeout=60, env=env)
    run = on_device(["cuda_device", "million"], timeout=60, env=env)
    fine(run)
    words = run.stderr.split()
    grown, ours = int(words[1]), int(words[4]) - int(bare.stderr.split()[4])
    print("   %.1f MB of memory, %d kB more in the second half million" % (ours / 1024, grown))
    check(grown < 4096, "grown by %d kB in the second half" % grown)
    check(ours < 40 << 10, "%d kB in all" % ours)
    report = run.report()
    equal("copies", report["transfers"]["h2d"]["count"], 15625)
    equal("lost", report["cuda"]["lost_calls"], 0)
    size = sum(os.path.getsize(os.path.join(run.profile, f)) for f in run.files())
    check(size < 4 << 20, "a profile of %d bytes" % size)


@case
def threads_come_and_go():
    run, report = device("churn", timeout=60)
    equal("copies", report["transfers"]["h2d"]["count"], 20 * 8 * 100)
    for what in ("unmatched", "late", "lost_calls"):
        equal(what, report["cuda"][what], 0)
    rows = [t for t in report["transfer_list"] if t["function"] == "dsl_upload"]
    equal("uploads by the DSL", sum(r["count"] for r in rows), 20 * 8 * 50)


@case
def contents():
    run, report = device("content", env={"BATTPROF_CUDA_HASH": "1"})
    rows = report["transfer_list"]
    equal("duplicates", sum(r["duplicates"] for r in rows), 8)
    equal("bytes", sum(r["duplicate_bytes"] for r in rows), 8 << 20)
    equal("round trips", sum(r["round_trips"] for r in rows), 2)


@case
def contents_of_many_copies_at_once():
    for mode in ("full", "wrappers"):
        _, report = device("content-many", env={"BATTPROF_CUDA_HASH": "1", "BATTPROF_CUDA": mode})
        equal("round trips", sum(r["round_trips"] for r in report["transfer_list"]), 200)


@case
def contents_that_cannot_be_read():
    """None that were seen twice is not the same as not having looked."""
    for mode in ("full", "wrappers"):
        run, report = device("content-unread", env={"BATTPROF_CUDA_HASH": "1",
                                                    "BATTPROF_CUDA": mode})
        if b"no sandbox" in run.stderr:
            raise Skip("no seccomp filter can be had")
        equal("duplicates", sum(r["duplicates"] for r in report["transfer_list"]), 0)
        says(report, "what was copied could not be read")


@case
def driver_by_address():
    run = on_device(["cuda_driver"])
    equal("status", run.status, 0)
    equal("output", run.stdout, b"errors 0\n")
    report = run.report()
    names = {f["name"]: f["calls"] for f in report["functions"]
             if (f["library"] or "").startswith("libcuda.so")}
    for name, calls in (("cuInit", 1), ("cuMemAlloc", 1), ("cuMemcpyHtoD", 5),
                        ("cuMemcpyDtoH", 5), ("cuCtxSynchronize", 5)):
        equal(name, names.get(name), calls)
    equal("copies", report["transfers"]["d2h"]["count"], 5)


@timed
def whatever_is_called_first():
    """It may create the context, which is no time of the program's own code."""
    usual = context = None
    for name, value in (("cudaFree", 1), ("cudaSetDevice", 1), ("cudaDeviceSynchronize", 0),
                        ("cudaSetDeviceFlags", 1), ("cudaDeviceGetLimit", 0), ("cudaMemGetInfo", 0),
                        ("cudaGetDeviceProperties_v2", 0), ("cudaDeviceSetCacheConfig", 1),
                        ("cudaEventCreate", 0), ("cudaStreamCreate", 0), ("cudaDeviceReset", 0),
                        ("cudaDeviceGetDefaultMemPool", 0), ("cudaInitDevice", 1)):
        run = on_device(["cuda_first", name] + ["value"] * value)
        fine(run)
        report = run.report()
        plain = name.replace("_v2", "")
        equal(plain, [f["calls"] for f in report["functions"] if f["name"] == plain], [1])
        code, calls = (report["framework"][key] for key in ("running_s", "cuda_api_s"))
        usual, context = usual or code, context or calls
        check_time(code < usual + context / 2, "%s: %.3f s of own code, %.3f s in calls"
                   % (name, code, calls))


@case
def suffixes_bound_late():
    """A slot that is bound by its first call asks for the name that the program has."""
    for which in ("driver", "runtime"):
        run = on_device(["cuda_lazy", which])
        equal("status", run.status, 0)
        up, down, size = map(int, run.stdout.split())
        transfers = run.report()["transfers"]
        for direction, count in (("h2d", up), ("d2h", down)):
            equal("%s, %s" % (which, direction),
                  (transfers[direction]["count"], transfers[direction]["bytes"]),
                  (count, count * size))


@case
def ids_are_changed():
    """setuid and its like wait for each thread, ours and CUPTI's among them, to answer a signal."""
    code = ("import ctypes, os; rt = ctypes.CDLL('libcudart.so.12'); p = ctypes.c_void_p();"
            "rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(4096)); os.setgid(os.getgid());"
            "os.setuid(os.getuid()); print('ok')")
    for mode in ("full", "transfers", "wrappers", "off"):
        for argv in (["cuda_ids"], [PYTHON, "-c", code]):
            fine(on_device(argv, env={"BATTPROF_CUDA": mode, "BATTPROF_SIM_TRUTH": ""}))


@case
def copies_of_nobody():
    """What no call is known for is there at the end, too, and counted as such."""
    run, report = device("unseen")
    equal("copies", report["transfers"]["h2d"]["count"], 2)
    equal("records without a call", report["cuda"]["unmatched"], 2)


@timed
def five_lines_as_the_report():
    """Of a program that was started with LD_PRELOAD alone."""
    pattern = (rb"DSL ([0-9.]+) s [0-9.]+ %, framework ([0-9.]+) s [0-9.]+ %, "
               rb"transfer (?:about )?([0-9.]+) s")
    for mode, subject in (("full", "kernels"), ("full", "async"), ("wrappers", "pageable")):
        run = on_device(["cuda_device", subject],
                        env={"BATTPROF_QUIET": None, "BATTPROF_CUDA": mode})
        fine(run)
        said = re.search(pattern, re.sub(rb"\s*\nbattprof:\s+", b" ", run.stderr))
        check(said, "no transfer in %r" % run.stderr)
        categories = run.report()["categories"]
        for name, got in zip(("dsl", "framework", "transfer"), map(float, said.groups())):
            close_to("%s, %s: %s" % (mode, subject, name), got, categories[name]["thread_s"], 0,
                     0.03 * run.took + 0.001)
    run = on_device(["cuda_device", "async"],
                    env={"BATTPROF_QUIET": None, "BATTPROF_CUDA": "wrappers"})
    check(b"transfer unknown" in run.stderr, "%r" % run.stderr)


@case
def output_is_the_same():
    for mode in ("kernels", "threads", "graph"):
        bare = on_device(["cuda_device", mode], profiled=False)
        run = on_device(["cuda_device", mode])
        equal("stdout", run.stdout, bare.stdout)
        equal("stderr", run.stderr, bare.stderr)
        equal("status", run.status, bare.status)


main()
