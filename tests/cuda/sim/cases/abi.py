# SPDX-License-Identifier: MIT
"""The simulated libraries have the ABI of the real ones, as far as those are installed.

abi.py exports SIM_DIR            names and version nodes
abi.py headers ROOT COMPILER...   records and cudaDeviceProp against the toolkit's headers
abi.py nvcc SIM_DIR KERNELS SUBJECT...    unmodified programs, compiled by nvcc"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
LIBRARIES = ("libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13",
             "libcupti.so.11.8", "libcupti.so.12", "libcupti.so.13")


def toolkits():
    places = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"] + glob.glob("/usr/local/cuda-*")
    return [place for place in places if place and os.path.isdir(place)]


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIP)


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def exports(library):
    """{name: version node}"""
    found = {}
    for line in run(["objdump", "-T", library]).stdout.splitlines():
        match = re.search(r"\.text\s+\S+\s+\(?(\S+?)\)?\s+(\w+)$", line)
        if match:
            found[match.group(2)] = match.group(1)
    return found


def find_real(soname):
    folders = [f"{kit}/{sub}" for kit in toolkits()
               for sub in ("lib64", "lib", "extras/CUPTI/lib64")] + ["/usr/lib/x86_64-linux-gnu"]
    paths = [os.path.join(folder, soname) for folder in folders]
    return next((path for path in paths if os.path.exists(path)), None)


def check_exports(folder):
    problems, compared = [], 0
    for soname in LIBRARIES:
        ours = exports(os.path.join(folder, soname))
        problems += [f"{soname}: {name} has the version {node}" for name, node in ours.items()
                     if node != soname]
        if len(ours) < 20:
            problems.append(f"{soname}: only {len(ours)} exports")
        dynamic = run(["readelf", "-d", os.path.join(folder, soname)]).stdout
        if f"soname: [{soname}]" not in dynamic:
            problems.append(f"{soname}: has another soname")
        real = find_real(soname)
        if not real:
            print(f"{soname}: no real one here to compare with")
            continue
        compared += 1
        theirs = exports(real)
        problems += [f"{soname}: {name}@{node} is not in {real}" for name, node in ours.items()
                     if theirs.get(name) != node]
        print(f"{soname}: {len(ours)} of the {len(theirs)} exports of {real}")
    return problems


# Our structure, CUPTI's, and pairs of field names.
RECORDS = {
    ("bp_cupti_memcpy", "CUpti_ActivityMemcpy6"):
        "kind=kind copy=copyKind source=srcKind target=dstKind flags=flags bytes=bytes start=start "
        "end=end device=deviceId context=contextId stream=streamId correlation=correlationId "
        "runtime_correlation=runtimeCorrelationId node=graphNodeId graph=graphId channel=channelID",
    ("bp_cupti_memcpy2", "CUpti_ActivityMemcpyPtoP4"):
        "kind=kind copy=copyKind bytes=bytes start=start end=end device=deviceId stream=streamId "
        "source_device=srcDeviceId source_context=srcContextId target_device=dstDeviceId "
        "target_context=dstContextId correlation=correlationId node=graphNodeId graph=graphId",
    ("bp_cupti_memset", "CUpti_ActivityMemset4"):
        "kind=kind value=value bytes=bytes start=start end=end device=deviceId context=contextId "
        "stream=streamId correlation=correlationId flags=flags memory=memoryKind "
        "node=graphNodeId graph=graphId",
    ("bp_cupti_kernel", "CUpti_ActivityKernel10"):
        "kind=kind registers=registersPerThread start=start end=end completed=completed "
        "device=deviceId context=contextId stream=streamId grid=gridX block=blockX "
        "dynamic_shared=dynamicSharedMemory correlation=correlationId grid_id=gridId name=name "
        "node=graphNodeId graph=graphId",
    ("bp_cupti_api", "CUpti_ActivityAPI"):
        "kind=kind cbid=cbid start=start end=end process=processId thread=threadId "
        "correlation=correlationId result=returnValue",
    ("bp_cupti_sync", "CUpti_ActivitySynchronization2"):
        "kind=kind type=type start=start end=end correlation=correlationId context=contextId "
        "stream=streamId event=cudaEventId",
    ("bp_cupti_external", "CUpti_ActivityExternalCorrelation"):
        "kind=kind external_kind=externalKind external=externalId correlation=correlationId",
    ("bp_cupti_memory", "CUpti_ActivityMemory4"):
        "kind=kind operation=memoryOperationType memory=memoryKind correlation=correlationId "
        "address=address bytes=bytes timestamp=timestamp process=processId device=deviceId "
        "context=contextId stream=streamId name=name async=isAsync",
    ("bp_cupti_overhead", "CUpti_ActivityOverhead3"):
        "kind=kind overhead=overheadKind object_kind=objectKind process=objectId start=start end=end "
        "correlation=correlationId data=overheadData",
    ("bp_cupti_migration", "CUpti_ActivityUnifiedMemoryCounter3"):
        "kind=kind counter=counterKind bytes=value start=start end=end address=address source=srcId "
        "target=dstId stream=streamId process=processId flags=flags",
}
PROPERTIES = (
    "name=name uuid=uuid memory=totalGlobalMem shared_per_block=sharedMemPerBlock "
    "warp_size=warpSize max_threads_per_block=maxThreadsPerBlock max_grid=maxGridSize major=major "
    "multiprocessors=multiProcessorCount texture_1d=maxTexture1D surface_alignment=surfaceAlignment "
    "async_engines=asyncEngineCount memory_bus_width=memoryBusWidth managed_memory=managedMemory "
    "concurrent_managed_access=concurrentManagedAccess cooperative_launch=cooperativeLaunch "
    "shared_per_block_optin=sharedMemPerBlockOptin reserved_shared=reservedSharedMemPerBlock "
    "global_l1=globalL1CacheSupported texture_3d=maxTexture3D texture_1d_layered=maxTexture1DLayered "
    "texture_2d_layered=maxTexture2DLayered host_register=hostRegisterSupported "
    "memory_pools=memoryPoolsSupported")
# The structures that each size in BP_CUPTI_SIZES belongs to, newest last.
SIZES = {"BP_CUPTI_MEMCPY": ("Memcpy5", "Memcpy5", "Memcpy6"),
         "BP_CUPTI_MEMCPY2": ("MemcpyPtoP4",) * 3,
         "BP_CUPTI_MEMSET": ("Memset4",) * 3,
         "BP_CUPTI_CONCURRENT_KERNEL": ("Kernel8", "Kernel9", "Kernel10"),
         "BP_CUPTI_RUNTIME": ("API",) * 3,
         "BP_CUPTI_SYNCHRONIZATION": ("Synchronization",) * 2 + ("Synchronization2",),
         "BP_CUPTI_EXTERNAL_CORRELATION": ("ExternalCorrelation",) * 3,
         "BP_CUPTI_MEMORY2": ("Memory3", "Memory3", "Memory4"),
         "BP_CUPTI_OVERHEAD": ("Overhead", "Overhead3", "Overhead3"),
         "BP_CUPTI_UNIFIED_MEMORY_COUNTER": ("UnifiedMemoryCounter2",) * 2 +
                                            ("UnifiedMemoryCounter3",)}


def assertions(root):
    lines = []
    pairs = {**RECORDS, ("bp_cuda_properties", "struct cudaDeviceProp"): PROPERTIES}
    for (ours, theirs), fields in pairs.items():
        for pair in fields.split():
            mine, real = pair.split("=")
            lines.append(f"_Static_assert(offsetof(struct {ours}, {mine}) == "
                         f"offsetof({theirs}, {real}), \"{ours}.{mine}\");")
    lines.append("_Static_assert(sizeof(struct bp_cuda_properties) == "
                 "sizeof(struct cudaDeviceProp), \"cudaDeviceProp\");")
    with open(os.path.join(root, "cuda/sim/cupti/records.h"), encoding="utf-8") as file:
        text = file.read()
    for kind, *sizes in re.findall(r"X\((\w+), \w+, (\d+), (\d+), (\d+)\)", text):
        for size, name in zip(sizes, SIZES.get(kind, ())):
            lines.append(f"_Static_assert(sizeof(CUpti_Activity{name}) == {size}, \"{name}\");")
    return lines


def plain(name):
    return re.sub(r"_v\d+", "", name)


def check_numbers(root, include):
    """The calls' numbers: those of the runtime, of the driver, and of the driver's call within one
    of the runtime."""
    problems, known = [], {}
    for api in ("runtime", "driver"):
        with open(f"{include}/cupti_{api}_cbid.h", encoding="utf-8") as file:
            known[api] = {int(number): name for name, number in re.findall(
                rf"CUPTI_{api.upper()}_TRACE_CBID_(\w+)\s*=\s*(\d+)", file.read())}
    for api, path in (("runtime", "runtime/calls.def"), ("driver", "driver/driver.def")):
        with open(os.path.join(root, "cuda/sim", path), encoding="utf-8") as file:
            calls = re.findall(r"^X\((\w+), (\d+)(?:, (\d+))?\)", file.read(), re.M)
        for name, number, within in calls:
            real = known[api].get(int(number), "")
            if real != name and plain(real) != plain(name):
                problems.append(f"{path}: {name} is {number}, which is {real}")
            inner = known["driver"].get(int(within or 0), "")
            if within not in (None, "", "0") and not inner.startswith("cu"):
                problems.append(f"{path}: {name}: the driver has no call {within}")
        print(f"{len(calls)} numbers of the {api}'s calls compared")
    return problems


def check_headers(root, *compiler):
    kits = [kit for kit in toolkits() if os.path.exists(f"{kit}/include/cupti.h")]
    if not kits:
        skip("no cupti.h here")
    include = f"{kits[0]}/include"
    with open(f"{include}/cuda.h", encoding="utf-8", errors="replace") as file:
        version = int(re.search(r"#define CUDA_VERSION (\d+)", file.read()).group(1))
    if version // 1000 != 13:
        skip(f"the toolkit in {kits[0]} is not 13")
    lines = assertions(root)
    source = "\n".join(["#include <stddef.h>", "#include <cuda.h>", "#include <cupti.h>",
                        "#include <cuda_runtime_api.h>", '#include "cuda/sim/cupti/records.h"',
                        '#include "cuda/sim/runtime/properties.h"'] + lines)
    result = run([*compiler, "-fsyntax-only", "-I", root, "-I", include, "-x", "c", "-"],
                 input=source)
    print(f"{len(lines)} places and sizes compared with {include}")
    return check_numbers(root, include) + ([result.stderr] if result.returncode else [])


def check_nvcc(folder, kernels, *subjects):
    nvcc = shutil.which("nvcc") or next((f"{kit}/bin/nvcc" for kit in toolkits()
                                         if os.path.exists(f"{kit}/bin/nvcc")), None)
    if not nvcc:
        skip("no nvcc here")
    problems = []
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "BATTPROF_SIM": "l4",
                   "BATTPROF_SIM_DEVICES": "2", "BATTPROF_SIM_KERNELS": kernels}
    with tempfile.TemporaryDirectory() as work:
        for subject, option in [(s, "legacy") for s in subjects] + [(subjects[-1], "per-thread")]:
            program = os.path.join(work, "program")
            built = run([nvcc, "-std=c++17", "-cudart", "shared", "-default-stream", option, subject,
                         "-o", program], timeout=200)
            if built.returncode and "error" not in built.stderr:
                skip(f"nvcc does not work here: {built.stderr.strip()[:300]}")
            if built.returncode:
                problems.append(built.stderr)
                continue
            result = run([program], env=environment, timeout=60)
            print(result.stdout, result.stderr)
            if result.returncode or not result.stdout.endswith("right\n"):
                problems.append(f"{subject}, {option}: exit status {result.returncode}")
            if subject == subjects[-1] and "NVIDIA L4, 58 multiprocessors, 8.9," not in result.stdout:
                problems.append(f"{option}: another device")
    return problems


def main():
    checks = {"exports": check_exports, "headers": check_headers, "nvcc": check_nvcc}
    problems = checks[sys.argv[1]](*sys.argv[2:])
    print(*problems, sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
