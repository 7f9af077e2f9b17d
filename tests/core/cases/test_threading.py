# SPDX-License-Identifier: MIT
"""Threads that begin and end in every way: exact counts, each thread seen."""
from harness import *

modes("e2e_threads", ["sequential", "concurrent", "detached", "cancel", "cancel_async",
                      "exit_inside", "keys", "main_leaves", "made_inside"])


@case
def exit_in_thread():
    counted([subject("e2e_threads"), "exit_in_thread"], expect=7)


@case
def std_thread():
    counted([subject("e2e_std_thread")])


@case
def files_stay_small():
    """A thousand threads one after the other use the segments of dead ones again."""
    run = pair([subject("e2e_threads"), "sequential"], expect=0)
    size = sum(os.path.getsize(os.path.join(run.profile, f)) for f in run.files())
    check(0 < size < 16 << 20, "1000 short threads left %d bytes" % size)


@case
def under_battprof_run():
    counted([subject("e2e_threads"), "concurrent"], how="run")


main()
