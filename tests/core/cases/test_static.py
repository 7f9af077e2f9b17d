# SPDX-License-Identifier: MIT
"""A static program cannot be preloaded into; it runs, and battprof run says so in a sentence."""
from harness import *


@case
def preloaded():
    run = pair([subject("e2e_static")], expect=9)
    equal("files", run.files(), [])


@case
def under_battprof_run():
    run = pair([subject("e2e_static")], how="run", expect=9)
    check(b"static" in run.stderr, "no word about static linking: %r" % run.stderr[-300:])


@case
def started_from_a_profiled_shell():
    command = "%s; %s callee 5 0; %s" % (subject("e2e_static"), subject("e2e_process"),
                                         subject("e2e_static"))
    run, report = counted(["/bin/sh", "-c", command], expect=9)
    equal("work_add", calls(report, "work_add"), 5)


main()
