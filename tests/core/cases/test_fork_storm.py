# SPDX-License-Identifier: MIT
"""Forks of every kind beside threads and signals, for FORK_STORM_SECONDS: no child dies or hangs,
and all counts are exact. FORK_STORM_SEED repeats the seeds of a run."""
import random
import re

from harness import *

SECONDS = float(os.environ.get("FORK_STORM_SECONDS", "30"))
SEED = int(os.environ.get("FORK_STORM_SEED", random.randrange(1 << 32)))
ROUND = 5.0  # seconds; each has a profile of its own


@case
def storm():
    left, seed, children = SECONDS, SEED, 0
    while left > 0:
        run = execute([subject("fork_storm"), str(min(ROUND, left)), str(seed)], True, timeout=120)
        check(run.status == 0, "seed %d: %s: %s"
              % (seed, describe(run.status), run.stderr.decode(errors="replace")[-400:]))
        same_counts(run)
        children += int(re.match(rb"(\d+) children", run.stdout).group(1))
        shutil.rmtree(run.dir)
        print("seed %d: %d children so far" % (seed, children), flush=True)
        left, seed = left - ROUND, seed + 1
    check(children >= SECONDS, "%d children in %d s" % (children, SECONDS))


def unseen(mode, more):
    """A fork that no handler sees: parent and child go on, and only the parent's calls count."""
    run = pair([subject("fork_unseen"), mode], expect=0)
    equal("output", run.stdout, b"child: 0\n")
    report = run.report()
    equal("files", len(run.files()), 1)
    equal("work_add", calls(report, "work_add"), 100)
    equal("work_call", calls(report, "work_call"), more)
    for name in ("work_depth", "work_nest", "work_sub"):
        equal(name, calls(report, name), 0)


@case
def unseen_plain():
    unseen("plain", 0)


@case
def unseen_inside():
    unseen("inside", 1)


main()
