# SPDX-License-Identifier: MIT
"""Our own declarations of CUPTI against the real headers, and the real libcupti on a machine without
a driver. What is not installed is skipped, visibly."""
import glob
import os
import re
import shlex
import shutil
import subprocess

from device import says
from harness import Skip, case, check, equal, execute, main, new_dir, subject, timed
from truth import ROOT

CC = shlex.split(os.environ.get("CC", "cc"))
# Record of cuda/cupti_abi.h: how its structure is called, without the version at the end.
STRUCTURES = {"MEMCPY": "Memcpy", "MEMCPY2": "MemcpyPtoP", "MEMSET": "Memset", "KERNEL": "Kernel",
              "API": "API", "EXTERNAL": "ExternalCorrelation", "OVERHEAD": "Overhead",
              "UVM": "UnifiedMemoryCounter"}


def headers():
    found = [os.path.dirname(p) for d in ("/usr/local/cuda*", "/usr/lib/cuda*", "/opt/cuda*", "/usr")
             for p in glob.glob(os.path.join(d, "include", "cupti_activity.h"))]
    home = os.environ.get("CUDA_HOME")
    if home:
        found += [os.path.dirname(p) for p in glob.glob(home + "/**/cupti_activity.h",
                                                        recursive=True)]
    return sorted({os.path.realpath(p) for p in found})


def library(name):
    for place in ("/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64",
                  "/usr/lib/x86_64-linux-gnu"):
        path = os.path.join(place, name)
        if os.path.exists(path):
            return path
    raise Skip("%s is not installed" % name)


def newest(text, name):
    versions = re.findall(r"\bCUpti_Activity%s(\d*)\s*;" % name, text)
    check(versions, "no structure CUpti_Activity%s" % name)
    return "CUpti_Activity%s%s" % (name, max(versions, key=lambda v: int(v or 1)))


def program(folder):
    with open(os.path.join(folder, "cupti_activity.h")) as f:
        text = f.read()
    with open(os.path.join(ROOT, "cuda", "cupti_abi.h")) as f:
        abi = f.read()
    lines = ["#include <stddef.h>", "#include <cupti.h>", '#include "cuda/cupti_abi.h"']
    count = 0
    for record, field in re.findall(r"X\((\w+), (\w+), \d+, [^)]+\)", abi):
        lines.append('_Static_assert(offsetof(%s, %s) == BP_CUPTI_AT_%s_%s, "%s.%s");' % (
            newest(text, STRUCTURES[record]), field, record, field, record, field))
        count += 1
    for kind in re.findall(r"^    BP_CUPTI_(\w+) = \d+,? ?", abi.split("enum bp_cupti_kind")[1]
                           .split("}")[0], re.M):
        lines.append('_Static_assert((int)CUPTI_ACTIVITY_KIND_%s == (int)BP_CUPTI_%s, "%s");'
                     % (kind, kind, kind))
        count += 1
    for kind in re.findall(r"BP_CUPTI_(\w+) = \d+", abi.split("enum bp_cupti_copy_kind")[1]
                           .split("}")[0]):
        lines.append('_Static_assert((int)CUPTI_ACTIVITY_MEMCPY_KIND_%s == (int)BP_CUPTI_%s, "");'
                     % (kind, kind))
        count += 1
    lines.append('_Static_assert(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 == '
                 'BP_CUPTI_CORRELATION_CUSTOM2, "");')
    lines.append("int main(void) { return 0; }")
    return "\n".join(lines) + "\n", count


@case
def offsets():
    places = headers()
    if not places:
        raise Skip("no CUPTI headers are installed")
    for folder in places:
        source, count = program(folder)
        check(count > 40, "only %d numbers compared" % count)
        path = os.path.join(new_dir(), "offsets.c")
        with open(path, "w") as f:
            f.write(source)
        done = subprocess.run(CC + ["-fsyntax-only", "-I" + ROOT, "-isystem", folder, path],
                              stderr=subprocess.PIPE, text=True)
        check(done.returncode == 0, "%s: %s" % (folder, done.stderr[:1500]))


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
def strides():
    real = library("libcupti.so.13")
    done = subprocess.run([subject("cuda_strides"), real], stdout=subprocess.PIPE, text=True,
                          env={"LD_LIBRARY_PATH": os.path.dirname(real)})
    equal("status", done.returncode, 0)
    rows = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    check(len(rows) >= 10, "kinds: %r" % rows)
    for kind, size, stride, count in rows:
        check((stride, count) == (size, 5), "kind %d: %d bytes here, %d there, %d records of 5"
              % (kind, size, stride, count))


def build(directory):
    runtime = library("libcudart.so.13")
    library("libcupti.so.13")
    source = os.path.join(ROOT, "tests", "cuda", "subjects", "without_driver.c")
    path = os.path.join(directory, "without_driver")
    done = subprocess.run(CC + ["-o", path, source, runtime, "-Wl,-rpath," +
                                os.path.dirname(runtime)], stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, done.stderr[:1000])
    return path


def first_call(run):
    with open(os.path.join(run.dir, "first")) as f:
        took, threads = f.read().split()
    return float(took), int(threads)


@timed
def real_libcupti_without_driver():
    if os.path.exists("/dev/nvidiactl") or shutil.which("nvidia-smi"):
        raise Skip("this machine has a driver")
    path = build(new_dir())
    bare = execute([path], False)
    run = execute([path], True)
    for what in ("status", "stdout", "stderr"):
        equal(what, getattr(run, what), getattr(bare, what))
    report = run.report()
    says(report, "no CUDA driver")
    plain, _ = first_call(bare)
    took, threads = first_call(run)
    equal("threads", threads, 1)
    check(took - plain < 20000, "the first call took %.1f ms more" % ((took - plain) / 1000))
    print("   first call %.2f ms, bare %.2f ms" % (took / 1000, plain / 1000))



@case
def static_runtime_without_driver():
    """As a program with a static runtime: it opens libcuda.so.1 itself, in vain."""
    if os.path.exists("/dev/nvidiactl") or shutil.which("nvidia-smi"):
        raise Skip("this machine has a driver")
    run = execute([subject("cuda_driver")], True)
    equal("status", run.status, 77)
    says(run.report(), "no CUDA driver")


main()
