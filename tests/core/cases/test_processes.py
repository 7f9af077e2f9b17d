# SPDX-License-Identifier: MIT
"""fork in every position: each process has its own file, nothing is counted twice."""
from harness import *

PROGRAM = "e2e_process"
modes(PROGRAM, ["many", "threads", "sigchld"])


def wait_for(path):
    """What a process makes at its end, and a moment for the end itself."""
    end = time.monotonic() + HANGS_S
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.1)


@case
def fork():
    run, report = counted([subject(PROGRAM), "fork"])
    equal("work_add", calls(report, "work_add"), 600)
    equal("files", len(run.files()), 2)
    equal("processes", process_count(report), 2)


@case
def every_exit():
    """_exit, quick_exit and a bare exit_group."""
    run, report = counted([subject(PROGRAM), "exits"])
    equal("files", len(run.files()), 4)
    ends = sorted((p["state"], p["exit_status"] or 0) for p in report["process_list"])
    equal("ends", ends, [("exited", 0), ("exited", 4), ("exited", 5), ("exited", 6)])


@case
def inside_a_call():
    """The call that both return through is the parent's."""
    run = pair([subject(PROGRAM), "inside"], expect=0)
    report = run.report()
    equal("work_call", calls(report, "work_call"), 1)
    equal("work_call aborted", aborted(report, "work_call"), 0)
    equal("work_empty", calls(report, "work_empty"), 3)
    equal("work_add", calls(report, "work_add"), 20)


@case
def inside_fifty_calls():
    run = pair([subject(PROGRAM), "deep"], expect=0)
    report, truth = run.report(), run.counts()
    equal("work_nest", calls(report, "work_nest"), 50)
    equal("work_nest aborted", aborted(report, "work_nest"), 0)
    for name in ("work_even", "work_odd"):
        equal(name, calls(report, name), truth["libdslwork.so", name][0])


@case
def child_jumps_out_of_fifty_calls():
    """The parent counts its 50 calls; the child's part of them is only time."""
    run = pair([subject(PROGRAM), "jump"], expect=0)
    report, truth = run.report(), run.counts()
    equal("work_nest", calls(report, "work_nest"), 50 + 2 * 70)
    equal("work_nest aborted", aborted(report, "work_nest"), 0)
    for name in ("work_even", "work_odd", "work_empty"):
        equal(name, calls(report, name), truth["libdslwork.so", name][0])


@case
def five_generations():
    """Each forked within calls that the one before opened; each returns through all of them."""
    run = pair([subject(PROGRAM), "generations"], expect=0)
    report = run.report()
    equal("processes", process_count(report), 5)
    equal("work_nest", calls(report, "work_nest"), 5 * 3)
    equal("work_nest aborted", aborted(report, "work_nest"), 0)
    equal("work_empty", calls(report, "work_empty"), 1 + 2 + 3 + 4 + 5)
    equal("work_add", calls(report, "work_add"), 50)


@case
def outlived_by_a_worker():
    """The wall is the run's; a worker's part of it ends there, whatever it does later."""
    run = execute([subject(PROGRAM), "outlived"], True, how="run", options=["-q"])
    equal("status", run.status, 0)
    early = run.report()
    wait_for(run.dir + "/done")
    late = run.report()
    for report in (early, late):
        total = sum(part["s"] for part in report["categories"].values())
        check(abs(total - report["wall_s"]) <= 0.005 * report["wall_s"],
              "categories sum to %.4f of %.4f s" % (total, report["wall_s"]))
    check(abs(late["wall_s"] - early["wall_s"]) <= 0.001, "wall %.4f s, later %.4f s"
          % (early["wall_s"], late["wall_s"]))
    check(late["categories"]["dsl"]["s"] >= 0.3, "DSL %r" % late["categories"])


@case
def in_a_thread():
    run = pair([subject(PROGRAM), "thread"], expect=0)
    report = same_counts(run)
    equal("work_sub", calls(report, "work_sub"), 1000)


@case
def children_that_die():
    run, report = counted([subject(PROGRAM), "die"])
    equal("work_add", calls(report, "work_add"), 50)


@case
def closes_all_files():
    """A daemon that closes every descriptor it finds; the mapping stays."""
    run, report = counted([subject(PROGRAM), "daemonise"])
    equal("work_add", calls(report, "work_add"), 101)


@case
def daemon():
    run = pair([subject(PROGRAM), "daemon_libc"], expect=0)
    wait_for(run.dir + "/done")
    equal("work_add", calls(run.report(), "work_add"), 40)


@case
def under_battprof_run():
    run, report = counted([subject(PROGRAM), "many"], how="run")
    equal("processes", process_count(report), 101)


main()
