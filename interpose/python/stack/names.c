/* SPDX-License-Identifier: MIT */
#include "interpose/sample/names.h"

#include "interpose/source.h"

#define FIRST_SLOTS 1024
/* The rest of BP_FUNCTIONS is for calls. */
#define FUNCTION_LIMIT (BP_FUNCTIONS / 2)
#define MODULE_SIZE 256

struct slot {
    uint64_t hash; /* 0: free */
    uint32_t func;
    uint32_t unused;
};

static struct {
    struct bp_lock lock;
    struct slot *slots;
    uint32_t mask;
    uint32_t used;
    uint32_t generation;
    uint64_t fork_mask;
    uint32_t rest; /* the function for those beyond the limit, + 1 */
} state;

static uint64_t hash_text(uint64_t hash, const char *text) {
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash_of(const char *file, uint32_t line, const char *plain) {
    uint64_t hash = hash_text(hash_text(UINT64_C(0xcbf29ce484222325) ^ line, file), plain);
    return hash ? hash : 1;
}

static struct slot *slot_of(struct slot *slots, uint32_t mask, uint64_t hash) {
    uint32_t i = (uint32_t)(hash >> 20) & mask;
    while (slots[i].hash && slots[i].hash != hash)
        i = (i + 1) & mask;
    return &slots[i];
}

static int grow(void) {
    uint32_t size = state.slots ? 2 * (state.mask + 1) : FIRST_SLOTS;
    struct slot *slots = bp_pages_new(size * sizeof *slots);
    if (!slots)
        return 0;
    for (uint32_t i = 0; state.slots && i <= state.mask; i++)
        if (state.slots[i].hash)
            *slot_of(slots, size - 1, state.slots[i].hash) = state.slots[i];
    if (state.slots)
        BP_SYS2(SYS_munmap, state.slots, (state.mask + 1) * sizeof *slots);
    state.slots = slots;
    state.mask = size - 1;
    return 1;
}

/* The slot for the hash, free or not; NULL without memory. */
static struct slot *find(uint64_t hash) {
    if ((!state.slots || state.used > state.mask / 2) && !grow())
        return NULL;
    return slot_of(state.slots, state.mask, hash);
}

static void fill(struct slot *slot, uint64_t hash, uint32_t func) {
    state.used += !slot->hash;
    slot->hash = hash;
    slot->func = func;
}

void bp_names_note(const char *file, uint32_t line, const char *name, uint32_t func) {
    const char *plain = name;
    for (const char *c = name; *c; c++)
        if (*c == '.' && c[1])
            plain = c + 1;
    uint64_t hash = hash_of(file, line, plain);
    uint64_t mask = bp_lock(&state.lock);
    struct slot *slot = find(hash);
    if (slot)
        fill(slot, hash, func);
    __atomic_store_n(&state.generation, state.generation + 1, __ATOMIC_RELAXED);
    bp_unlock(&state.lock, mask);
}

uint32_t bp_names_generation(void) {
    return __atomic_load_n(&state.generation, __ATOMIC_RELAXED);
}

void bp_names_before_fork(void) {
    state.fork_mask = bp_lock(&state.lock);
}

void bp_names_after_fork(void) {
    bp_unlock(&state.lock, state.fork_mask);
}

static int ends_with(const char *text, const char *end, const char *suffix) {
    uint64_t length = 0;
    while (suffix[length])
        length++;
    if ((uint64_t)(end - text) < length)
        return 0;
    for (uint64_t i = 0; i < length; i++)
        if (end[(int64_t)i - (int64_t)length] != suffix[i])
            return 0;
    return 1;
}

/* Where the module's name begins in a path: behind the last folder that programs import from, or
 * at the file's own name. */
static const char *module_start(const char *file, const char *end) {
    const char *start = file;
    for (const char *c = file; c < end; c++)
        if (*c == '/')
            start = c + 1;
    for (const char *c = end; c > file; c--) {
        if (c[-1] != '/')
            continue;
        const char *before = c - 1, *folder = before;
        while (folder > file && folder[-1] != '/')
            folder--;
        if (ends_with(folder, before, "-packages") ||
            (before - folder >= 9 && ends_with(folder, folder + 8, "python3.")))
            return c;
    }
    return start;
}

/* The module as far as its file tells it: json.decoder for …/python3.11/json/decoder.py. */
static void module_of(const char *file, char *module) {
    const char *end = file;
    while (*end)
        end++;
    const char *start = module_start(file, end);
    if (ends_with(file, file + 8 > end ? end : file + 8, "<frozen ")) {
        start = file + 8; /* <frozen importlib._bootstrap> */
        end -= end > start;
    } else if (ends_with(start, end, ".py")) {
        end -= 3;
    }
    if (ends_with(start, end, "/__init__"))
        end -= 9;
    int length = 0;
    for (; start < end && length < MODULE_SIZE - 1; start++)
        module[length++] = *start == '/' ? '.' : *start;
    module[length] = '\0';
}

static uint32_t announce(const char *file, uint32_t line, const char *name) {
    char module[MODULE_SIZE];
    module_of(file, module);
    struct bp_source_function what = {.name = name,
                                      .module = module,
                                      .file = file,
                                      .line = line,
                                      .kind = BP_FUNC_CALL,
                                      .flags = BP_FUNC_PYTHON};
    const struct bp_stub *handle = bp_source_function(&what);
    return handle ? handle->func : BP_NAMES_NONE;
}

static uint32_t rest(void) {
    if (!state.rest)
        state.rest = announce("", 0, "(more Python functions)") + 1;
    return state.rest - 1;
}

uint32_t bp_names_get(const char *file, uint32_t line, const char *name, const char *plain) {
    uint64_t hash = hash_of(file, line, plain);
    uint32_t func = BP_NAMES_NONE;
    uint64_t mask = bp_lock(&state.lock);
    struct slot *slot = find(hash);
    int full = bp_process.functions >= FUNCTION_LIMIT;
    if (slot && slot->hash)
        func = slot->func;
    else if (slot && full)
        func = rest();
    else if (slot && (func = announce(file, line, name)) != BP_NAMES_NONE)
        fill(slot, hash, func);
    bp_unlock(&state.lock, mask);
    return func;
}
