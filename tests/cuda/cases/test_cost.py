# SPDX-License-Identifier: MIT
"""What an intercepted CUDA call costs, as ratios and differences within one machine and minute."""
import os

from harness.device import QUICK, on_device, timed
from harness import PYTHON, check_time, equal, execute, main

SUBJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "subjects", "copy_cost.py")


def costs(profiled, mode=None, argument="calls"):
    """Nanoseconds of a call that submits nothing, a native one, one that submits, and a copy."""
    env = {"BATTPROF_SIM_TRUTH": ""}
    if mode:
        env["BATTPROF_CUDA"] = mode
    run = on_device(["cuda_calls", argument], profiled, env=env, timeout=60)
    equal("status", run.status, 0)
    with open(os.path.join(run.dir, "costs")) as f:
        return list(map(float, f.read().split()))


@timed
def wrappers_cost_as_any_call():
    bare, run = [1e9] * 4, [1e9] * 4
    for _ in range(3):  # a difference of two figures that vary: the best of each
        bare = list(map(min, bare, costs(False)))
        run = list(map(min, run, costs(True, "wrappers")))
    cuda, native = run[0] - bare[0], run[1] - bare[1]
    print("   a CUDA call %.1f ns, a native one %.1f ns" % (cuda, native))
    check_time(cuda <= 1.3 * native + 10, "a CUDA call costs %.1f ns, a native one %.1f ns"
               % (cuda, native))


def added(run_one):
    """What the calls of a subject cost that writes a line "name ns" for each to the file "costs":
    the difference of the best runs, bare and in wrapper mode, on a runtime that takes no time."""
    best = {False: {}, True: {}}
    for _ in range(3):
        for profiled in best:
            run = run_one(profiled, {"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK})
            equal("status", run.status, 0)
            with open(os.path.join(run.dir, "costs")) as f:
                for name, ns in map(str.split, f):
                    best[profiled][name] = min(float(ns), best[profiled].get(name, 1e9))
    return {name: ns - best[False][name] for name, ns in best[True].items()}


@timed
def a_copy_costs_half_a_microsecond():
    """Its bytes, its direction and its call path are counted, wherever it comes from."""
    cost = added(lambda profiled, env: on_device(["cuda_copy_cost"], profiled, env=env, timeout=60))
    native = cost.pop("native")
    print("   a native call %.1f ns; %s" % (native, ", ".join(
        "%s %.0f ns" % item for item in cost.items())))
    for name, ns in cost.items():
        check_time(ns <= 500, "%s costs %.0f ns" % (name, ns))


@timed
def from_python():
    """Python's own frames are read, too."""
    cost = added(lambda profiled, env: execute([PYTHON, SUBJECT], profiled, timeout=60,
                                               env=dict(env, BATTPROF_SAMPLE="off")))
    print("   from Python a call %.0f ns, a copy %.0f ns, ten functions down %.0f ns"
          % (cost["call"], cost["copy"], cost["deep"]))
    for name in ("copy", "deep"):
        check_time(cost[name] <= 1000, "%s costs %.0f ns" % (name, cost[name]))


@timed
def records_cost_less_than_a_microsecond():
    bare, own, run = costs(False), costs(False, argument="records"), costs(True)
    for what, i in (("a call", 0), ("a submitting call", 2), ("a copy", 3)):
        print("   %s: CUPTI's own cost %.0f ns, the collector's %.0f ns"
              % (what, own[i] - bare[i], run[i] - own[i]))
        check_time(run[i] - own[i] < 1000, "%s costs %.0f ns more" % (what, run[i] - own[i]))


@timed
def what_it_costs_is_own_cost():
    """What the collector takes beside the calls is no time of the program's: it is told, and more
    than that of plain stubs."""
    cost = {}
    for mode in ("wrappers", "full"):
        run = on_device(["cuda_calls", "calls"], timeout=60,
                        env={"BATTPROF_SIM_TRUTH": "", "BATTPROF_CUDA": mode})
        cost[mode] = run.report()["overhead_s"]
    print("   own cost %.3f s, with device records %.3f s" % (cost["wrappers"], cost["full"]))
    check_time(cost["full"] > 2 * cost["wrappers"], "own cost: %r" % cost)


main()
