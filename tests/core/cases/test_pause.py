# SPDX-License-Identifier: MIT
"""Recording stops and starts: counts of what was recorded are the program's own, sums add up."""
from harness import *

THREADS = 8
PROGRAM = """
import ctypes, sys, threading
lib = ctypes.PyDLL(None)
import dsl
times, count = int(sys.argv[1]), int(sys.argv[2])
over = False
def work():
    while not over:
        dsl.outer(5)
        list(dsl.steps(3))
        try:
            dsl.fails()
        except ValueError:
            pass
threads = [threading.Thread(target=work) for _ in range(count)]
for thread in threads:
    thread.start()
class Crossed(Exception):
    pass
def cross():
    lib.libbattprof_stop()
    raise Crossed
for i in range(times):
    lib.libbattprof_start()
    for _ in range(5):
        dsl.call(int)
    if i == times // 2:
        try:
            dsl.call(cross)
        except Crossed:
            pass
    lib.libbattprof_stop()
    for _ in range(5):
        dsl.call(int)
over = True
for thread in threads:
    thread.join()
"""
DSL = """
def tiny(x):
    return x + 1
def outer(n):
    return sum(tiny(i) for i in range(n))
def steps(n):
    for i in range(n):
        yield tiny(i)
def fails():
    raise ValueError
def call(function):
    result = function()
    return result
"""


CLOCKS_S = 10e-9  # between the clocks of two CPUs


def whole(report):
    """What adds up in every report. A stop's instant is another thread's reading of the clock: a call
    that began after it, by this CPU's clock, has no time and not less."""
    slack = 1e-6 + report["recording"]["pauses"] * CLOCKS_S
    for thread in report["thread_list"]:
        sums_to("self times of thread %s" % thread["tid"], thread["sum_s"], thread["lifetime_s"],
                1e-6, slack)
    parts = sum(part["s"] for part in report["categories"].values())
    parts += report["recording"]["paused_s"] + report["unsplit_s"]
    sums_to("the wall", parts, report["wall_s"], 1e-6, 1e-6)
    sums_to("what no part explains", report["wall_s"] + report["unsplit_s"], report["wall_s"],
            0.005)
    return report


def recorded(arguments, status=0, **how):
    run = execute([subject("e2e_pause")] + arguments, True, **how)
    equal("status", run.status, status)
    return whole(run.report())


def kinds(report):
    return [mark["kind"] for mark in report["recording"]["marks"]]


@case
def counts_of_stretches():
    for threads in 0, 3:
        report = recorded(["storm", "1000", str(threads)])
        equal("calls in stretches", calls(report, "work_sub"), 10000)
        equal("calls in pauses", calls(report, "work_add"), 0)
        equal("aborted", sum(f["aborted"] for f in report["functions"] if threads == 0), 0)
        equal("pauses", report["recording"]["pauses"], 1001)


@case
def ten_thousand_times():
    """Under load: twice as many starts and stops as there is room for in the list of marks."""
    report = recorded(["storm", "10000", "4"])
    equal("calls in stretches", calls(report, "work_sub"), 100000)
    equal("calls in pauses", calls(report, "work_add"), 0)
    equal("pauses", report["recording"]["pauses"], 10001)
    check(report["recording"]["marks_lost"] > 0, "no mark was lost")


@case
def calls_that_are_open():
    for late in "0", "1":
        report = recorded(["open", late])
        equal("calls over the stop", calls(report, "work_call"), THREADS)
        equal("aborted", aborted(report, "work_call"), 0)
        equal("calls behind it", calls(report, "work_sub"), THREADS if late == "1" else 0)
        for thread in report["thread_list"]:
            check(thread["paused_s"] >= 0.29, "paused for %r s" % thread["paused_s"])


