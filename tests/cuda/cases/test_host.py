# SPDX-License-Identifier: MIT
"""Copies without device records, because they were not asked for or cannot be had: directions, bytes
and contents are those of the device's own log, whichever way a copy is told."""
import re
import subprocess

from harness.device import QUICK, fine, on_device, says, timed, whole
from harness import CMD, case, check, check_time, equal, main

WAYS = ({"BATTPROF_CUDA": "wrappers"}, {"BATTPROF_SIM_FAULT": "no-privileges"})


def in_each_way(argv, **env):
    for way in WAYS:
        run = on_device(argv, env={"BATTPROF_SIM_DEVICES": "2", **way, **env})
        report = run.report()
        whole(report)
        yield run, report


def same_copies(run, report):
    for direction, (count, size, _) in run.truth.copies.items():
        got = report["transfers"][direction]
        equal("%s copies" % direction, got["count"], count)
        equal("%s bytes" % direction, got["bytes"], size)
        equal("%s time on the device, which nobody knows" % direction, got["device_s"], 0)


@case
def every_way_to_tell_a_copy():
    for run, report in in_each_way(["cuda_device", "shapes"]):
        fine(run)
        same_copies(run, report)
        equal("kinds", {d: run.truth.copies[d][0] for d in ("h2d", "d2h", "p2p")},
              {"h2d": 5, "d2h": 4, "p2p": 1})
        equal("within the device", (report["transfers"]["d2d"]["count"],
                                    report["transfers"]["d2d"]["bytes"]), (1, 50000))
        check(all(row["host_only"] for row in report["transfer_list"]), "not marked")


@case
def every_way_of_the_driver():
    for run, report in in_each_way(["cuda_driver", "shapes"]):
        equal("output", run.stdout, b"errors 0\n")
        same_copies(run, report)
        equal("copies", run.truth.copies["h2d"][0], 5 + 2)


@case
def nothing_is_recorded():
    """The page says that CUDA was left out, and that the device was simulated."""
    run = on_device(["cuda_small", "4", "1"], env={"BATTPROF_CUDA": "off"})
    fine(run)
    says(run.report(), r"CUDA is not recorded \(--cuda=off\)")
    page = subprocess.run([CMD, "report", run.profile], stdout=subprocess.PIPE, timeout=60).stdout
    check(b"simulated device T4" in page, "%r" % page[:300])


@case
def the_calls_own_time():
    """A blocking copy's call is transfer, kernels that it waited for and all; that is said."""
    for run, report in in_each_way(["cuda_device", "kernels"]):
        fine(run)
        says(report, "including kernels it waited for")
        got = report["categories"]["transfer"]["thread_s"]
        least = run.truth.transfer + run.truth.wait
        check(least * 0.9 < got, "transfer %.6f s, truth with the kernels %.6f" % (got, least))
        calls = {f["name"]: f["calls"] for f in report["functions"]}
        equal("calls", calls.get("cudaMemcpy"), 12)
        equal("launches", calls.get("cudaLaunchKernel"), 24)


@case
def contents():
    for run, report in in_each_way(["cuda_device", "content"], BATTPROF_CUDA_HASH="1"):
        fine(run)
        rows = report["transfer_list"]
        equal("duplicates", sum(r["duplicates"] for r in rows), 8)
        equal("bytes", sum(r["duplicate_bytes"] for r in rows), 8 << 20)
        equal("round trips", sum(r["round_trips"] for r in rows), 2)


@timed
def hashing_is_own_cost():
    """Of uploads before the call, of downloads after it: neither is the program's."""
    def figures(**env):
        run = on_device(["cuda_device", "async"], env=dict(env, BATTPROF_CUDA="wrappers"))
        fine(run)
        report = run.report()
        return report["framework"]["running_s"], report["overhead_s"]
    code, own = figures()
    hashed_code, hashed_own = figures(BATTPROF_CUDA_HASH="1")
    print("   own cost %.3f s more, the program's code %.3f s" % (hashed_own - own, hashed_code - code))
    check_time(hashed_own > own, "hashing cost nothing")
    check_time(hashed_code - code < 0.3 * (hashed_own - own), "hashing is charged to the program")


