/* SPDX-License-Identifier: MIT */
#include "cuda/api.h"

#include <string.h>

#define LONGEST 64

struct call {
    const char *name;
    enum bp_cuda_class class;
};

/* Sorted by name. */
static const struct call runtime_calls[] = {
#define X(name, class) {#name, BP_CUDA_##class},
#include "cuda/runtime_api.def"
};

static const struct call driver_calls[] = {
#include "cuda/driver_api.def"
#undef X
};

static const struct call *search(const struct call *calls, size_t count, const char *name) {
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        int order = strcmp(name, calls[middle].name);
        if (order == 0)
            return &calls[middle];
        if (order < 0)
            count = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static const struct call *find(const char *name) {
    const struct call *call =
        search(driver_calls, sizeof driver_calls / sizeof *driver_calls, name);
    return call ? call : search(runtime_calls, sizeof runtime_calls / sizeof *runtime_calls, name);
}

/* Takes a last "_v2", "_v3020", "_ptds" or "_ptsz" away. */
static int cut_suffix(char *name) {
    char *last = strrchr(name, '_');
    if (!last || last == name)
        return 0;
    int variant = strcmp(last, "_ptds") == 0 || strcmp(last, "_ptsz") == 0;
    int version = last[1] == 'v' && last[2] >= '0' && last[2] <= '9';
    if (variant || version)
        *last = '\0';
    return variant || version;
}

int bp_cuda_match(const char *name, const char **known) {
    char plain[LONGEST];
    size_t length = strlen(name);
    if (length >= sizeof plain || (strncmp(name, "cu", 2) != 0 && strncmp(name, "__cu", 4) != 0))
        return -1;
    memcpy(plain, name, length + 1);
    const struct call *call = find(plain);
    while (!call && cut_suffix(plain))
        call = find(plain);
    if (!call)
        return -1;
    *known = call->name;
    return (int)call->class;
}