@case
def jumps_over_a_stop():
    for how in "stays", "back":
        run = execute([subject("e2e_pause"), "jump", how], True)
        equal("status", run.status, 0)
        report = whole(run.report())
        entered, returned = run.counts()["libdslwork.so", "work_nest"]
        equal("calls", calls(report, "work_sub"), 50)
        equal("left by the jump", aborted(report, "work_nest"), entered - returned)


@case
def children():
    """Each child starts once. What one becomes by exec follows the run: without the command that is
    its first process, which is paused."""
    for how, execed in ("preload", 0), ("run", 7):
        run = execute([subject("e2e_pause"), "fork"], True, how=how)
        report = whole(run.report())
        equal("calls in stretches", calls(report, "work_sub"), 5 * 10 + execed)
        equal("calls in pauses", calls(report, "work_add"), 0)


@case
def begins_paused():
    run = execute([subject("e2e_pause"), "fork"], True, env={"BATTPROF": "paused"})
    report = whole(run.report())
    equal("calls in stretches", calls(report, "work_sub"), 5 * 10)
    run = execute([subject("e2e_pause"), "calls"], True, env={"BATTPROF": "paused"})
    report = whole(run.report())
    equal("calls", calls(report, "work_sub"), 0)
    text = run_report(run)
    check("nothing was measured" in text, text)


def run_report(run):
    return subprocess.run([CMD, "report", run.profile], capture_output=True, text=True).stdout


@case
def killed_in_a_pause():
    report = recorded(["killed"], -signal.SIGKILL)
    equal("calls", calls(report, "work_sub"), 1)
    equal("marks", [m["text"] for m in report["recording"]["marks"] if m["kind"] == "mark"],
          ["before the end"])


def command(*arguments):
    return subprocess.run([CMD, *arguments], capture_output=True, text=True, timeout=60)


def entered(report):
    return calls(report, "work_busy") + in_flight(report, "work_busy")


def wait_for_calls(run):
    """The thread takes notice of a start when it next does something."""
    end = time.monotonic() + HANGS_S
    before = entered(run.report())
    while entered(run.report()) <= before:
        check(time.monotonic() < end, "nothing is recorded")
        time.sleep(0.01)


@case
def from_outside():
    process, run = start([subject("e2e_pause"), "forever"], True, env={"BATTPROF": "paused"})
    equal("first line", process.stdout.readline(), b"at work\n")
    pid = str(process.pid)
    for word, state in ("start", "being recorded"), ("start", "being recorded"), ("stop", "paused"):
        done = command(word, pid)
        equal("status of %s %s" % (word, done.stderr), done.returncode, 0)
        check(state in done.stdout, done.stdout)
        if word == "start":
            wait_for_calls(run)
    equal("mark", command("mark", pid, "here\nand there").returncode, 0)
    before = entered(run.report())
    time.sleep(0.2)
    equal("calls in the pause", entered(run.report()), before)
    process.kill()
    finish(process, run)
    report = whole(run.report())
    equal("marks", kinds(report), ["stop", "start", "stop", "mark"])
    equal("text", report["recording"]["marks"][3]["text"], "here and there")
    gone = command("start", pid)
    equal("status", gone.returncode, 1)


@case
def ends_during_a_start():
    for i in range(20):
        process, run = start([subject("e2e_pause"), "storm", "20", "2"], True)
        done = command("stop" if i % 2 else "start", str(process.pid))
        check(done.returncode in (0, 1), done.stderr)
        finish(process, run)
        equal("status", run.status, 0)
        whole(run.report())


@case
def python():
    for threads in "0", "2":
        directory = new_dir()
        with open(os.path.join(directory, "dsl.py"), "w") as f:
            f.write(DSL)
        run = execute([PYTHON, "-c", PROGRAM, "40", threads], True, directory=directory,
                      env={"BATTPROF": "paused"})
        equal("status %s" % run.stderr, run.status, 0)
        report = whole(run.report())
        equal("calls", calls(report, "dsl.call"), 201)
        equal("aborted", aborted(report, "dsl.call"), 1)


main()
