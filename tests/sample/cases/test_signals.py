# SPDX-License-Identifier: MIT
"""Programs that use signals, wait for all of them, or have little stack: sampling changes nothing
that they see, and yields to a program that needs its signal."""
import os
import resource
import time

from harness import case, check, equal, execute, finish, main, pair, start
from harness.samples import Samples, sampled

PROGRAM = os.path.join(os.environ["SAMPLE_BIN"], "sample_signals")
ON, STOPPED = 1, 2
MOST = {"BATTPROF_SAMPLE": "1000"}


def both(mode, expect=0):
    """Bare and sampled: the same output; the samples."""
    run = pair([PROGRAM, mode], env=MOST, expect=expect)
    samples = Samples(run)
    samples.check_sums()
    return samples, samples.files[0]["sampler"]


for mode_name in ("asks", "defaults", "sleeps", "small", "alternate"):
    def stays(mode=mode_name):
        samples, sampler = both(mode)
        equal("state", sampler["state"], ON)
        check(sampler["taken"] > 5, "only %d samples" % sampler["taken"])
    stays.__name__ = mode_name
    case(stays)

for mode_name in ("waits", "reads", "suspends"):
    def unseen(mode=mode_name):
        _, sampler = both(mode)
        equal("state", sampler["state"], ON)
    unseen.__name__ = mode_name
    case(unseen)


@case
def takes():
    _, sampler = both("takes")
    equal("state", sampler["state"], STOPPED)
    check("signal" in sampler["reason"], sampler["reason"])
    check(sampler["taken"] > 5, "not sampled before")


@case
def replaces():
    _, sampler = both("replaces")
    equal("state", sampler["state"], STOPPED)
    check("system call" in sampler["reason"], sampler["reason"])


@case
def dies():
    both("dies", expect=-64)


@case
def a_sleeping_program_is_not_woken():
    def status(pid, word):
        with open("/proc/%d/status" % pid) as file:
            return [line for line in file if word in line]

    process, run = start([PROGRAM, "idles"], True, env=MOST)
    equal("first line", process.stdout.readline(), b"idles\n")
    while "S (sleeping)" not in status(process.pid, "State")[0]:
        time.sleep(0.01)
    before = status(process.pid, "ctxt_switches")
    time.sleep(0.7)
    equal("context switches", status(process.pid, "ctxt_switches"), before)
    finish(process, run)
    check(Samples(run).total("taken") < 100, "samples of a sleeping program")


@case
def off():
    run = execute([PROGRAM, "alternate"], True, env={"BATTPROF_SAMPLE": "0"})
    sampler = Samples(run).files[0]["sampler"]
    equal("state, signal, samples", [sampler[k] for k in ("state", "signal", "taken")], [0, 0, 0])


@case
def without_room_for_timers():
    run, samples = sampled([PROGRAM, "asks"],
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0)))
    sampler = samples.files[0]["sampler"]
    equal("threads without a timer", sampler["threads_failed"], 1)
    equal("samples", sampler["taken"], 0)


if __name__ == "__main__":
    main()
