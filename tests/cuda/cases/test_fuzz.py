# SPDX-License-Identifier: MIT
"""Random work, the same for a seed: what the report charges to whom is what the simulated device's own
log says, with and without kernel records. FUZZ_SEEDS=100-200 looks further."""
import os
import random

from harness.device import fine, on_device, same_sums, sums, timed
from harness import close_to, equal, main

SEEDS = os.environ.get("FUZZ_SEEDS", "1-4")
MS = "300"


def work(seed, mode):
    choose = random.Random(seed)
    threads, devices = 1 + seed % 3, 1 + seed // 3 % 2
    return on_device(["cuda_fuzz", str(seed), MS, str(threads)],
                     env={"BATTPROF_CUDA": mode, "BATTPROF_SIM_DEVICES": str(devices),
                          "BATTPROF_SIM_CORRELATION": choose.choice(("shared", "own"))})


def same_copies(run, report):
    for direction, (count, size, _) in run.truth.copies.items():
        got = report["transfers"][direction]
        equal("%s copies" % direction, (got["count"], got["bytes"]), (count, size))
    for what in ("late", "unmatched", "dropped", "lost_calls"):
        equal(what, report["cuda"][what], 0)


def with_kernel_records(seed):
    run = work(seed, "full")
    fine(run)
    report = run.report()
    same_copies(run, report)
    same_sums(run, report)
    equal("kernels", sum(k["count"] for k in report["kernels"]), run.truth.kernels)


def without_kernel_records(seed):
    """Copies are as exact; of the rest it is known which calls may wait."""
    run = work(seed, "transfers")
    fine(run)
    report = run.report()
    same_copies(run, report)
    same_sums(run, report, which=("transfer", "hidden"))
    got, want = sums(report)["overhead"], run.truth.unblocked
    close_to("calls that do not wait", got, want, 0.02, 0.0001 + run.truth.calls * 0.00000012)


def register(seed):
    for function in (with_kernel_records, without_kernel_records):
        def go(function=function):
            function(seed)
        go.__name__ = "%s_%d" % (function.__name__, seed)
        timed(go)


first, last = map(int, SEEDS.split("-"))
for number in range(first, last + 1):
    register(number)
main()
