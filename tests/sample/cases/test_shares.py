# SPDX-License-Identifier: MIT
"""Ten functions with 1 to 40 % of the CPU time: every share is what the program itself has measured,
within what chance does to that many samples. The kernel's clock says how many there are."""
import os

from harness import PYTHON, check, main, timed
from harness.samples import check_share, inclusive, sampled

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECONDS = os.environ.get("SAMPLE_SECONDS", "10")


def check_shares(argv, rate):
    run, samples = sampled(argv + [SECONDS], rate=rate, timeout=120)
    truth = {line.split()[0]: float(line.split()[1]) for line in run.stdout.decode().splitlines()}
    stacks = [s for s in samples.stacks if any(name in truth for name in s.names)]
    weights, total = inclusive(stacks)
    check(len(truth) == 10, "ten functions: %s" % truth)
    got = {name: 100 * weights[name] / total for name in truth}
    for name, share in truth.items():
        print("     %-9s %5.1f %% sampled, %5.1f %% true" % (name, got[name], share))
        check_share(name, got[name], share, sum(stack.count for stack in stacks))
    print("     %d samples in %s s of CPU time" % (samples.total("taken"), SECONDS))


@timed
def native():
    check_shares([os.path.join(os.environ["SAMPLE_BIN"], "sample_shares")], 1000)


@timed
def python():
    check_shares([PYTHON, os.path.join(HERE, "subjects", "shares.py")], 1000)


if __name__ == "__main__":
    main()
