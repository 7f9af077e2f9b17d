# SPDX-License-Identifier: MIT
"""Runs subjects on the simulated device. CUDA_SIM names the folder of its libraries."""
import os
import re

from harness import cases, check, close_to, execute, subject, sums_to
from harness.truth import Truth

SIM = os.environ.get("CUDA_SIM", "")
QUICK = os.path.join(os.environ.get("E2E_BIN", ""), "quick")  # a runtime that takes no time


def timed(function):
    """Has times that an interruption at the wrong place spoils: more tries than others if they alone
    are wrong."""
    cases.append((function, 6))
    return function


def on_device(argv, profiled=True, env=None, **how):
    """Runs a subject on a T4; the run has .truth afterwards. No samples: what these take within a
    call is own cost to the report, and a part of the call to the truth."""
    environment = {"LD_LIBRARY_PATH": SIM, "BATTPROF_SIM": "t4", "BATTPROF_SIM_TRUTH": "truth",
                   "BATTPROF_SAMPLE": "off"}
    environment.update(env or {})
    run = execute([subject(argv[0])] + argv[1:], profiled, env=environment, **how)
    path = os.path.join(run.dir, "truth")
    if profiled and os.path.exists(path):
        run.truth = Truth(path)
    return run


def fine(run, status=0):
    check(run.status == status, "status %r, stdout %r, stderr %r"
          % (run.status, run.stdout[-300:], run.stderr[-300:]))
    check(run.stdout.strip() == b"ok", "stdout: %r" % run.stdout[-300:])


def sums(report):
    """transfer, kernel wait, overhead, hidden: as the report has them."""
    host = [report["transfers"][d] for d in ("h2d", "d2h")]
    return {
        "transfer": sum(t["exposed_s"] for t in host),
        "wait": sum(k["wait_s"] for k in report["kernels"]),
        "overhead": report["framework"]["cuda_api_s"],
        "hidden": sum(t["hidden_s"] for t in host),
        "faulted": sum(t["faulted_s"] for t in host),
    }


def same_sums(run, report, part=0.02, which=("transfer", "wait", "overhead", "hidden",
                                               "faulted")):
    # From the clock of the truth to that of the stub and back it is 0.07 to 0.11 us a call: docs/internals/sim.md.
    # 0.1 ms in all is for an interruption in between.
    slack = 0.0001 + run.truth.calls * 0.00000012
    got = sums(report)
    for name in which:
        close_to(name, got[name], getattr(run.truth, name), part, slack)


def whole(report):
    """The categories sum to the wall."""
    total = sum(c["s"] for c in report["categories"].values())
    sums_to("categories", total, report["wall_s"], 0.005)


def says(report, pattern):
    text = "\n".join(report["notes"])
    check(re.search(pattern, text), "no note about /%s/: %r" % (pattern, text))
