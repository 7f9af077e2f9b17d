# SPDX-License-Identifier: MIT
"""run_batt --gpu under the profiler, in each generation of the simulated device and with each
fault: the same output as without, a report that fits 80 columns and says what is missing. faults.py
RUN_BATT SIM_DIR BATTPROF"""
import os
import re
import subprocess
import sys
import tempfile

TASKS = ["-c", "4", "--seed", "5"]
GENERATIONS = {"11": ("libcudart.so.11.0", "libcupti.so.11.8"),
               "12": ("libcudart.so.12", "libcupti.so.12"),
               "13": ("libcudart.so.13", "libcupti.so.13")}
COPIES = r"\n  h2d pinned +\d+ "
# fault: what the report says, and whether it has copies that the device told of
SAYS = {
    None: (r"simulated device T4", True),
    "no-driver": (r"no CUDA driver; no GPU was used", False),
    "no-privileges": (r"insufficient privileges \(CUPTI error 35;", False),
    "drop-buffers": (r"\d+ device records were dropped by CUPTI", None),
    "stolen-callback": (r"another tool has taken CUPTI's callbacks", None),
    "late-records": (r"simulated device T4", True),
    "hang-flush": (r"CUPTI did not return from a flush", None),
    "out-of-memory": (r"dsl: --gpu: the device failed", False),
    "no-migrations": (r"simulated device T4", True),
    "single-device": (r"simulated device T4", True),
    "late-calls": (r"simulated device T4", True),
    "no-times": (r"\d+ device records were dropped by CUPTI or had no times", True),
}
UNSEEN_S = 0.05  # a page that had to come from a busy disk; what a fault holds up is longer
NOISE = 3  # the exit status if times alone are wrong, as in tests/harness/__init__.py
TRIES = 3  # if times alone are wrong
problems, noise = [], []


def check(condition, *what):
    if not condition:
        problems.append(" ".join(map(str, what)))


def stolen_s():
    """Seconds in which the host ran something else on our CPUs. The kernel takes them out of a
    thread's CPU time and does not call them waiting: to us the thread was blocked."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = file.readline().split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else 0


def make_folder(work, sim, generation):
    """Only the libraries of one generation; an empty file in place of newer ones, which a toolkit may
    have, is what the loader stops at."""
    folder = os.path.join(work, generation)
    os.mkdir(folder)
    for name in ("libbattprofsim.so", "libcuda.so.1") + GENERATIONS[generation]:
        os.symlink(os.path.join(sim, name), os.path.join(folder, name))
    for other, names in GENERATIONS.items():
        if other > generation:
            open(os.path.join(folder, names[0]), "w").close()
    return folder


def look_at(generation, fault, result, plain):
    """Facts; returns the seconds of threads that were blocked out of sight."""
    name = "%s %s:" % (generation, fault)
    pattern, copies = SAYS[fault]
    text = re.sub(r"\n +", " ", result.stderr)  # as if nothing had been wrapped
    check(result.returncode == 0 and result.stdout == plain, name, "another output", result.stderr)
    check(re.search(pattern, text), name, "does not say", pattern, result.stderr)
    check(GENERATIONS[generation][0] in text, name, "used another runtime")
    if copies is not None:
        check(bool(re.search(COPIES, result.stderr)) == copies, name, "copies", result.stderr)
    for line in result.stderr.splitlines():
        check(len(line) <= 80, name, "a line of", len(line), line)
    return sum(map(float, re.findall(r"cannot see for ([\d.]+) s", text)))


def run(command, env, generation, fault, plain):
    for n in range(1, TRIES + 1):
        before = stolen_s()
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=env,
                                timeout=60)
        unseen = look_at(generation, fault, result, plain)
        words = "%s_%s: %.2f s are nobody's, %.2f s were stolen" % (generation, fault, unseen,
                                                                    stolen_s() - before)
        if problems or unseen <= UNSEEN_S + stolen_s() - before:
            return
        if n < TRIES:
            print("   retry " + words, flush=True)  # for tools/check_summary.py
    noise.append(words + "\n" + result.stderr)


def main():
    run_batt, sim, battprof = sys.argv[1:4]
    plain = subprocess.run([run_batt, *TASKS], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as work:
        for generation in GENERATIONS:
            folder = make_folder(work, sim, generation)
            for fault in SAYS:
                env = {**os.environ, "LD_LIBRARY_PATH": folder, "BATTPROF_SIM": "t4",
                       "BATTPROF_SIM_FAULT": fault or ""}
                command = [battprof, "run", "-o", os.path.join(work, "profile"), "--", run_batt,
                           *TASKS, "--gpu"]
                run(command, env, generation, fault, plain)
    print(*problems, *noise, sep="\n")
    sys.exit(1 if problems else NOISE if noise else 0)


if __name__ == "__main__":
    main()
