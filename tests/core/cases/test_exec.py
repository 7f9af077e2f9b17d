# SPDX-License-Identifier: MIT
"""exec*, posix_spawn, system and popen: programs started from the target are profiled too."""
from harness import *

PROGRAM = "e2e_process"
MOST_S = HANGS_S  # more CPU time than this no thread here can have had: below 0 it is 2^64 ns


@case
def every_variant():
    """Ten variants, with the environment kept, replaced and emptied."""
    run, report = counted([subject(PROGRAM), "exec_all"])
    equal("work_add", calls(report, "work_add"), 10 * 52)


@case
def vfork():
    run, report = counted([subject(PROGRAM), "vfork"])
    equal("work_add", calls(report, "work_add"), 60)


@case
def images_of_one_pid():
    run, report = counted([subject(PROGRAM), "exec_chain", "3"], expect=11)
    names = run.files()
    equal("files", len(names), 4)
    equal("pids", len({name.split(".")[1] for name in names}), 1)
    equal("images", sorted(name.split(".")[2] for name in names), ["1", "2", "3", "bp"])
    equal("work_add", calls(report, "work_add"), 60)


@case
def fails():
    run, report = counted([subject(PROGRAM), "exec_fails"])
    equal("work_add", calls(report, "work_add"), 4)


@case
def failing_leaves_the_wall_whole():
    """The process leaves the wall page before exec: nothing may be lost or counted twice."""
    for mode in "exec_retried", "exec_retried_beside":
        run, report = counted([subject(PROGRAM), mode])
        sums_to("wall split, " + mode, report["wall_s"] - report["unsplit_s"], report["wall_s"],
                0.001)


@case
def script_without_interpreter():
    counted([subject(PROGRAM), "exec_script"])


@case
def fork_after_exec():
    """A thread's CPU time goes on over exec, and begins anew in a forked child."""
    commands = "(true); (true); i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; (true); (true)"
    run = pair(["sh", "-c", "exec sh -c '%s; true'" % commands], expect=0)
    report = run.report()
    check(len(report["thread_list"]) >= 6, "%d threads" % len(report["thread_list"]))
    for thread in report["thread_list"]:
        for time in "cpu_s", "runqueue_s":
            check((thread[time] or 0) <= MOST_S,
                  "%s of thread %s: %r" % (time, thread["tid"], thread[time]))


@case
def spawn():
    run, report = counted([subject(PROGRAM), "spawn"])
    equal("work_add", calls(report, "work_add"), 150)


@case
def system_and_popen():
    counted([subject(PROGRAM), "shell"])


@case
def every_variant_under_battprof_run():
    counted([subject(PROGRAM), "exec_all"], how="run")


@case
def spawn_under_battprof_run():
    counted([subject(PROGRAM), "spawn"], how="run")


main()
