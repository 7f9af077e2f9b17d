# SPDX-License-Identifier: MIT
"""Advice on copies: the planted problem comes first, with the saving that fixing it measures."""
from device import fine, on_device, timed
from harness import case, check, equal, main

COUNT = 16384


def best(*argv):
    return min((once(*argv) for _ in range(2)), key=program)


def once(*argv):
    done = on_device([str(word) for word in argv], how="run",
                     options=["-q", "--device", "sim:t4"],
                     env={"LD_LIBRARY_PATH": None, "BATTPROF_SIM": None})
    fine(done)
    return done.report()


def program(report):
    """Seconds without the profiler's own cost, of which more calls have more."""
    return report["wall_s"] - report["overhead_wall_s"]


@timed
def small_copies():
    small, gathered = best("cuda_small", COUNT, 1), best("cuda_small", COUNT, 512)
    first = next(row for row in small["advice"] if row["level"] != "warning")
    check("{:,} small copies".format(COUNT) in first["what"], "first: %r" % first)
    measured = program(small) - program(gathered)
    check(abs(first["saves_s"] - measured) <= 0.1 * measured,
          "saves %.4f s, fixing it saved %.4f s" % (first["saves_s"], measured))


@timed
def pageable_copies_of_threads():
    """What four threads that wait for the device would save is wall, not four times as much."""
    slow, fast = best("cuda_pump", 4, "pageable"), best("cuda_pump", 4, "pinned")
    saves = [row["saves_s"] for row in slow["advice"] if "use pageable memory" in row["what"]]
    equal("findings", len(saves), 1)
    measured = program(slow) - program(fast)
    check(abs(saves[0] - measured) <= 0.25 * measured,
          "saves %.4f s, fixing it saved %.4f s" % (saves[0], measured))


@case
def idle_device():
    report = once("cuda_small", 16, 1)
    idle = 100 * (1 - report["devices"][0]["busy_s"] / report["wall_s"])
    equal("remarks", [row["what"] for row in report["advice"] if row["level"] == "remark"],
          ["the simulated Tesla T4 was idle for %.1f %% of the wall" % idle])


main()
