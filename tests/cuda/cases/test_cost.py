# SPDX-License-Identifier: MIT
"""What an intercepted CUDA call costs, as ratios and differences within one machine and minute."""
import os

from device import QUICK, on_device, timed
from harness import check, equal, main


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
    check(cuda <= 1.3 * native + 10, "a CUDA call costs %.1f ns, a native one %.1f ns"
          % (cuda, native))


def copy_costs(profiled):
    env = {"BATTPROF_CUDA": "wrappers", "LD_LIBRARY_PATH": QUICK}
    run = on_device(["cuda_copies", "cost"], profiled, env=env, timeout=60)
    equal("status", run.status, 0)
    with open(os.path.join(run.dir, "costs")) as f:
        return list(map(float, f.read().split()))


@timed
def a_copy_costs_hardly_more():
    """Its bytes, its direction and its call path are counted: 1.2 times a call."""
    bare, run = [1e9] * 3, [1e9] * 3
    for _ in range(3):
        bare = list(map(min, bare, copy_costs(False)))
        run = list(map(min, run, copy_costs(True)))
    call, copy, deep = (r - b for r, b in zip(run, bare))
    print("   a call %.1f ns, a copy %.1f ns (%.2f times), ten functions down %.1f ns"
          % (call, copy, copy / call, deep))
    check(copy <= 1.3 * call + 5, "a copy costs %.1f ns, a call %.1f ns" % (copy, call))
    check(deep <= 2 * call + 5, "ten functions down %.1f ns, a call %.1f ns" % (deep, call))


@timed
def records_cost_less_than_a_microsecond():
    bare, own, run = costs(False), costs(False, argument="records"), costs(True)
    for what, i in (("a call", 0), ("a submitting call", 2), ("a copy", 3)):
        print("   %s: CUPTI's own cost %.0f ns, the collector's %.0f ns"
              % (what, own[i] - bare[i], run[i] - own[i]))
        check(run[i] - own[i] < 1000, "%s costs %.0f ns more" % (what, run[i] - own[i]))


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
    check(cost["full"] > 2 * cost["wrappers"], "own cost: %r" % cost)


main()
