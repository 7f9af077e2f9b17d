# SPDX-License-Identifier: MIT
"""Thousands of sampling signals a second to all threads of programs that do everything at once: no
crash, no deadlock, no lost call or sample. By hand for longer: SAMPLE_SECONDS=600."""
import json
import os
import re

from harness import Skip, check, check_time, equal, execute, main, same_counts, timed
from harness import pythons
from harness.samples import Samples

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ["SAMPLE_BIN"]
SECONDS = float(os.environ.get("SAMPLE_SECONDS", "3"))
LEAST = 20  # signals a second, on a machine that has other things to do


def storm(argv):
    run = execute(argv, True, timeout=4 * SECONDS + 60,
                  env={"BATTPROF_SAMPLE": "1000", "BATTPROF_PYTHON": "storm"})
    check(run.status == 0, "status %s: %s" % (run.status, run.stderr[-500:]))
    check(run.stdout.endswith(b"done\n"), "stdout: %r" % run.stdout[-200:])
    sent = int(re.search(rb"storm: (\d+) signals", run.stderr).group(1))
    if sent == 0:
        raise Skip("no /proc/self/timers: no storm")
    samples = Samples(run)
    samples.check_sums()
    taken = samples.total("taken")
    print("     %d signals sent, %d samples, %d full, %d busy, %d truncated"
          % (sent, taken, samples.total("dropped_full"), samples.total("dropped_busy"),
             sum(sum(f["sampler"]["truncated"]) for f in samples.files)))
    check_time(sent >= LEAST * SECONDS, "a weak storm: %d signals" % sent)
    check_time(taken >= sent / 10, "%d samples of %d signals" % (taken, sent))
    return run, samples


@timed
def native():
    path = os.path.join(BIN, "sample_storm")
    if not os.path.exists(path):
        raise Skip("no C++ compiler")
    run, _ = storm([path, str(SECONDS)])
    same_counts(run, still_open=True)


for _, python_path in pythons.find().items():
    def go(python=python_path):
        run, samples = storm([python, os.path.join(HERE, "subjects", "storm.py"),
                              os.path.join(BIN, "libsamplestorm.so"), str(SECONDS)])
        check_time(samples.having("callbacks"), "no Python functions in the samples")
        truth = json.loads(re.search(rb"storm: calls (.*)", run.stderr).group(1))
        for name, calls in truth.items():
            rows = [f for f in run.report()["functions"] if f["name"] == "storm." + name]
            equal(name, sum(f["calls"] for f in rows), calls)
            equal(name + " aborted", sum(f["aborted"] for f in rows), calls * (name == "fails"))
    go.__name__ = "python of " + python_path
    timed(go)


if __name__ == "__main__":
    main()
