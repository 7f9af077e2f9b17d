# SPDX-License-Identifier: MIT
"""longjmp and siglongjmp out of hooked calls; deep and mutual recursion; tail calls."""
from harness import *

modes("e2e_jump", ["plain", "nested", "partial", "from_signal"])
if COUNTED != "j":  # a leaf is not seen from an alternate stack: it has returned, for all we know
    modes("e2e_jump", ["from_segv"])


@case
def without_a_clock():
    """A fault because the counter may not be read, left by siglongjmp while it still may not."""
    for hook in "libdsl*", "*":
        pair([subject("no_clock")], hook=hook, expect=0)


@case
def deep():
    """A million abandoned calls leave neither a crash nor a large file."""
    run, report = counted([subject("e2e_jump"), "deep"])
    equal("aborted", aborted(report, "work_nest"), 1000000)
    size = sum(os.path.getsize(os.path.join(run.profile, f)) for f in run.files())
    check(size < 16 << 20, "%d bytes: entries were not used again" % size)


@case
def mutual_recursion():
    """work_odd is only called below work_even: it cannot have been open for longer. Own cost is
    taken out of both by calibration, so microseconds may be off; counting every level twice is
    off by the depth."""
    run, report = counted([subject("e2e_deep"), "1000"])
    even, odd = (rows(report, name)[0]["total_s"] for name in ("work_even", "work_odd"))
    check(odd <= even * 2 + 1e-4, "work_odd was open for %.6f s below work_even's %.6f" % (odd, even))


@case
def hundred_thousand_levels():
    run, report = counted([subject("e2e_deep"), "100000"])
    equal("work_depth", calls(report, "work_depth"), 150000)
    equal("work_even", calls(report, "work_even"), 50001)
    for name in ("work_depth", "work_even", "work_odd"):
        total = sum(row["total_s"] for row in rows(report, name))
        check(total <= report["thread_s"], "%s: total %.3f s in %.3f thread-seconds"
              % (name, total, report["thread_s"]))


main()
