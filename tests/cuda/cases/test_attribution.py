# SPDX-License-Identifier: MIT
"""Copies and kernels of known length, in every combination: what the report charges to whom is what
the simulated device's own log says."""
from harness.device import fine, on_device, same_sums, says, timed, whole
from harness import check, check_time, close_to, equal, main, need_quiet, sums_to

PARTS = ("in_call_moving_s", "in_call_wait_s", "in_call_own_s")


def in_calls(report):
    """What the rows have of a copying call is what its stub measured; the parts sum to it."""
    calls = {}
    for row in report["transfer_list"]:
        if row["in_call_s"] is None:
            check("Graph" in row["call"] or row["source"] == "managed" or not row["call"],
                  "no time in its call: %r" % row)
            continue
        sums_to("the parts", sum(row[key] for key in PARTS), row["in_call_s"], 1e-6, 1e-9)
        calls.setdefault(row["call"], []).append(row["in_call_s"])
    for function in report["functions"]:
        if function["name"] in calls:
            close_to("in %s" % function["name"], sum(calls[function["name"]]), function["self_s"],
                     0.01, 1e-4)


def compare(mode, env=None, subject="cuda_device", **options):
    run = on_device([subject, mode], env=env)
    fine(run)
    report = run.report()
    same_sums(run, report, **options)
    whole(report)
    for direction, (count, size, seconds) in run.truth.copies.items():
        got = report["transfers"][direction]
        equal("%s copies" % direction, got["count"], count)
        equal("%s bytes" % direction, got["bytes"], size)
        close_to("%s on the device" % direction, got["device_s"], seconds, 0.001, 1e-5)
    equal("kernels", sum(k["count"] for k in report["kernels"]), run.truth.kernels)
    equal("records without a call", report["cuda"]["unmatched"], 0)
    in_calls(report)
    return run, report


@timed
def pageable():
    _, report = compare("pageable")
    equal("memory", {t["source"] for t in report["transfer_list"]} - {"device"}, {"pageable"})


@timed
def pinned():
    _, report = compare("pinned")
    equal("memory", {t["source"] for t in report["transfer_list"]} - {"device"}, {"pinned"})


@timed
def asynchronous():
    compare("async")


@timed
def kernels_are_charged_to_their_launcher():
    _, report = compare("kernels")
    rows = {k["name"]: k for k in report["kernels"]}
    equal("launcher", rows["wait_3"]["launched_by"], "dsl_launch")
    equal("category", rows["wait_3"]["category"], "dsl")
    equal("category", rows["wait_2"]["category"], "framework")
    check(report["categories"]["dsl"]["thread_s"] >= rows["wait_3"]["wait_s"] * 0.98,
          "the wait for the DSL's kernel is not the DSL's: %r" % report["categories"]["dsl"])


@timed
def stalled_calls():
    """Kernels of 60 ms, which the asynchronous downloads of pageable memory wait for."""
    _, report = compare("stalled")
    row = report["transfers"]["d2h"]
    close_to("waited in the calls", row["in_call_wait_s"], 0.060, 0.1)
    check(row["exposed_s"] < row["in_call_wait_s"] / 10, "the wait counts as transfer: %r" % row)
    advice = [row["what"] for row in report["advice"] if row["level"] != "warning"]
    check("12 downloads to pageable memory held the CPU for" in advice[0], "advice: %r" % advice)


@timed
def hidden():
    _, report = compare("hidden")
    check_time(report["transfers"]["h2d"]["hidden_s"] > 0.005, "nothing was hidden")


@timed
def two_streams():
    compare("overlapped")


@timed
def two_threads():
    compare("threads")


@timed
def two_devices():
    _, report = compare("threads", {"BATTPROF_SIM_DEVICES": "2"})
    equal("devices", len(report["devices"]), 2)
    check(all(d["simulated"] for d in report["devices"]), "not said to be simulated")


@timed
def peers_through_the_host():
    run, report = compare("peers", {"BATTPROF_SIM_DEVICES": "2"})
    check(run.truth.copies["p2p"][0] > 0, "no copies between devices")
    got = report["transfers"]["p2p"]
    equal("p2p copies, bytes", (got["count"], got["bytes"]), (12, 12 * (24 << 20)))
    equal("h2d copies", report["transfers"]["h2d"]["count"], 1)


