/* SPDX-License-Identifier: MIT */
#include "interpose/python/stack/names.h"

#include "interpose/hook/source.h"
#include "interpose/python/module.h"
#include "interpose/python/stack/qualnames.h"

#define FIRST_SLOTS 1024
/* The rest of BP_FUNCTIONS is for calls. */
#define FUNCTION_LIMIT (BP_FUNCTIONS / 2)
#define NAME_SIZE 512

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

/* Code of no file, as "<string>", is many modules': what `python -c` runs, and what site executes
 * of each .pth file before that. */
static uint64_t hash_of(const char *file, uint32_t line, const char *plain, const char *module) {
    uint64_t hash = hash_text(hash_text(UINT64_C(0xcbf29ce484222325) ^ line, file), plain);
    if (*file == '<')
        hash = hash_text(hash, module);
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
        bp_pages_free(state.slots, (state.mask + 1) * sizeof *slots);
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

void bp_py_names_note(const char *file, uint32_t line, const char *name, const char *module,
                      uint32_t func) {
    const char *plain = name;
    for (const char *c = name; *c; c++)
        if (*c == '.' && c[1])
            plain = c + 1;
    uint64_t hash = hash_of(file, line, plain, module);
    uint64_t mask = bp_lock(&state.lock);
    struct slot *slot = find(hash);
    if (slot)
        fill(slot, hash, func);
    __atomic_store_n(&state.generation, state.generation + 1, __ATOMIC_RELAXED);
    bp_unlock(&state.lock, mask);
}

uint32_t bp_py_names_generation(void) {
    return __atomic_load_n(&state.generation, __ATOMIC_RELAXED);
}

void bp_py_names_before_fork(void) {
    state.fork_mask = bp_lock(&state.lock);
}

void bp_py_names_after_fork(void) {
    bp_unlock(&state.lock, state.fork_mask);
}

/* Before 3.11 a name is put together. */
static const char *qualify(const struct bp_py_names_function *function, char name[NAME_SIZE]) {
    if (function->name)
        return function->name;
    const char *prefix = bp_py_qualnames_get(
        bp_py_qualnames_key(bp_py_qualnames_file(function->file), function->line, function->plain));
    uint64_t length = __builtin_strlen(prefix), more = __builtin_strlen(function->plain) + 1;
    if (!length || length + more > NAME_SIZE)
        return function->plain;
    __builtin_memcpy(name, prefix, length);
    __builtin_memcpy(name + length, function->plain, more);
    return name;
}

static uint32_t announce(const struct bp_py_names_function *function) {
    char module[BP_MODULE_NAME], name[NAME_SIZE];
    int script = bp_module_name(function->module, function->file, module);
    struct bp_source_function what = {.name = qualify(function, name),
                                      .module = module,
                                      .file = function->file,
                                      .line = function->line,
                                      .kind = BP_FUNC_CALL,
                                      .flags = BP_FUNC_PYTHON | (script ? BP_FUNC_SCRIPT : 0)};
    const struct bp_stub *handle = bp_source_function(&what);
    return handle ? handle->func : BP_PY_NO_NAME;
}

static uint32_t rest(void) {
    if (!state.rest)
        state.rest = announce(&(struct bp_py_names_function){
                         .file = "", .plain = "(more Python functions)", .module = ""}) +
                     1;
    return state.rest - 1;
}

uint32_t bp_py_names_get(const struct bp_py_names_function *function) {
    uint64_t hash = hash_of(function->file, function->line, function->plain, function->module);
    uint32_t func = BP_PY_NO_NAME;
    uint64_t mask = bp_lock(&state.lock);
    struct slot *slot = find(hash);
    int full = bp_process.functions >= FUNCTION_LIMIT;
    if (slot && slot->hash)
        func = slot->func;
    else if (slot && full)
        func = rest();
    else if (slot && (func = announce(function)) != BP_PY_NO_NAME)
        fill(slot, hash, func);
    bp_unlock(&state.lock, mask);
    return func;
}
