# SPDX-License-Identifier: MIT
"""Each fault of the simulated device: the target finishes with the right result, and the report says
what is missing."""
import os
import time

from harness.device import SIM, fine, on_device, same_sums, says, timed, whole
from harness import PYTHON, case, check, check_time, equal, main, new_dir


def with_fault(fault, mode="kernels", **options):
    run = on_device(["cuda_device", mode], env={"BATTPROF_SIM_FAULT": fault}, **options)
    fine(run)
    report = run.report()
    whole(report)
    return run, report


def waited_for_us(report, least):
    """The wait for the last records, when the program has ended, is own cost and nobody else's."""
    check(report["overhead_s"] > least, "own cost %.3f s" % report["overhead_s"])
    blocked = [note for note in report["notes"] if "cannot see" in note]
    check_time(not blocked, "time that is nobody's: %r" % blocked)  # a host may steal it


@case
def no_driver():
    run = on_device(["cuda_device", "kernels"], env={"BATTPROF_SIM_FAULT": "no-driver"})
    equal("status", run.status, 5)
    equal("stdout", run.stdout, b"no device\n")
    equal("stderr", run.stderr, b"")
    says(run.report(), "no CUDA driver")


@case
def no_privileges():
    run, report = with_fault("no-privileges")
    says(report, "insufficient privileges")
    equal("copies by their calls", report["transfers"]["d2h"]["count"], 12)
    check(report["transfer_list"][0]["host_only"], "not said to be timed by the calls")
    check(report["categories"]["transfer"]["thread_s"] > 0.05, "the calls' time is not there")


@case
def dropped_buffers():
    run, report = with_fault("drop-buffers")
    says(report, "dropped by CUPTI")
    equal("copies by their calls", report["transfers"]["d2h"]["count"], 12)


@timed
def records_without_times():
    """What they tell of is over: nothing waits for them, and the copies are known by their calls."""
    env = {"BATTPROF_SIM_FAULT": "no-times"}
    for mode in ("kernels", "async"):
        run, report = with_fault("no-times", mode)
        says(report, "or had no times")
        for direction in ("h2d", "d2h"):
            equal(direction, report["transfers"][direction]["count"], run.truth.copies[direction][0])
    run = on_device(["cuda_device", "killed-kernels"], env=env)
    got, truth = run.report()["transfers"]["h2d"]["exposed_s"], run.truth.transfer
    check_time(0.2 * truth <= got <= truth, "%.3f of %.3f s were attributed before it was killed"
               % (got, truth))


@case
def records_without_times_at_the_end():
    """The last flush brings them all: what had ended is not taken for work that still runs."""
    run, report = with_fault("no-times", "brief")
    says(report, ": 2 device records were dropped by CUPTI or had no times")
    for direction, untimed in (("h2d", 1), ("d2h", 1)):
        got = report["transfers"][direction]
        equal(direction, (got["count"], got.get("untimed")), (10, untimed))
    check(not any("had not ended" in note for note in report["notes"]), report["notes"])


@timed
def stolen_callback():
    run, report = with_fault("stolen-callback")
    says(report, "taken CUPTI's callbacks")
    equal("copies by their calls", report["transfers"]["d2h"]["count"], 12)
    waited_for_us(report, 0.4)


@case
def a_program_with_cupti():
    """It gets the records that it gets without us; ours are those until it asks for its own."""
    for when, count, said in (("before", 100, "no device records: the program records with CUPTI"),
                              ("after", 200, "stopped coming: the program records with CUPTI")):
        bare = on_device(["cuda_tool", when, "libcupti.so.12"], profiled=False)
        equal("records", bare.stdout, b"100 copies, 0 other records, 0 errors\n")
        for mode in ("full", "transfers", "wrappers"):
            run = on_device(["cuda_tool", when, "libcupti.so.12"], env={"BATTPROF_CUDA": mode})
            equal("status, output", (run.status, run.stdout, run.stderr),
                  (bare.status, bare.stdout, bare.stderr))
            report = run.report()
            equal("copies", report["transfers"]["h2d"]["count"], count)
            says(report, said if mode != "wrappers" else "not asked for")
            whole(report)


@case
def no_migrations():
    run, report = with_fault("no-migrations", "managed")
    says(report, "does not report migrations of managed memory")
    equal("copies", report["transfers"]["h2d"]["count"], 0)
    run, report = with_fault("no-migrations", "kernels")
    check(not any("managed memory" in note for note in report["notes"]),
          "a program without managed memory: %r" % report["notes"])


@timed
def late_records():
    run, report = with_fault("late-records")
    same_sums(run, report)
    equal("late", report["cuda"]["late"], 0)
    waited_for_us(report, 0.2)


