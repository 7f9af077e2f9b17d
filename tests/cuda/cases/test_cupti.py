# SPDX-License-Identifier: MIT
"""The lists of intercepted functions against the real libraries, and a machine without a driver. What
is not installed is skipped, visibly."""
import os
import re
import shutil
import subprocess

from harness.device import SIM, says
from harness import Skip, calls, case, check, equal, execute, main, new_dir, pair, subject
from harness.truth import ROOT

# Gone in CUDA 13.
OLD = {"cudaLaunch", "cudaLaunchCooperativeKernelMultiDevice", "cudaThreadExit",
       "cudaThreadGetLimit", "cudaThreadSetLimit", "cudaThreadSynchronize"}


def exports(path):
    done = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True)
    equal("nm", done.returncode, 0)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


@case
def names():
    """The lists are sorted, as the search in them needs, and every name exists."""
    known = None
    for path, real in (("runtime_api.def", "/usr/local/cuda/lib64/libcudart.so.13"),
                       ("driver_api.def", "/usr/local/cuda/lib64/stubs/libcuda.so")):
        with open(os.path.join(ROOT, "cuda", path)) as f:
            listed = re.findall(r"^X\((\w+), \w+\)$", f.read(), re.M)
        equal(path, listed, sorted(listed))
        check(len(listed) > 80, "%s: %d names" % (path, len(listed)))
        if os.path.exists(real):
            known = exports(real)
            equal(path, set(listed) - known - OLD, set())
    if known is None:
        raise Skip("no CUDA 13 libraries to compare with")


def nvcc():
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(found):
        raise Skip("nvcc is not installed")
    return found


@case
def static_runtime():
    """A real one, linked by nvcc. It refuses the simulated driver, which cannot prove that it is
    NVIDIA's; until then its calls are seen, and it says the same with and without us."""
    program = os.path.join(new_dir(), "static")
    source = os.path.join(ROOT, "tests", "cuda", "subjects", "static.cu")
    done = subprocess.run([nvcc(), "-o", program, source], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Skip("nvcc does not work here: %s" % done.stderr[:300])
    run = pair([program], env={"LD_LIBRARY_PATH": SIM}, expect=5)
    check(run.stdout.count(b"cudaErrorNotSupported") == 5, run.stdout)
    equal("cuInit", calls(run.report(), "cuInit", "libcuda.so.1"), 1)
    run = execute([program], True, how="run", options=["--device", "sim:t4"])
    says(run.report(), "--device sim:t4 was not used")
    check(b"simulated" not in run.stderr, "a device in the headline: %s" % run.stderr)
    if os.path.exists("/dev/nvidiactl"):
        return
    run = pair([program], expect=5)
    check(run.stdout.count(b"cudaErrorInsufficientDriver") == 5, run.stdout)
    says(run.report(), "no CUDA driver")


@case
def driver_by_address_without_driver():
    """As a program with a static runtime: it opens libcuda.so.1 itself, in vain."""
    if os.path.exists("/dev/nvidiactl") or shutil.which("nvidia-smi"):
        raise Skip("this machine has a driver")
    run = execute([subject("cuda_driver")], True)
    equal("status", run.status, 77)
    says(run.report(), "no CUDA driver")


main()
