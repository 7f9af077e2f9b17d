# SPDX-License-Identifier: MIT
"""The target ends as it would have ended, and sees nothing of us."""
import resource

from harness import *

PROGRAM = "e2e_safety"


def ends(mode, status):
    def go():
        counted([subject(PROGRAM), mode], expect=status, still_open=True)
    go.__name__ = "ends_by_" + mode
    case(go)


ends("exit_code", 42)
ends("exit_inside", 43)
ends("quit_inside", 44)
ends("segv", -signal.SIGSEGV)
ends("abort", -signal.SIGABRT)
ends("fpe", -signal.SIGFPE)
ends("term", -signal.SIGTERM)
ends("killed", -signal.SIGKILL)
ends("sigpipe", -signal.SIGPIPE)


@case
def ends_the_same_under_battprof_run():
    for mode, status in (("exit_code", 42), ("quit_inside", 44), ("segv", -signal.SIGSEGV),
                         ("term", -signal.SIGTERM), ("killed", -signal.SIGKILL)):
        pair([subject(PROGRAM), mode], how="run", expect=status)


@case
def exit_status_is_reported():
    run = pair([subject(PROGRAM), "exit_code"], expect=42)
    equal("exit_status", run.report()["exit_status"], 42)


@case
def open_calls_are_named():
    run = pair([subject(PROGRAM), "quit_inside"], expect=44)
    names = [item["function"] for item in run.report()["in_flight"]]
    equal("in flight", names.count("work_nest"), 4)


@case
def errno_is_kept():
    counted([subject(PROGRAM), "errno"])


@case
def descriptors():
    counted([subject(PROGRAM), "descriptors"])


@case
def handlers_masks_threads():
    pair([subject(PROGRAM), "mask"], expect=0)


@case
def stdin_and_stdout():
    data = bytes(range(256)) * 4096
    counted([subject(PROGRAM), "echo"], data=data)


@case
def five_lines_on_stderr():
    run = execute([subject(PROGRAM), "exit_code"], True, env={"BATTPROF_QUIET": None})
    lines = run.stderr.decode().splitlines()
    equal("status", run.status, 42)
    equal("stdout", run.stdout, b"")
    equal("lines", len(lines), 5)
    check("battprof" in lines[0], "first line: %r" % lines[0])
    check(all(len(line) <= 160 for line in lines), "a line is too long: %r" % lines)


@case
def off_is_silent():
    run = pair([subject(PROGRAM), "exit_code"], env={"BATTPROF": "off", "BATTPROF_QUIET": None},
               expect=42)
    equal("files", run.files(), [])


@case
def empty_environment():
    directory = new_dir()
    bare = subprocess.run([subject(PROGRAM), "exit_code"], env={}, cwd=directory,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    profiled = subprocess.run([subject(PROGRAM), "exit_code"], env={"LD_PRELOAD": LIB},
                              cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal("status", profiled.returncode, bare.returncode)
    equal("stdout", profiled.stdout, bare.stdout)
    run = Run(directory, directory, [])
    equal("files", len(run.files()), 1)  # in the working directory
    equal("work_add", calls(run.report(), "work_add"), 17)


def closed(*fds):
    def go():
        def close():
            for fd in fds:
                os.close(fd)
        run = pair([subject(PROGRAM), "closed"], preexec_fn=close, stdin=None, stdout=None,
                   stderr=None, expect=min(fds))
        same_counts(run, still_open=True)
        equal("file", run.text("made"), str(min(fds)))
    go.__name__ = "closed_" + "".join(str(fd) for fd in fds)
    case(go)


closed(0)
closed(1)
closed(2)
closed(0, 1, 2)


def limited(name, limit, value, mode="limits", counts=False):
    def go():
        def lower():
            resource.setrlimit(limit, (value, value))
        # When a limit keeps us from working we say so in one line on stderr.
        run = pair([subject(PROGRAM), mode], preexec_fn=lower, stderr=False, expect=0)
        lines = run.stderr.decode().splitlines()
        check(len(lines) <= 1, "more than one line on stderr: %r" % lines)
        if counts:
            same_counts(run)
    go.__name__ = name
    case(go)


for megabytes in (10, 16, 24, 32, 64, 256):
    limited("address_space_%dM" % megabytes, resource.RLIMIT_AS, megabytes << 20)
for files in (4, 5, 8):
    limited("open_files_%d" % files, resource.RLIMIT_NOFILE, files, counts=True)
limited("file_size_0", resource.RLIMIT_FSIZE, 0, mode="no_file_size")
limited("file_size_8K", resource.RLIMIT_FSIZE, 8192, mode="no_file_size")
limited("file_size_1M", resource.RLIMIT_FSIZE, 1 << 20, mode="no_file_size")
limited("file_size_signal", resource.RLIMIT_FSIZE, 0, mode="limits")
limited("stack_256K", resource.RLIMIT_STACK, 256 << 10, counts=True)
limited("locked_memory_0", resource.RLIMIT_MEMLOCK, 0, counts=True)


@case
def working_directory_removed():
    run = pair([subject(PROGRAM), "no_directory"], expect=0)
    # The program that the child executes begins in no directory and so finds no counters file:
    # 10 of the parent, 5 of the child, 17 of that program.
    equal("work_add", calls(run.report(), "work_add"), 32)


@case
def sentence_for_a_missing_command():
    done = subprocess.run([CMD, "run", "-o", new_dir() + "/p", "--", "no-such-command"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=base_env())
    equal("status", done.returncode, 127)
    lines = done.stderr.decode().splitlines()
    check(lines and "no-such-command" in lines[0], "stderr: %r" % lines)
    equal("stdout", done.stdout, b"")


main()