@case
def contents_of_rows():
    """With device records, too."""
    env = {"BATTPROF_CUDA_HASH": "1"}
    runs = list(in_each_way(["cuda_device", "content-2d"], **env))
    run = on_device(["cuda_device", "content-2d"], env=env)
    for run, report in runs + [(run, run.report())]:
        fine(run)
        rows = report["transfer_list"]
        equal("duplicates", sum(r["duplicates"] for r in rows), 3)
        equal("bytes", sum(r["duplicate_bytes"] for r in rows), 3 * 5000 * 500)
        equal("round trips", sum(r["round_trips"] for r in rows), 1)


@case
def known_again():
    """Copies from paths that look alike to one who looks at the innermost
    frame alone: all are counted, and each where it comes from."""
    env = {"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK}
    run = on_device(["cuda_copies"], env=env)
    fine(run)
    report = run.report()
    got = {d: (t["count"], t["bytes"]) for d, t in report["transfers"].items()}
    tens = 334 * 10 + 333 * 11 + 333 * 12
    equal("h2d", got["h2d"], (2 * (3500 + 1700 + 3),
                               2 * (3500 * 1000 + 1700 * 40 + 500 * 7 + 15 * (1 << 30))))
    equal("d2h", got["d2h"], (2 * 1500, 2 * (tens + 500 * 7)))
    equal("d2d", got["d2d"], (2 * 1000, 2 * 5000))
    sizes = {}
    for row in report["transfer_list"]:
        for least, count in row["sizes"]:
            sizes[least] = sizes.get(least, 0) + count
    equal("sizes", sizes, {4: 4000, 8: 2000, 32: 3400, 256: 2000, 512: 2000, 1024: 2000, 1 << 32: 6})
    sites = {}
    for site in report["copy_sites"]:
        name = ">".join(step["function"] for step in site["stack"][:2][::-1])
        sites.setdefault((name, site["bytes"] // site["count"]), []).append(site["count"])
    for name, bytes in (("by_two_lines>upload", 1000), ("by_two_lines>upload", 2000),
                        ("by_another>upload", 500)):
        equal("%s of %d bytes" % (name, bytes), sites.get((name, bytes)), [1000, 1000])
    equal("lines that copy alike", sorted(sites.get(("by_three_lines>upload", 40), [])),
          [200, 200, 500, 500, 1000, 1000])
    equal("copies by all paths", sum(map(sum, sites.values())), 2 * (6003 + 1700))
    for direction, transfer in report["transfers"].items():
        places = [s for s in report["copy_sites"] if s["direction"] == direction]
        equal("%s by paths" % direction, (sum(s["count"] for s in places),
                                          sum(s["bytes"] for s in places)), got[direction])


@case
def shapes_known_again():
    """Copies whose size is another argument, or two."""
    env = {"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK}
    run = on_device(["cuda_shapes"], env=env)
    fine(run)
    report = run.report()
    found = {}
    for site in report["copy_sites"]:
        key = site["call"], site["direction"]
        count, size = found.get(key, (0, 0))
        found[key] = count + site["count"], size + site["bytes"]
    rows = [100 * (10 + i % 10) for i in range(3000)]
    equal("copies", found, {
        ("cudaMemcpy2D", "h2d"): (5000, sum(rows) - sum(rows[::3]) + 3000 * 1000 * (1 << 20)),
        ("cudaMemcpy2D", "d2h"): (1000, sum(rows[::3])),
        ("cudaMemcpy2DAsync", "h2d"): (3000, 3000 * 16),
        ("cudaMemcpyToSymbol", "h2d"): (3000, 3000 * 21),
        ("cudaMemcpyFromSymbolAsync", "d2h"): (3000, 3000 * 22),
        ("cudaMemcpyPeerAsync", "p2p"): (3000, 3000 * 23),
        ("cudaMemcpyToArray", "h2d"): (3000, 3000 * 24),
        ("cudaMemcpy2DFromArrayAsync", "d2h"): (3000, 3000 * 25),
    })
    equal("places", len(report["copy_sites"]), 9)
    for direction, transfer in report["transfers"].items():
        equal(direction, (transfer["count"], transfer["bytes"]),
              tuple(map(sum, zip(*(sums for (_, d), sums in found.items() if d == direction)))
                    ) or (0, 0))


@case
def unwound_at_every_instruction():
    """A sample, an exception of a handler or a debugger may come at any of the stubs'."""
    run = on_device(["cuda_steps"], env={"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK})
    equal("status", run.status, 0)
    found = re.fullmatch(rb"(\d+) instructions, 0 wrong", run.stdout.strip())
    check(found and int(found.group(1)) > 5000, "stdout: %r" % run.stdout)


@case
def forked_at_every_instruction():
    """By a signal handler, as far as the stubs are concerned: the child goes on in the middle of a
    copy that is the parent's. One of 397 has to do: most of them are in C."""
    run = on_device(["cuda_steps", "fork"], timeout=60,
                    env={"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK})
    equal("status", run.status, 0)
    found = re.fullmatch(rb"(\d+) instructions, 0 wrong", run.stdout.strip())
    check(found and int(found.group(1)) > 20, "stdout: %r" % run.stdout)


@case
def hard_to_know_again():
    """Signal handlers copy between any two instructions, from thousands of places, while objects
    are unloaded: every copy is counted once, in one size, those of the program by their path. The
    path of a handler's is not found while it interrupts the finding of another."""
    env = {"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK}
    run = on_device(["cuda_likeness"], env=env)
    equal("status", run.status, 0)
    up, up_bytes, down, down_bytes = map(int, run.stdout.split())
    check(down > 100, "the handler ran %d times" % (down / 4))
    report = run.report()
    equal("h2d", [report["transfers"]["h2d"][k] for k in ("count", "bytes")], [up, up_bytes])
    equal("d2h", [report["transfers"]["d2h"][k] for k in ("count", "bytes")], [down, down_bytes])
    for row in report["transfer_list"]:
        equal("sizes of %s" % row["direction"], sum(n for _, n in row["sizes"]), row["count"])
    sites = [s for s in report["copy_sites"] if s["stack"][0]["function"] != "handle"]
    equal("by paths", sum(s["count"] for s in sites), up)
    equal("bytes by paths", sum(s["bytes"] for s in sites), up_bytes)


@case
def left_by_a_jump():
    """By a signal handler, at any instruction of ours: those after it are counted as if there had
    been none, by their path, too."""
    run = on_device(["cuda_jumps"], env={"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK})
    equal("status", run.status, 0)
    returned, perhaps = map(int, run.stdout.split())
    report = run.report()
    got = report["transfers"]["h2d"]["count"]
    check(returned <= got <= returned + perhaps, "%d copies, %d to %d were made"
          % (got, returned, returned + perhaps))
    after = [s["count"] for s in report["copy_sites"]
             if "after" in [step["function"] for step in s["stack"]]]
    equal("copies after it, by path", after, [1000, 1000])


@case
def on_other_stacks():
    """Coroutines on one piece of their thread's stack are told apart, and words of a stack that is
    gone are not looked at."""
    run = on_device(["cuda_stacks"], env={"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK})
    fine(run)
    sites = {}
    for site in run.report()["copy_sites"]:
        callers = [step["function"] for step in site["stack"]][1:]
        name = next((n for n in ("once", "twice", "back_home", "from_elsewhere", "on_thread")
                     if n in callers), None)
        sites[name] = sites.get(name, 0) + site["count"]
    home = sites.pop("from_elsewhere", 0) + sites.pop("on_thread", 0)
    equal("copies by coroutines, from another stack and before", sites,
          {"once": 500, "twice": 1000, "back_home": 500, None: 1})
    equal("copies from the own stack", home, 500)


@case
def forked():
    run = on_device(["cuda_device", "fork"], env={"BATTPROF_CUDA": "wrappers"})
    fine(run)
    report = run.report()
    equal("copies", report["transfers"]["h2d"]["count"], 24)
    says(report, "forked from a process that had started CUDA")


main()
