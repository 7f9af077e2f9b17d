# SPDX-License-Identifier: MIT
"""battprof run around shells and trees; --no-wait; --hook."""
from harness import *

PROGRAM = "e2e_process"


@case
def shell_around():
    program = subject(PROGRAM)
    command = "%s callee 10 0; %s callee 20 3 | cat; %s fork" % (program, program, program)
    run, report = counted(["sh", "-c", command], how="run")
    equal("work_add", calls(report, "work_add"), 630)
    equal("exit_status", report["exit_status"], 0)


@case
def shell_that_execs():
    run, report = counted(["sh", "-c", "exec %s callee 10 5" % subject(PROGRAM)], how="run",
                          expect=5)
    equal("exit_status", report["exit_status"], 5)


@case
def bash_with_jobs():
    program = subject(PROGRAM)
    script = """
for i in 1 2 3; do %s callee $i 0 >out.$i & done; wait
cat out.1 out.2 out.3
x=$(%s callee 7 0); echo "<$x>"
%s callee 1 0 && (exit 6)
""" % (program, program, program)
    counted([need("bash"), "-c", script], how="run", expect=6)


@case
def hook_option():
    run, report = counted([subject("binding_plain")], how="run", hook="libplainwork.so")
    check(rows(report, "work_add"), "libplainwork.so was not hooked")


@case
def no_wait():
    run = pair([subject("e2e_waits"), "sleeping"], how="run", options=["--no-wait"], expect=0)
    report = run.report()
    equal("nanosleep", calls(report, "nanosleep"), 0)
    equal("waiting_s", report["framework"]["waiting_s"], 0)
    equal("io_s", report["framework"]["io_s"], 0)


@case
def quiet_on_stdout():
    run = pair([subject(PROGRAM), "callee", "3", "0"], how="run", expect=0)
    equal("stdout", run.stdout, b"callee 3\n")
    check(run.stderr, "no report on stderr")


@case
def last_profile_is_kept():
    place = new_dir() + "/p"
    for n in (3, 4):
        done = subprocess.run([CMD, "run", "-o", place, "--", subject(PROGRAM), "callee", str(n),
                               "0"], env=base_env(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        equal("status", done.returncode, 0)
    equal("new", calls(Run(place, place, []).report(), "work_add"), 4)
    equal("old", calls(Run(place, place + ".old", []).report(), "work_add"), 3)


@case
def interrupt_reaches_the_target():
    """Ctrl-C in a terminal: the whole group gets SIGINT; battprof waits for the target."""
    process, run = start(["sh", "-c", "trap 'echo caught; exit 3' INT; echo ready; "
                          "while :; do sleep 0.05; done"], True, how="run",
                         start_new_session=True)
    equal("ready", process.stdout.readline(), b"ready\n")
    os.killpg(process.pid, signal.SIGINT)
    finish(process, run, timeout=10)
    equal("stdout", run.stdout, b"caught\n")
    equal("status", run.status, 3)


main()
