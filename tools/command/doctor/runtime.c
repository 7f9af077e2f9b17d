/* SPDX-License-Identifier: MIT
 *
 * Python and CUDA. Nothing here is needed to profile native programs.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/paths.h"
#include "tools/base/text.h"
#include "tools/command/doctor/doctor.h"
#include "tools/command/doctor/driver.h"

/* A new text; NULL if it says none. */
static char *python_version(const char *path) {
    char *text = bp_doctor_read((const char *const[]){path, "--version", NULL}, true);
    bool python = text && strncmp(text, "Python ", 7) == 0;
    char *version = python ? bp_make_text("%.*s", (int)strcspn(text + 7, "\n"), text + 7) : NULL;
    free(text);
    return version;
}

/* False if it is none. */
static bool judge_python(const struct bp_probe *probe, struct bp_finding *finding) {
    const char *path = bp_text_get(&probe->path);
    char *version = probe->kind == BP_PROBE_NOT_FOUND ? NULL : python_version(path);
    if (!version)
        return false;
    if (probe->kind == BP_PROBE_FINE) {
        bp_finding_set(finding, BP_GOOD,
                       "%s, %s: functions of the module dsl are counted on 3.8 to 3.15 "
                       "(run --python for others)",
                       version, path);
    } else {
        bp_finding_set(finding, BP_BAD, "%s %s", path, bp_probe_reason(probe->kind));
        bp_finding_cure(finding, "use a Python that is dynamically linked, without setuid");
    }
    free(version);
    return true;
}

void bp_doctor_python(struct bp_finding *finding) {
    static const char *const names[] = {"python3", "python"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof names / sizeof names[0]; i++) {
        struct bp_probe probe;
        bp_probe_command(names[i], &probe);
        found = judge_python(&probe, finding);
        bp_probe_fini(&probe);
    }
    if (!found)
        bp_finding_set(finding, BP_ABSENT, "no python3 in PATH");
}

void bp_doctor_cuda_driver(struct bp_finding *finding) {
    struct bp_driver driver;
    bp_driver_ask(&driver);
    switch (driver.state) {
    case BP_DRIVER_ABSENT:
        bp_finding_set(finding, BP_ABSENT,
                       "no libcuda.so.1: no GPU can be used here; run --device sim:t4 simulates "
                       "one");
        break;
    case BP_DRIVER_UNKNOWN:
        bp_finding_set(finding, BP_ABSENT,
                       "unknown: the program that asks the driver needs glibc with libdl and "
                       "libpthread, and did not run");
        break;
    default:
        bp_finding_set(finding, driver.state == BP_DRIVER_FINE ? BP_GOOD : BP_BAD,
                       "for CUDA %d.%d, %d device%s", driver.version / 1000,
                       driver.version % 1000 / 10, driver.devices, driver.devices == 1 ? "" : "s");
    }
    if (driver.state == BP_DRIVER_FAILED)
        bp_finding_cure(finding, "the driver does not start; nvidia-smi says why");
}

/* Appends the matches of `prefix``pattern`; prefix NULL (an unset variable) matches nothing. */
static void search(const char *prefix, const char *pattern, struct bp_paths *found) {
    if (!prefix || !prefix[0])
        return;
    char *path = bp_make_text("%s%s", prefix, pattern);
    bp_paths_add(found, path);
    free(path);
}

/* The places where the collector looks, in its order (design, 4). */
void bp_doctor_cupti(struct bp_finding *finding) {
    static const char wheel[] = "/lib/python3*/*-packages/nvidia/cuda_cupti/lib/libcupti.so.*";
    static const char toolkit[] = "/extras/CUPTI/lib64/libcupti.so*";
    const char *const prefixes[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), "/usr/local",
                                    "/usr"};
    struct bp_paths found = {0};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        search(prefixes[i], wheel, &found);
    char *user = bp_make_text("%s/.local", getenv("HOME") ? getenv("HOME") : "");
    search(user, wheel, &found);
    free(user);
    const char *const toolkits[] = {getenv("CUDA_HOME"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof toolkits / sizeof toolkits[0]; i++) {
        search(toolkits[i], toolkit, &found);
        search(toolkits[i], "/lib64/libcupti.so*", &found);
    }
    search(getenv("CONDA_PREFIX"), "/lib/libcupti.so*", &found);
    search("/usr", "/lib/x86_64-linux-gnu/libcupti.so*", &found);
    if (found.count) {
        bp_finding_set(finding, BP_GOOD, "%s: copies and kernels are timed on the device",
                       found.path[0]);
    } else {
        bp_finding_set(finding, BP_ABSENT, "no libcupti: no device times");
        bp_finding_cure(finding, "only with a GPU: pip install nvidia-cuda-cupti-cu12");
    }
    bp_paths_fini(&found);
}
