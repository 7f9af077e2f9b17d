# SPDX-License-Identifier: MIT
"""The lists of intercepted functions against the real libraries, and a machine without a driver. What
is not installed is skipped, visibly."""
import os
import re
import shutil
import subprocess

from device import says
from harness import Skip, case, check, equal, execute, main, subject
from truth import ROOT

# Gone in CUDA 13.
OLD = {"cudaLaunch", "cudaLaunchCooperativeKernelMultiDevice", "cudaThreadSynchronize"}


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


@case
def static_runtime_without_driver():
    """As a program with a static runtime: it opens libcuda.so.1 itself, in vain."""
    if os.path.exists("/dev/nvidiactl") or shutil.which("nvidia-smi"):
        raise Skip("this machine has a driver")
    run = execute([subject("cuda_driver")], True)
    equal("status", run.status, 77)
    says(run.report(), "no CUDA driver")


main()