@timed
def late_calls():
    """What the device did is told long before the ids that say for whom. CUPTI's buffers come in any
    order, and one waits for the call that is open in it."""
    for mode in ("kernels", "async", "threads"):
        run, report = with_fault("late-calls", mode)
        same_sums(run, report)
        for direction, (count, size, _) in run.truth.copies.items():
            got = report["transfers"][direction]
            equal(direction, (got["count"], got["bytes"], got.get("untimed", 0)),
                  (count, size, 0))
        for what in ("late", "unmatched"):
            equal(what, report["cuda"][what], 0)


@timed
def hanging_flush():
    begin = time.monotonic()
    run, report = with_fault("hang-flush")
    took = time.monotonic() - begin
    check_time(took < 10, "took %.1f s" % took)
    says(report, "did not return from a flush")
    waited_for_us(report, 1.5)


@case
def no_usable_libcupti():
    """The runtime is found by the program's own run path, the simulated libcupti is not; a real one
    of a toolkit may be, and has no driver."""
    run = on_device(["cuda_device", "kernels"], env={"LD_LIBRARY_PATH": None, "CUDA_HOME": None})
    fine(run)
    report = run.report()
    says(report, "libcupti was not found|CUPTI refused to record|no CUDA driver")
    equal("copies by their calls", report["transfers"]["d2h"]["count"], 12)
    whole(report)


@case
def libcupti_of_a_wheel():
    """It is looked for beside the packages that something was loaded from."""
    for packages in ("site-packages", "dist-packages"):
        root = os.path.join(new_dir(), packages, "nvidia")
        places = [os.path.join(root, name, "lib") for name in ("cuda_runtime", "cuda_cupti")]
        for place, names in zip(places, (("libcudart.so.12", "libcuda.so.1", "libbattprofsim.so"),
                                         ("libcupti.so.12",))):
            os.makedirs(place)
            for name in names:
                os.symlink(os.path.join(SIM, name), os.path.join(place, name))
        run = on_device(["cuda_device", "kernels"],
                        env={"LD_LIBRARY_PATH": places[0], "CUDA_HOME": None})
        fine(run)
        cuda = run.report()["cuda"]
        equal("libcupti", (cuda["state"], os.path.dirname(cuda["library"])), ("active", places[1]))


@case
def a_driver_in_a_place_of_its_own():
    """The loader does not find it by name; when it starts, it finds us."""
    home = new_dir()
    os.mkdir(os.path.join(home, "lib64"))
    os.symlink(os.path.join(SIM, "libcupti.so.11.8"), os.path.join(home, "lib64/libcupti.so.11.8"))
    run = on_device(["cuda_device_11", "kernels"], env={"LD_LIBRARY_PATH": None, "CUDA_HOME": home})
    fine(run)
    report = run.report()
    equal("copies", report["transfers"]["d2h"]["count"], 12)
    equal("state", report["cuda"]["state"], "active")


@case
def a_driver_that_is_looked_for_again():
    """As libraries do, in several places. That one of them is empty means nothing by then."""
    code = """
import ctypes
rt, p, size = ctypes.CDLL('libcudart.so.12'), ctypes.c_void_p(), ctypes.c_size_t(1 << 16)
host = ctypes.create_string_buffer(1 << 16)
rt.cudaMalloc(ctypes.byref(p), size)
for path in ('libcuda.so.1', '/usr/lib/nowhere/libcuda.so.1'):
    for i in range(50):
        rt.cudaMemcpy(p, host, size, 1)
    try:
        ctypes.CDLL(path)
    except OSError:
        print('ok')
rt.cudaMemcpy(p, host, size, 1)
"""
    run = on_device([PYTHON, "-c", code])
    fine(run)
    report = run.report()
    equal("state", report["cuda"]["state"], "active")
    equal("copies", report["transfers"]["h2d"]["count"], 101)
    equal("notes", [n for n in report["notes"] if "driver" in n], [])


@case
def out_of_memory():
    """The program's own trouble: the same with and without us."""
    env = {"BATTPROF_SIM_FAULT": "out-of-memory"}
    bare = on_device(["cuda_device", "pinned"], profiled=False, env=env)
    run = on_device(["cuda_device", "pinned"], env=env)
    for what in ("status", "stdout", "stderr"):
        equal(what, getattr(run, what), getattr(bare, what))
    check(bare.status == 1, "it did not fail")


@case
def calls_alone():
    run = on_device(["cuda_device", "kernels"], env={"BATTPROF_CUDA": "wrappers"})
    fine(run)
    report = run.report()
    says(report, "not asked for")
    equal("state", report["cuda"]["state"], "host only")
    calls = {f["name"]: f["calls"] for f in report["functions"]}
    equal("calls", calls.get("cudaMemcpy"), 12)


@case
def switched_off():
    run = on_device(["cuda_device", "kernels"], env={"BATTPROF_CUDA": "off"})
    fine(run)
    names = {f["name"] for f in run.report()["functions"]}
    check("cudaMemcpy" not in names, "CUDA calls are there")


main()
