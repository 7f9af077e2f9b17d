/* SPDX-License-Identifier: MIT
 *
 * Python and CUDA. Nothing here is needed to profile native programs.
 */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/doctor.h"
#include "tools/elf_probe.h"

static int python_version(const char *path, char *version, int size) {
    char command[PATH_MAX + 32];
    if (strchr(path, '\''))
        return -1;
    snprintf(command, sizeof command, "'%s' --version 2>&1", path);
    FILE *pipe = popen(command, "re");
    int failed = !pipe || !fgets(version, size, pipe) || strncmp(version, "Python ", 7);
    if (pipe)
        failed |= pclose(pipe) != 0;
    if (failed)
        return -1;
    version[strcspn(version, "\n")] = 0;
    memmove(version, version + 7, strlen(version + 7) + 1);
    return 0;
}

void bp_doctor_python(struct bp_finding *finding) {
    static const char *const names[] = {"python3", "python"};
    struct bp_probe probe;
    char version[64];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bp_probe_command(names[i], &probe);
        if (probe.kind == BP_PROBE_NOT_FOUND || python_version(probe.path, version, sizeof version))
            continue;
        if (probe.kind == BP_PROBE_FINE) {
            bp_finding_set(finding, BP_GOOD,
                           "%s, %.200s: functions of the module dsl are counted on 3.8 to 3.13 "
                           "(run --python for others)",
                           version, probe.path);
            return;
        }
        bp_finding_set(finding, BP_BAD, "%.200s %s", probe.path, bp_probe_reason(probe.kind));
        bp_finding_cure(finding, "use a Python that is dynamically linked, without setuid");
        return;
    }
    bp_finding_set(finding, BP_ABSENT, "no python3 in PATH");
}

void bp_doctor_cuda_driver(struct bp_finding *finding) {
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    int version = 0, devices = 0, failed = 1;
    if (!driver) {
        bp_finding_set(finding, BP_ABSENT,
                       "no libcuda.so.1: no GPU can be used here; run --device sim:t4 has a "
                       "stand-in");
        return;
    }
    int (*get_version)(int *) = (int (*)(int *))dlsym(driver, "cuDriverGetVersion");
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*count)(int *) = (int (*)(int *))dlsym(driver, "cuDeviceGetCount");
    if (get_version && init && count)
        failed = get_version(&version) | init(0) | count(&devices);
    bp_finding_set(finding, failed ? BP_BAD : BP_GOOD, "for CUDA %d.%d, %d device%s",
                   version / 1000, version % 1000 / 10, devices, devices == 1 ? "" : "s");
    if (failed)
        bp_finding_cure(finding, "the driver does not start; nvidia-smi says why");
}

/* Appends the matches of `prefix``pattern`; prefix NULL (an unset variable) matches nothing. */
static void search(const char *prefix, const char *pattern, glob_t *found) {
    char path[PATH_MAX + 128];
    if (!prefix || !prefix[0])
        return;
    snprintf(path, sizeof path, "%s%s", prefix, pattern);
    glob(path, found->gl_pathc ? GLOB_APPEND : 0, NULL, found);
}

/* The places where the collector looks, in its order (design, 4). */
void bp_doctor_cupti(struct bp_finding *finding) {
    static const char wheel[] = "/lib/python3*/*-packages/nvidia/cuda_cupti/lib/libcupti.so.*";
    static const char toolkit[] = "/extras/CUPTI/lib64/libcupti.so*";
    const char *const prefixes[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), "/usr/local",
                                    "/usr"};
    glob_t found = {0};
    char user[PATH_MAX];
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        search(prefixes[i], wheel, &found);
    snprintf(user, sizeof user, "%s/.local", getenv("HOME") ? getenv("HOME") : "");
    search(user, wheel, &found);
    const char *const toolkits[] = {getenv("CUDA_HOME"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof toolkits / sizeof toolkits[0]; i++) {
        search(toolkits[i], toolkit, &found);
        search(toolkits[i], "/lib64/libcupti.so*", &found);
    }
    search(getenv("CONDA_PREFIX"), "/lib/libcupti.so*", &found);
    search("/usr", "/lib/x86_64-linux-gnu/libcupti.so*", &found);
    if (found.gl_pathc) {
        bp_finding_set(finding, BP_GOOD, "%.400s: copies and kernels are timed on the device",
                       found.gl_pathv[0]);
    } else {
        bp_finding_set(finding, BP_ABSENT, "no libcupti: no device times");
        bp_finding_cure(finding, "only with a GPU: pip install nvidia-cuda-cupti-cu12");
    }
    globfree(&found);
}
