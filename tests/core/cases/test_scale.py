# SPDX-License-Identifier: MIT
"""Many functions, many libraries."""
from harness import *


@case
def twenty_thousand_functions():
    run = pair([subject("e2e_many")], expect=0)
    report = run.report()
    found = {row["name"]: row["calls"] for row in rows(report, library="libdslmany.so")}
    check(len(found) >= 16384, "%d functions in the report" % len(found))
    wrong = [item for item in found.items() if item[1] != 4]
    check(not wrong, "%d functions without 4 calls, as %r" % (len(wrong), wrong[:3]))
    coverage = [c for c in report["coverage"] if "libdslmany" in c["library"]][0]
    equal("exports", coverage["exports"], 20000)
    equal("hooked", coverage["hooked"], len(found))
    if len(found) < 20000:
        check(coverage["reason"], "20000 exports, %d hooked, and no reason given" % len(found))


def copies(count):
    place = new_dir()
    paths = []
    for i in range(count):
        paths.append("%s/libdslcopy%03d.so" % (place, i))
        shutil.copy(subject("libdslcopy.so"), paths[-1])
    return paths


def right(run, count):
    report = run.report()
    wanted = sum(1 + i % 3 for i in range(count))
    equal("late_both", calls(report, "late_both"), wanted)
    equal("late_step", calls(report, "late_step"), wanted)
    equal("work_add", calls(report, "work_add"), wanted)
    used = {row["library"] for row in rows(report, "late_both") if row["calls"]}
    equal("libraries", len(used), count)


@case
def three_hundred_opened():
    paths = copies(300)
    run = pair([subject("e2e_loader"), "many"] + paths, env={"LD_LIBRARY_PATH": BIN}, expect=0)
    right(run, 300)


@case
def two_hundred_at_start():
    """Present when the program starts. All export the same names: the first one in the search
    order gets the calls that libraries make to each other."""
    paths = copies(200)
    run = pair([subject("e2e_loader"), "noload"] + paths, env={"LD_LIBRARY_PATH": BIN},
               preload=paths, expect=0)
    report = run.report()
    wanted = sum(1 + i % 3 for i in range(200))
    equal("late_both", calls(report, "late_both"), wanted)
    equal("late_step", calls(report, "late_step", "libdslcopy000.so"), wanted)


main()
