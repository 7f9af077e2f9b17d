# SPDX-License-Identifier: MIT
"""What an intercepted CUDA call costs, as ratios and differences within one machine and minute."""
import os

from device import on_device, timed
from harness import check, equal, main


def costs(profiled, mode=None, argument="calls"):
    """Nanoseconds of a call that submits nothing, of a native one, and of one that submits."""
    env = {"BATTPROF_SIM_TRUTH": ""}
    if mode:
        env["BATTPROF_CUDA"] = mode
    run = on_device(["cuda_calls", argument], profiled, env=env, timeout=60)
    equal("status", run.status, 0)
    with open(os.path.join(run.dir, "costs")) as f:
        return list(map(float, f.read().split()))


@timed
def wrappers_cost_as_any_call():
    bare, run = [1e9] * 3, [1e9] * 3
    for _ in range(3):  # a difference of two figures that vary: the best of each
        bare = list(map(min, bare, costs(False)))
        run = list(map(min, run, costs(True, "wrappers")))
    cuda, native = run[0] - bare[0], run[1] - bare[1]
    print("   a CUDA call %.1f ns, a native one %.1f ns" % (cuda, native))
    check(cuda <= 1.3 * native + 10, "a CUDA call costs %.1f ns, a native one %.1f ns"
          % (cuda, native))


@timed
def records_cost_less_than_a_microsecond():
    bare, own, run = costs(False), costs(False, argument="records"), costs(True)
    print("   CUPTI's own cost %.0f and %.0f ns a call" % (own[0] - bare[0], own[2] - bare[2]))
    print("   the collector's %.0f and %.0f ns" % (run[0] - own[0], run[2] - own[2]))
    check(run[0] - own[0] < 1000, "a call costs %.0f ns more" % (run[0] - own[0]))
    check(run[2] - own[2] < 1000, "a submitting call costs %.0f ns more" % (run[2] - own[2]))


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
