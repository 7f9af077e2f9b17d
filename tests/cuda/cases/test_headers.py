# SPDX-License-Identifier: MIT
"""Our own declarations of CUPTI against NVIDIA's: every number against the headers, sizes of records
against the library that walks over them, and a start without a driver. For the toolkit that is
installed (13) and for Debian's 11.8 and 12.4; what cannot be had is skipped, visibly."""
import os
import re
import shlex
import shutil
import subprocess

from harness.device import SIM, says, timed
from harness import Skip, case, check, check_time, equal, execute, main, new_dir, subject
from harness.toolkit import Cuda, cuda_header
from harness.truth import ROOT

CC = shlex.split(os.environ.get("CC", "cc"))
# Record of cuda/cupti/abi.h: how its structure is called, without the version at the end.
STRUCTURES = {"MEMCPY": "Memcpy", "MEMCPY2": "MemcpyPtoP", "MEMSET": "Memset", "KERNEL": "Kernel",
              "API": "API", "EXTERNAL": "ExternalCorrelation", "OVERHEAD": "Overhead",
              "OVERHEAD3": "Overhead3", "UVM": "UnifiedMemoryCounter"}
# Enumerations there, and what CUPTI puts before their names.
ENUMERATIONS = {"bp_cupti_kind": "CUPTI_ACTIVITY_KIND_",
                "bp_cupti_copy_kind": "CUPTI_ACTIVITY_MEMCPY_KIND_",
                "bp_cupti_overhead_kind": "CUPTI_ACTIVITY_",
                "bp_cupti_result": "CUPTI_ERROR_"}


def newest(text, name):
    versions = re.findall(r"\bCUpti_Activity%s(\d*)\s*;" % name, text)
    check(versions, "no structure CUpti_Activity%s" % name)
    return "CUpti_Activity%s%s" % (name, max(versions, key=lambda v: int(v or 1)))


def assertions(folder):
    with open(os.path.join(folder, "cupti_activity.h")) as f:
        text = f.read()
    with open(os.path.join(ROOT, "cuda", "cupti", "abi.h")) as f:
        abi = f.read()
    for record, field in re.findall(r"X\((\w+), (\w+), \d+, [^)]+\)", abi):
        if record == "OVERHEAD3" and "CUpti_ActivityOverhead3" not in text:
            continue  # came with 12.4
        yield 'offsetof(%s, %s) == BP_CUPTI_AT_%s_%s' % (newest(text, STRUCTURES[record]), field,
                                                         record, field)
    for enumeration, prefix in ENUMERATIONS.items():
        body = abi.split("enum " + enumeration)[1].split("}")[0]
        for name in re.findall(r"\bBP_CUPTI_(\w+) = \d+", body):
            if enumeration == "bp_cupti_overhead_kind" and prefix + name not in text:
                continue
            real = {"SUCCESS": "CUPTI_SUCCESS"}.get(name, prefix + name)
            yield "(int)%s == (int)BP_CUPTI_%s" % (real, name)
    yield "CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 == BP_CUPTI_CORRELATION_CUSTOM2"
    counter = "CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_"
    yield "(int)%sHTOD == (int)BP_CUPTI_UVM_HTOD" % counter
    yield "(int)%sDTOH == (int)BP_CUPTI_UVM_DTOH" % counter
    config = "CUpti_ActivityUnifiedMemoryCounterConfig"
    yield "sizeof(%s) == sizeof(struct bp_cupti_uvm_config)" % config
    for ours, theirs in (("scope", "scope"), ("kind", "kind"), ("device", "deviceId"),
                         ("enable", "enable")):
        yield "offsetof(struct bp_cupti_uvm_config, %s) == offsetof(%s, %s)" % (ours, config, theirs)


def compile_assertions(wanted, includes, folders):
    lines = ["#include <stddef.h>"] + ["#include %s" % name for name in includes]
    lines += ['_Static_assert(%s, "");' % text for text in wanted]
    path = os.path.join(new_dir(), "offsets.c")
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    places = [argument for folder in folders for argument in ("-isystem", folder)]
    done = subprocess.run(CC + ["-fsyntax-only", "-I" + ROOT] + places + [path],
                          stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, "%s: %s" % (folders[0], done.stderr[:1500]))
    print("   %d numbers as in %s" % (len(wanted), folders[0]))


def offsets(version):
    for folder in Cuda(version).includes:
        wanted = list(assertions(folder))
        check(len(wanted) > 60, "only %d numbers compared" % len(wanted))
        compile_assertions(wanted, ("<cupti.h>", '"cuda/cupti/abi.h"'), (folder, cuda_header()))


# Ours of cuda/copy.h, CUDA's, and pairs of their fields; {} is one of both sides, there {}.
SIDE = "{1}.x={0}XInBytes {1}.y={0}Y {1}.type={0}MemoryType {1}.host={0}Host " \
       "{1}.device={0}Device {1}.array={0}Array {1}.pitch={0}Pitch "
