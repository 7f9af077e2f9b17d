# SPDX-License-Identifier: MIT
"""battprof run with the options about CUDA: what they set reaches the target and its children."""
import subprocess

from harness.device import fine, on_device
from harness import CMD, PYTHON, base_env, case, check, equal, execute, main, new_dir, subject


def run_on_device(*options, mode="kernels"):
    run = on_device(["cuda_device", mode], how="run", options=["-q", "--device", "sim:t4"] +
                    list(options), env={"LD_LIBRARY_PATH": None, "BATTPROF_SIM": None})
    fine(run)
    return run.report()


@case
def defaults():
    report = run_on_device()
    equal("mode", report["cuda"]["mode"], "full")
    equal("kernels", sum(k["count"] for k in report["kernels"]), 24)
    check(report["device"]["simulated"], "not said to be simulated")


@case
def modes():
    equal("mode", run_on_device("--cuda=transfers")["cuda"]["mode"], "transfers")
    equal("mode", run_on_device("--cuda", "wrappers")["cuda"]["mode"], "wrappers")
    equal("CUDA", run_on_device("--cuda=off").get("cuda"), None)


@case
def the_driver_alone():
    """A program without a runtime uses the simulated device, too, and no note says otherwise."""
    run = on_device(["cuda_driver"], how="run", options=["-q", "--device", "sim:t4"],
                    env={"LD_LIBRARY_PATH": None, "BATTPROF_SIM": None})
    equal("output", (run.status, run.stdout), (0, b"errors 0\n"))
    report = run.report()
    check(report["transfers"]["h2d"]["count"] > 0, "no copies")
    check(not any("was not used" in note for note in report["notes"]), report["notes"])


@case
def contents():
    report = run_on_device("--check-transfers", mode="content")
    equal("duplicates", sum(r["duplicates"] for r in report["transfer_list"]), 8)
    check(any("copies to the device 8 repeated an earlier one" in note for note in report["notes"]),
          report["notes"])


@case
def wrong_mode():
    done = subprocess.run([CMD, "run", "--cuda=fast", "--", "true"], stderr=subprocess.PIPE,
                          env=base_env(), cwd=new_dir(), text=True)
    equal("status", done.returncode, 125)
    check("write full, transfers, wrappers or off" in done.stderr, done.stderr)


@case
def a_python_program_and_its_child():
    """libcudart comes with dlopen, its functions with dlsym; the child inherits what it needs."""
    script = """
import ctypes, subprocess, sys
runtime = ctypes.CDLL("libcudart.so.12")
device = ctypes.c_void_p()
host = ctypes.create_string_buffer(1 << 20)
errors = runtime.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(1 << 20))
for i in range(5):
    errors += runtime.cudaMemcpy(device, host, ctypes.c_size_t(1 << 20), 1)
sys.stdout.flush()
print("ok" if errors == 0 else errors)
sys.exit(subprocess.call([%r, "pinned"], stdout=subprocess.DEVNULL))
""" % subject("cuda_device")
    run = execute([PYTHON, "-c", script], True, how="run",
                  options=["-q", "--device", "sim:t4"])
    fine(run)
    report = run.report()
    equal("copies", report["transfers"]["h2d"]["count"], 5 + 12)
    check("device records" not in " ".join(report["notes"]), report["notes"])


main()
