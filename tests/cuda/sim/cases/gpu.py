# SPDX-License-Identifier: MIT
"""run_batt --gpu on the simulated device: the same output as without, in every mode and with every
fault, and the copies that each mode promises. gpu.py RUN_BATT SIM_DIR BATTPROF"""
import collections
import json
import os
import subprocess
import sys
import tempfile

TASKS = ["-c", "24", "--seed", "5"]
MODES = ("batch", "naive", "resident")
FAULTS = ("no-driver", "no-privileges", "drop-buffers", "out-of-memory")
problems = []


def check(condition, *what):
    if not condition:
        problems.append(" ".join(map(str, what)))


def environment(folder, **more):
    return {**os.environ, "LD_LIBRARY_PATH": folder, "BATTPROF_SIM": "t4", **more}


def run(command, env=None):
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env,
                          timeout=100)


def read_truth(path):
    """Counts of what the device did, by kind; and every line must be one object."""
    counts, call = collections.Counter(), {}
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file if line != "\n"]
    check(records and records[0]["type"] == "clock", "the truth does not begin with the clocks")
    for record in records:
        if record["type"] == "call":
            call[(record["pid"], record["correlation"])] = record
        counts[record.get("direction", record["type"])] += 1
    for record in records:
        if record["type"] in ("copy", "kernel"):
            by = call.get((record["pid"], record["correlation"]))
            check(by and record["start"] >= by["start"], "work without its call:", record)
            check(record["took"] > 0, "work without length:", record)
    return counts


def check_modes(run_batt, folder, plain):
    truth = {}
    for mode in MODES:
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "truth")
            result = run([run_batt, *TASKS, "--gpu=" + mode],
                         environment(folder, BATTPROF_SIM_TRUTH=path))
            check(result.stdout == plain and not result.returncode, mode, "prints something else")
            check(not result.stderr, mode, "says", result.stderr)
            truth[mode] = read_truth(path)
            print(mode, dict(truth[mode]))
    batch, naive, resident = (truth[mode] for mode in MODES)
    check(batch["h2d"] == batch["d2h"] == batch["kernel"], "batch: a copy each way per kernel")
    check(naive["h2d"] == naive["kernel"] >= 3 * batch["h2d"], "naive: a copy per grid")
    check(resident["kernel"] == batch["kernel"] >= 4 * resident["h2d"], "resident: once per task")


def check_faults(run_batt, folder, plain):
    for fault in FAULTS:
        result = run([run_batt, *TASKS, "--gpu"], environment(folder, BATTPROF_SIM_FAULT=fault))
        check(result.stdout == plain and not result.returncode, fault, "changes the output")
        told = result.stderr.count("the processor does the work")
        check(told == (fault in ("no-driver", "out-of-memory")), fault, "said", result.stderr)
    for how in (["-j", "3"], ["--processes", "2"], ["--processes", "2", "-j", "2"]):
        result = run([run_batt, *TASKS, "--gpu", *how], environment(folder))
        check(result.stdout == plain and not result.stderr, how, "changes the output")


def check_command(battprof, run_batt, plain):
    with tempfile.TemporaryDirectory() as work:
        command = [battprof, "run", "-q", "-o", os.path.join(work, "out"), "--device", "sim:l4",
                   "--", run_batt, *TASKS, "--gpu"]
        truth = os.path.join(work, "truth")
        result = run(command, {**os.environ, "BATTPROF_SIM_TRUTH": truth})
        check(result.stdout == plain and not result.returncode, "run --device:", result.stderr)
        check(os.path.exists(truth) and read_truth(truth)["kernel"] > 50, "no work on the device")
        bad = run([battprof, "run", "--device", "sim:h100", "--", "true"])
        check(bad.returncode == 125 and "sim:t4" in bad.stderr, "a device that is none:", bad)


def main():
    run_batt, folder, battprof = sys.argv[1:4]
    plain = run([run_batt, *TASKS]).stdout
    check("accuracy" in plain, "run_batt does not work")
    check_modes(run_batt, folder, plain)
    check_faults(run_batt, folder, plain)
    check_command(battprof, run_batt, plain)
    print(*problems, sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