@timed
def peers_directly():
    run, report = compare("peer-access", {"BATTPROF_SIM_DEVICES": "2"})
    equal("p2p copies", report["transfers"]["p2p"]["count"], 12)


@timed
def graphs():
    compare("graph")


@timed
def graphs_over_several_streams():
    """An upload and two kernels beside each other, then a kernel and a download."""
    for mode, kernels, subject in (("fork", 4, "cuda_graphs"), ("manual", 3, "cuda_graphs"),
                                   ("fork", 4, "cuda_graphs_11"), ("fork", 4, "cuda_graphs_13")):
        run, report = compare(mode, subject=subject)
        equal("kernels", run.truth.kernels, 12 * kernels)
        equal("copies", report["transfers"]["h2d"]["count"], 12)
        equal("launched by", {k["launched_by"] for k in report["kernels"]}, {"(own code)"})
        equal("copied by", {t["call"] for t in report["transfer_list"]}, {"cudaGraphLaunch"})
        spent = run.truth.wait + run.truth.transfer
        check_time(spent < 12 * 0.0105, "one after the other: %.6f s" % spent)


@timed
def graphs_within_graphs():
    """Beside the upload and the kernels of the child runs a kernel of the parent."""
    for subject in ("cuda_graphs", "cuda_graphs_11", "cuda_graphs_13"):
        run, report = compare("child", subject=subject)
        equal("kernels", run.truth.kernels, 36)
        equal("copies", report["transfers"]["h2d"]["count"], 12)
        check_time(run.truth.wait + run.truth.transfer < 12 * 0.0065, "one after the other")


@timed
def graphs_that_are_updated():
    run, report = compare("update", subject="cuda_graphs")
    equal("kernels", run.truth.kernels, 12 * 4)
    equal("copies", report["transfers"]["d2h"]["count"], 12)
    equal("updates", run.truth.named["cudaGraphExecUpdate"], 11)


@timed
def events_between_graphs_and_streams():
    run, report = compare("events", subject="cuda_graphs")
    check_time(run.truth.wait > 12 * 0.0029, "nothing waited for the graph")
    equal("copies", report["transfers"]["d2h"]["count"], 12)


@timed
def graphs_of_many_kernels():
    """More records than the window has room for, in a second with few calls."""
    run, report = compare("many", subject="cuda_graphs")
    equal("kernels", run.truth.kernels, 180 * 1000 - 60)
    equal("late", report["cuda"]["late"], 0)


@timed
def long_kernels_while_another_thread_captures():
    run, report = compare("meanwhile", subject="cuda_graphs")
    equal("kernels", run.truth.kernels, 4)
    equal("late", report["cuda"]["late"], 0)


@timed
def long_kernels_after_another_thread_ended_the_capture():
    run, report = compare("ended-elsewhere", subject="cuda_graphs")
    equal("kernels", run.truth.kernels, 4)
    equal("late", report["cuda"]["late"], 0)


@timed
def a_long_kernel_within_a_graph():
    """Its record comes long after the ones of the graph's other nodes."""
    _, report = compare("long", subject="cuda_graphs")
    equal("late", report["cuda"]["late"], 0)


@timed
def kernels_beside_each_other():
    run, report = compare("concurrent")
    equal("kernels", run.truth.kernels, 24)
    check_time(run.truth.wait < 12 * 0.0055, "they ran one after the other: %r" % run.truth.wait)
    devices = [k["device_s"] for k in report["kernels"]]
    check_time(abs(sum(devices) - 12 * 0.007) < 1e-4, "their times: %r" % devices)


@timed
def a_full_queue():
    run, report = compare("queue")
    got, truth = report["cuda"]["queue_full_s"], run.truth.queue_full
    need_quiet(truth > 0.02, "the queue was not full: %.6f s" % truth)
    close_to("waited", got, truth, 0.001, 1e-5)
    check(report["cuda"]["cupti_s"] > 0, "CUPTI took no time")
    says(report, "because the device's queue was full")


