# SPDX-License-Identifier: MIT
"""backtrace(3) and _Unwind_Backtrace show the same named frames through stubs."""
from harness import *


@case
def named_frames():
    run, report = counted([subject("e2e_unwind")])
    check(run.stdout.count(b"work_nest") == 10, "the subject did not pass the hooked calls")
    check(run.stdout.count(b"chained") == 12 and b"work_chain" not in run.stdout,
          "the subject's hooked calls did not jump")


main()
