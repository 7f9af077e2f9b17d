# SPDX-License-Identifier: MIT
"""kill -9 into 64 threads at work: every call that had returned is in the report."""
from harness import *

THREADS, BLOCKED = 64, 4


def returned(run):
    with open(os.path.join(run.dir, "returned"), "rb") as f:
        data = f.read()
    return [struct.unpack_from("Q", data, 64 * i)[0] for i in range(THREADS)]


def wait_until_busy(process):
    equal("first line", process.stdout.readline(), b"at work\n")


def compare(run):
    report = run.report()
    total = sum(returned(run))
    check(total > 1000, "only %d calls" % total)
    got = calls(report, "work_add")
    check(total <= got <= total + THREADS,
          "%d calls had returned to their callers, the report has %d" % (total, got))
    blocked = {item["thread"] if not isinstance(item["thread"], dict) else str(item["thread"])
               for item in report["in_flight"] if item["function"] == "work_block"}
    equal("threads in flight in work_block", len(blocked), BLOCKED)
    return report


def kill_it(how):
    process, run = start([subject("e2e_kill")], True, how=how)
    wait_until_busy(process)
    if how == "preload":
        process.kill()
    else:  # the target, not battprof
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as f:
            os.kill(int(f.read().split()[0]), signal.SIGKILL)
    finish(process, run)
    equal("status", run.status, -signal.SIGKILL)
    return compare(run)


@case
def preloaded():
    for _ in range(3):
        report = kill_it("preload")
    for item in report["in_flight"]:
        if item["function"] == "work_block":
            check(item["for_s"] > 0.25, "in work_block for %r s only" % item["for_s"])


@case
def under_battprof_run():
    report = kill_it("run")
    check(report["exit_status"] in (-9, 137) or report.get("signal") == 9,
          "exit_status %r" % report["exit_status"])


@case
def leaves_by_itself():
    """_exit of the main thread ends the others where they are."""
    process, run = start([subject("e2e_kill"), "exit"], True)
    finish(process, run)
    equal("status", run.status, 21)
    compare(run)


@case
def while_it_runs():
    """The file of a running process can be reported, and again after its end."""
    process, run = start([subject("e2e_kill")], True)
    try:
        wait_until_busy(process)
        before = sum(returned(run))
        report = run.report()
        after = sum(returned(run))
        got = calls(report, "work_add")
        check(before <= got <= after + THREADS, "%d not in %d…%d" % (got, before, after))
    finally:
        process.kill()
        finish(process, run)
    compare(run)


main()
