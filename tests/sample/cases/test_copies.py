# SPDX-License-Identifier: MIT
"""Every call path of a CUDA copy keeps its stack: how often it was called, how many bytes, and the
lines it came from. On the simulated device."""
import os
import re

from harness import PYTHON, case, check, equal, execute, main
from harness.samples import Samples

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = 1


def copies(argv):
    run = execute(argv, True, how="run", options=["-q", "--device", "sim:t4"], timeout=60)
    check(run.status == 0, "status %s: %s" % (run.status, run.stderr[-500:]))
    return run, [stack for stack in Samples(run).all if stack.kind == COPY]


def transferred(run):
    rows = run.report()["transfers"]
    return (sum(rows[k]["count"] for k in ("h2d", "d2h")),
            sum(rows[k]["bytes"] for k in ("h2d", "d2h")))


@case
def native():
    run, stacks = copies([os.environ["RUN_BATT"], "-c", "5", "--gpu=naive"])
    equal("call paths", len(stacks), 2)
    for stack in stacks:
        equal("caller", stack.names[:2], ["run_naive", "batch_process_samples_gpu"])
        equal("function", stack.node, "cudaMemcpy")
        equal("outermost", stack.names[-1], "_start")
    check(stacks[0].frames[0]["offset"] != stacks[1].frames[0]["offset"], "one place for both")
    equal("copies and bytes", (sum(s.count for s in stacks), sum(s.weight for s in stacks)),
          transferred(run))


@case
def by_turns():
    """Paths that differ only in a caller far out, with the same stack pointer, are told apart."""
    _, stacks = copies([os.path.join(os.environ["SAMPLE_BIN"], "sample_copies")])
    found = {stack.names[1]: (stack.count, stack.weight) for stack in stacks}
    equal("innermost", {stack.names[0] for stack in stacks}, {"copy"})
    equal("call paths", found, {"left": (3000, 3000 * 64), "right": (1000, 1000 * 64)})


@case
def python():
    subject = os.path.join(HERE, "subjects", "copies.py")
    with open(subject) as file:
        lines = {match.group(1): number for number, text in enumerate(file, 1)
                 for match in [re.search(r"  # (\w+)$", text)] if match}
    _, stacks = copies([PYTHON, subject])
    found = {}
    for stack in stacks:
        frames = [(f["name"], f["line"]) for f in stack.frames if f["kind"] == "python"]
        equal("innermost", frames[0], ("copy", lines["copy"]))
        equal("its caller's line", frames[1][1], lines[frames[1][0]])
        found[frames[1][0]] = (stack.count, stack.weight)
    equal("call paths", found, {"upload": (100, 100 * 4096), "download": (1, 2048)})


if __name__ == "__main__":
    main()