def managed_memory(devices, **fault):
    """Three moves a round, 24, 12 and 24 MB, and back; in pieces of 2 MB."""
    run, report = compare("managed", {"BATTPROF_SIM_DEVICES": str(devices), **fault})
    equal("bytes up", report["transfers"]["h2d"]["bytes"], 12 * 36 << 20)
    equal("bytes down", report["transfers"]["d2h"]["bytes"], 12 * 36 << 20)
    # What is touched: the page, then its neighbours, six times for each block of 2 MB.
    equal("pieces", report["transfers"]["h2d"]["count"], 12 * (12 + 6 * 6 * 2))
    rows = report["transfer_list"]
    equal("memory", {(r["source"], r["target"]) for r in rows}, {("managed", "managed")})
    equal("devices", {r["device"] for r in rows}, {devices - 1})
    asked = [r for r in rows if (r["call"] or "").startswith("cudaMemPrefetchAsync")]
    equal("asked for", sum(r["bytes"] for r in asked), 12 * (24 + 36) << 20)
    equal("by a kernel's use", sum(r["bytes"] for r in rows) - sum(r["bytes"] for r in asked),
          12 * 12 << 20)
    return report


@timed
def managed():
    managed_memory(1)


@timed
def managed_on_the_second_device():
    managed_memory(2)


@timed
def managed_one_device_at_a_time():
    managed_memory(2, BATTPROF_SIM_FAULT="single-device")


@timed
def pages_that_the_host_touches():
    """The host waits for them, in no CUDA call: they are not hidden, and nobody's transfer."""
    run, report = compare("touched")
    down = report["transfers"]["d2h"]
    equal("bytes down", down["bytes"], 12 * 12 << 20)
    equal("hidden", down["hidden_s"], 0)
    check(run.truth.faulted > 0, "nothing was touched")
    check_time(run.truth.faulted < run.truth.held_up, "held up for %.6f s, copies of %.6f"
               % (run.truth.held_up, run.truth.faulted))
    equal("whose", {r["function"] for r in report["transfer_list"] if r["direction"] == "d2h"},
          {""})


@timed
def many_small():
    _, report = compare("small")
    equal("small copies", report["transfers"]["h2d"]["small_count"], 20000)


@timed
def many_small_blocking():
    _, report = compare("small-blocking")
    equal("small copies", report["transfers"]["h2d"]["small_count"], 8000)


@timed
def the_driver_beneath_the_runtime():
    """CUPTI tells of the runtime's call and of the driver's within it, under one id or two: a copy is
    still one copy, and its time is in one place."""
    for ids in ("shared", "own"):
        for mode in ("pinned", "kernels", "graph"):
            run, report = compare(mode, {"BATTPROF_SIM_CORRELATION": ids})
            work = run.truth.kernels + sum(count for count, _, _ in run.truth.copies.values())
            check(report["cuda"]["records"] > 4 * work, "no records of the driver's calls: %d for %d"
                  % (report["cuda"]["records"], work))
            calls = {f["name"]: f["calls"] for f in report["functions"] if f["name"][:2] == "cu"
                     and (f["library"] or "").startswith("libcu")}
            equal("calls", calls, {name: count for name, count in run.truth.named.items()
                                   if name.startswith("cuda")})


@timed
def first_calls_together():
    """Whoever is not the one to start CUPTI waits until it runs."""
    for _ in range(3):
        compare("8", subject="cuda_together")


@timed
def generation_11():
    compare("kernels", subject="cuda_device_11")


@timed
def generation_13():
    compare("kernels", subject="cuda_device_13")


@timed
def without_kernel_records():
    run = on_device(["cuda_device", "kernels"], env={"BATTPROF_CUDA": "transfers"})
    fine(run)
    report = run.report()
    equal("kernels", report["kernels"], [])
    same_sums(run, report, which=("transfer",))
    wait = report["categories"]["dsl"]["thread_s"] + report["framework"]["kernel_wait_s"]
    check_time(wait >= run.truth.wait * 0.98, "waited %.6f, truth %.6f" % (wait, run.truth.wait))


main()
