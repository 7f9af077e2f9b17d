# SPDX-License-Identifier: MIT
"""ucontext coroutines suspended in the middle of hooked calls."""
from harness import *

modes("e2e_jump", ["round_robin", "from_depths", "migrate"])


@case
def abandoned():
    run, report = counted([subject("e2e_jump"), "abandoned"], still_open=True)
    equal("work_add", calls(report, "work_add"), 100)


@case
def nothing_aborted():
    run = pair([subject("e2e_jump"), "round_robin"], expect=0)
    report = run.report()
    equal("aborted", aborted(report, "work_nest"), 0)
    total = sum(row["self_s"] for row in report["functions"])
    check(total <= report["thread_s"] * 1.001, "self times %.6f exceed thread-seconds %.6f"
          % (total, report["thread_s"]))


main()
