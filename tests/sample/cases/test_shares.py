# SPDX-License-Identifier: MIT
"""Ten functions with 1 to 40 % of the CPU time: after ten seconds every share is within two points
of what the program itself has measured. The samples say how often the kernel let us look."""
import os

from harness import PYTHON, case, check, main
from samples import inclusive, sampled

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = os.environ.get("SAMPLE_SECONDS", "10")
POINTS = 2.0


def check_shares(argv, rate):
    run, samples = sampled(argv + [SECONDS], rate=rate, timeout=120)
    truth = {line.split()[0]: float(line.split()[1]) for line in run.stdout.decode().splitlines()}
    stacks = [s for s in samples.stacks if any(name in truth for name in s.names)]
    weights, total = inclusive(stacks)
    check(len(truth) == 10, "ten functions: %s" % truth)
    got = {name: 100 * weights[name] / total for name in truth}
    for name, share in truth.items():
        print("     %-9s %5.1f %% sampled, %5.1f %% true" % (name, got[name], share))
    wrong = [n for n in truth if abs(got[n] - truth[n]) > POINTS]
    print("     %d samples in %s s of CPU time" % (samples.total("taken"), SECONDS))
    check(not wrong, "off by more than %g points: %s" % (POINTS, wrong))


@case
def native():
    check_shares([os.path.join(os.environ["SAMPLE_BIN"], "sample_shares")], 1000)


@case
def python():
    check_shares([PYTHON, os.path.join(HERE, "subjects", "shares.py")], 1000)


if __name__ == "__main__":
    main()
