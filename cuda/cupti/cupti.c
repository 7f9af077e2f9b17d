/* SPDX-License-Identifier: MIT
 *
 * Finding and opening libcupti, at the first CUDA call. It is opened by the real dlopen, so that
 * our own wrapper does not take it for something the target did.
 */
#include "cuda/cupti/cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cupti/abi.h"
#include "interpose/hook/source.h"

#define PATH_SIZE 1024

struct bp_cupti bp_cupti;

static struct {
    void *(*dlopen)(const char *, int);
    void *(*dlsym)(void *, const char *);
} real;

/* What the process has loaded that tells where to look. */
struct loaded {
    char cupti[PATH_SIZE];
    char packages[PATH_SIZE]; /* .../site-packages, or dist-packages as Debian's Python has them */
    int major;                /* of libcudart */
};

static int find_functions(void) {
    if (!real.dlopen) {
        real.dlopen = bp_source_runtime("dlopen");
        real.dlsym = bp_source_runtime("dlsym");
    }
    return real.dlopen && real.dlsym;
}

void *bp_cupti_loaded(const char *name) {
    return find_functions() ? real.dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

void *bp_cupti_find(const char *name) {
    return find_functions() ? real.dlopen(name, RTLD_LAZY | RTLD_LOCAL) : NULL;
}

void *bp_cupti_symbol(void *handle, const char *name) {
    return handle && find_functions() ? real.dlsym(handle, name) : NULL;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *argument) {
    struct loaded *loaded = argument;
    const char *path = info->dlpi_name, *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *packages = strstr(path, "/site-packages/");
    if (!packages)
        packages = strstr(path, "/dist-packages/");
    (void)size;
    if (strncmp(base, "libcupti", 8) == 0 && strstr(base, ".so"))
        snprintf(loaded->cupti, sizeof loaded->cupti, "%s", path);
    const char *version = strncmp(base, "libcudart", 9) == 0 ? strstr(base, ".so.") : NULL;
    if (version)
        loaded->major = atoi(version + 4);
    if (packages && !loaded->packages[0])
        snprintf(loaded->packages, sizeof loaded->packages, "%.*s", (int)(packages - path) + 14,
                 path);
    return 0;
}

static int open_path(const char *directory, const char *name) {
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s%s%s", directory, *directory ? "/" : "", name);
    bp_cupti.handle = real.dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return bp_cupti.handle != NULL;
}

/* CUDA 11 has the minor version in the name. */
static int open_major(const char *directory, int major) {
    char name[32];
    if (major != 11) {
        snprintf(name, sizeof name, "libcupti.so.%d", major);
        return open_path(directory, name);
    }
    for (int minor = 8; minor >= 0; minor--) {
        snprintf(name, sizeof name, "libcupti.so.11.%d", minor);
        if (open_path(directory, name))
            return 1;
    }
    return 0;
}

static int open_below(const char *root, const char *tail, int major) {
    char directory[PATH_SIZE + 64];
    if (!root || !*root)
        return 0;
    snprintf(directory, sizeof directory, "%.*s%s", PATH_SIZE, root, tail);
    return open_major(directory, major);
}

/* The loader's own places, LD_LIBRARY_PATH first, come before ours. */
static int open_version(const struct loaded *loaded, int major) {
    char wheel[48];
    const char *home = getenv("CUDA_HOME");
    snprintf(wheel, sizeof wheel, "/nvidia/cu%d/lib", major);
    return open_major("", major) || open_below(loaded->packages, "/nvidia/cuda_cupti/lib", major) ||
           open_below(loaded->packages, wheel, major) ||
           open_below(home, "/extras/CUPTI/lib64", major) || open_below(home, "/lib64", major) ||
           open_below(getenv("CONDA_PREFIX"), "/lib", major) ||
           open_below("/usr/local/cuda", "/extras/CUPTI/lib64", major) ||
           open_below("/usr/local/cuda", "/lib64", major);
}

static int driver_major(void) {
    int version = 0;
    void *driver = bp_cupti_loaded("libcuda.so.1");
    int (*get)(int *) = bp_cupti_symbol(driver, "cuDriverGetVersion");
    return get && get(&version) == 0 ? version / 1000 : 0;
}

/* The version of the runtime, else of the driver, else the newest. */
static int open_any(const struct loaded *loaded) {
    int wanted = loaded->major ? loaded->major : driver_major();
    if (loaded->cupti[0] && open_path("", loaded->cupti))
        return 1;
    if (wanted && open_version(loaded, wanted))
        return 1;
    for (int major = 13; major >= 11; major--)
        if (major != wanted && open_version(loaded, major))
            return 1;
    return 0;
}

static int resolve(void) {
    int missing = 0;
#define RESOLVE(name, arguments, needed)                                                           \
    *(void **)&bp_cupti.name = real.dlsym(bp_cupti.handle, "cupti" #name);                         \
    missing += needed && !bp_cupti.name;
    BP_CUPTI_FUNCTIONS(RESOLVE)
#undef RESOLVE
    return missing;
}

static void note_path(void) {
    const struct link_map *map = bp_cupti.handle;
    snprintf(bp_cupti.path, sizeof bp_cupti.path, "%s", map->l_name);
}

int bp_cupti_load(void) {
    static struct loaded loaded; /* not on the stack of the target's thread */
    if (!find_functions())
        return -1;
    dl_iterate_phdr(look_at, &loaded);
    if (!open_any(&loaded))
        return -1;
    note_path();
    return resolve() ? -1 : 0;
}