DEEP = SIDE + "{1}.z={0}Z {1}.level={0}LOD {1}.height={0}Height "
COPIES = {
    ("bp_cuda_2d", "CUDA_MEMCPY2D"): (SIDE, "width=WidthInBytes height=Height"),
    ("bp_cuda_driver_3d", "CUDA_MEMCPY3D"): (DEEP, "width=WidthInBytes height=Height depth=Depth"),
    ("bp_cuda_driver_3d", "CUDA_MEMCPY3D_PEER"): (DEEP + "{1}.context={0}Context ", "depth=Depth"),
    ("bp_cuda_3d", "struct cudaMemcpy3DParms"): (
        "{1}_array={0}Array {1}_place={0}Pos {1}={0}Ptr.ptr {1}_pitch={0}Ptr.pitch "
        "{1}_height={0}Ptr.ysize ", "width=extent.width height=extent.height kind=kind"),
}


@case
def structures():
    wanted = []
    for (ours, theirs), (side, rest) in COPIES.items():
        pairs = side.format("src", "source") + side.format("dst", "target") + rest
        wanted.append("sizeof(struct %s) == sizeof(%s)" % (ours, theirs))
        for pair in pairs.split():
            wanted.append("offsetof(struct %s, %s) == offsetof(%s, %s)"
                          % (ours, pair.split("=")[0], theirs, pair.split("=")[1]))
    compile_assertions(wanted, ("<cuda.h>", "<cuda_runtime_api.h>", '"cuda/copy.h"'),
                       (cuda_header(),))


def functions(library):
    done = subprocess.run(["objdump", "-T", library], stdout=subprocess.PIPE, text=True, check=True)
    return set(re.findall(r"\.text\s+\S+\s+\S+\s+(\w+)$", done.stdout, re.M))


def exports(version):
    """A program that runs with the real runtime finds all that it needs in the simulated device."""
    real = Cuda(version).libraries("cudart")
    ours = os.path.join(SIM, os.path.basename(real))
    wanted = functions(real)
    check(len(wanted) > 300, "%s: only %d functions" % (real, len(wanted)))
    equal("functions that the simulated device lacks", sorted(wanted - functions(ours)), [])


def strides(version):
    """Buffers made by hand go through the real cuptiActivityGetNextRecord, which needs no driver."""
    cuda = Cuda(version)
    real = cuda.libraries("cupti")
    done = subprocess.run([subject("cuda_strides"), real, cuda.generation], text=True,
                          stdout=subprocess.PIPE, env={"LD_LIBRARY_PATH": os.path.dirname(real)})
    equal("status", done.returncode, 0)
    rows = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    check(len(rows) >= 12, "kinds: %r" % rows)
    for kind, size, stride, count in rows:
        check((stride, count) == (size, 5), "kind %d: %d bytes here, %d there, %d records of 5"
              % (kind, size, stride, count))
    print("   %d kinds of records as %s finds them" % (len(rows), os.path.basename(real)))


def build(directory, runtime):
    source = os.path.join(ROOT, "tests", "cuda", "subjects", "without_driver.c")
    path = os.path.join(directory, "without_driver")
    done = subprocess.run(CC + ["-o", path, source, runtime, "-Wl,-rpath," +
                                os.path.dirname(runtime)], stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, done.stderr[:1000])
    return path


def first_call(run):
    took, threads = run.text("first").split()
    return float(took), int(threads)


def make_driver(directory):
    """A libcuda.so.1 that has nothing in it."""
    path = os.path.join(directory, "libcuda.so.1")
    done = subprocess.run(CC + ["-shared", "-x", "c", "/dev/null", "-o", path,
                                "-Wl,-soname,libcuda.so.1"], stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, done.stderr[:1000])


def start(version, driver):
    """Without a driver libcupti is not opened; with one that does not work it is, and refuses."""
    if os.path.exists("/dev/nvidiactl") or shutil.which("nvidia-smi"):
        raise Skip("this machine has a driver")
    cuda = Cuda(version)
    directory = new_dir()
    path = build(directory, cuda.libraries("cudart"))
    if driver:
        make_driver(directory)
    env = {"LD_LIBRARY_PATH": directory + ":" + os.path.dirname(cuda.libraries("cupti"))}
    bare = execute([path], False, env=env)
    run = execute([path], True, env=env)
    for what in ("status", "stdout", "stderr"):
        equal(what, getattr(run, what), getattr(bare, what))
    report = run.report()
    says(report, "no CUDA driver")
    plain, _ = first_call(bare)
    took, threads = first_call(run)
    equal("threads", threads, 1)
    # Some versions of libcupti start a thread and wait for it: on a busy machine that takes long.
    check_time(driver or took - plain < 20000,
               "the first call took %.1f ms more" % ((took - plain) / 1000))
    print("   first call %.2f ms, bare %.2f ms" % (took / 1000, plain / 1000))


def without_driver(version):
    start(version, False)


def broken_driver(version):
    start(version, True)


def register(version):
    for function, mark in ((offsets, case), (strides, case), (exports, case), (without_driver, timed),
                           (broken_driver, timed)):
        def go(function=function):
            function(version)
        go.__name__ = "%s_%s" % (function.__name__, version)
        mark(go)


for name in ("13", "12.4", "11.8"):
    register(name)
main()
