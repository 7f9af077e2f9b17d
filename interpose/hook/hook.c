/* SPDX-License-Identifier: MIT
 *
 * Two questions, asked for every function of every loaded object: does a pattern want it, and where
 * do its calls go then? Patterns come first, then the map by address, then what fills it: exports,
 * wrappers, calls of the C runtime.
 */
#include "interpose/hook/hook.h"

#include <fnmatch.h>
#include <string.h>

#include "interpose/base/hash.h"
#include "interpose/hook/elf.h"
#include "interpose/hook/source.h"
#include "interpose/ledger/task.h"
#include "profile/pattern.h"
#include "profile/stop.h"

#define PATTERNS 64
#define DSL_PATTERNS 32
#define WRAP_TABLES 16
#define NAME_BITS (1u << 14)    /* a Bloom filter of the names in the map: 2 kB */
#define ADDRESS_BITS (1u << 14) /* and of its addresses */
#define POINTERS 64             /* answers of bp_hook_pointer that are kept */
#define FIRST_MAP 512           /* twice the functions that are hooked in every process */

struct pattern {
    char library[128];
    char symbol[128];
    uint16_t flags; /* of its functions: BP_FUNC_COUNTED */
};

static struct {
    unsigned pattern_count;
    unsigned dsl_count;
    unsigned wrap_tables;
    const struct bp_wrap *wraps[WRAP_TABLES];
    size_t wrap_counts[WRAP_TABLES];
    struct bp_hook *map; /* open addressing */
    uint32_t map_size;
    uint32_t map_used;
    uint32_t stubs; /* handed out */
    uint64_t names[NAME_BITS / 64];
    uint64_t addresses[ADDRESS_BITS / 64]; /* a bit that is clear is certain, one that is set not */
    struct pattern patterns[PATTERNS];
    struct bp_pattern dsl[DSL_PATTERNS];
} state;

struct bp_lock bp_hook_lock;
int bp_hook_waits = 1;

/* Functions that return twice, look at their return address, or change what a stack is; prctl can
 * take away the clock that is read when it returns (PR_SET_TSC). */
static const char *const never[] = {
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "vfork",
    "__vfork",
    "clone",
    "__clone",
    "clone3",
    "getcontext",
    "setcontext",
    "swapcontext",
    "dlopen",
    "dlmopen",
    "dlsym",
    "dlvsym",
    "dlclose",
    "dladdr",
    "dladdr1",
    "dlinfo",
    "dlerror",
    "_dl_*",
    "mcount",
    "_mcount",
    "__fentry__",
    "_Unwind_*",
    "__cxa_throw",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "__tls_get_addr",
    "_init",
    "_fini",
    "__cyg_profile_func_*",
    "__libc_start_main",
    "__cxa_finalize",
    "__register_frame*",
    "__deregister_frame*",
    "prctl",
};

static const struct {
    const char *name;
    enum bp_stub_kind kind;
} runtime[] = {
#define WAIT(name) {#name, BP_STUB_WAIT},
#define IO(name) {#name, BP_STUB_IO},
#define IO_FD(name) {#name, BP_STUB_IO_FD},
#include "interpose/hook/runtime.def"
#undef WAIT
#undef IO
#undef IO_FD
};

static void add_pattern(const char *text, size_t length, uint16_t flags) {
    if (state.pattern_count == PATTERNS || length == 0 || length >= sizeof(struct pattern))
        return;
    struct pattern *pattern = &state.patterns[state.pattern_count++];
    const char *colon = memchr(text, ':', length);
    size_t library = colon ? (size_t)(colon - text) : length;
    if (library >= sizeof pattern->library)
        library = sizeof pattern->library - 1;
    memcpy(pattern->library, text, library);
    size_t symbol = colon ? length - library - 1 : 0;
    if (symbol >= sizeof pattern->symbol)
        symbol = sizeof pattern->symbol - 1;
    memcpy(pattern->symbol, colon ? colon + 1 : "", symbol);
    if (!symbol)
        strcpy(pattern->symbol, "*");
    pattern->flags = flags;
}

void bp_hook_patterns(const char *patterns, uint16_t flags) {
    while (*patterns) {
        size_t length = strcspn(patterns, ", \t\n");
        add_pattern(patterns, length, flags);
        patterns += length;
        patterns += strspn(patterns, ", \t\n");
    }
}

void bp_hook_dsl(const char *patterns) {
    while (state.dsl_count < DSL_PATTERNS &&
           bp_pattern_next(&patterns, &state.dsl[state.dsl_count]))
        state.dsl_count++;
}

static int is_dsl(const struct bp_pattern_native *function) {
    for (unsigned i = 0; i < state.dsl_count; i++)
        if (bp_pattern_is_native(&state.dsl[i], function))
            return 1;
    return 0;
}

void bp_hook_wraps(const struct bp_wrap *wraps, size_t count) {
    state.wraps[state.wrap_tables] = wraps;
    state.wrap_counts[state.wrap_tables++] = count;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int pattern_matches(const struct pattern *pattern, const char *path, const char *soname) {
    return fnmatch(pattern->library, base_name(path), 0) == 0 ||
           (*soname && fnmatch(pattern->library, soname, 0) == 0);
}

int bp_hook_wants_library(const char *path, const char *soname) {
    for (unsigned i = 0; i < state.pattern_count; i++)
        if (pattern_matches(&state.patterns[i], path, soname))
            return 1;
    return is_dsl(&(struct bp_pattern_native){path, soname, NULL});
}

int bp_hook_wants_symbol(const char *name) {
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (fnmatch(never[i], name, 0) == 0)
            return 0;
    return 1;
}

/* `flags`: of all patterns that match. */
static int wants_symbol(const struct bp_elf *elf, const char *path, const char *name,
                        uint32_t *flags) {
    *flags = 0;
    if (!bp_hook_wants_symbol(name))
        return 0;
    int wanted = is_dsl(&(struct bp_pattern_native){path, elf->soname, name});
    *flags = wanted ? BP_FUNC_CHOSEN : 0;
    for (unsigned i = 0; i < state.pattern_count; i++)
        if (pattern_matches(&state.patterns[i], path, elf->soname) &&
            fnmatch(state.patterns[i].symbol, name, 0) == 0) {
            *flags |= state.patterns[i].flags;
            wanted = 1;
        }
    return wanted;
}

static uint32_t name_bit(const char *name) {
    uint32_t hash = 2166136261u;
    while (*name)
        hash = (hash ^ (unsigned char)*name++) * 16777619u;
    return (hash ^ hash >> 16) & (NAME_BITS - 1);
}

int bp_hook_may_name(const char *name) {
    uint32_t bit = name_bit(name);
    return state.names[bit / 64] >> bit % 64 & 1;
}

static struct bp_hook *map_find(struct bp_hook *map, uint32_t size, uint64_t address) {
    uint32_t slot = (uint32_t)(bp_mix(0, address) >> 32) & (size - 1);
    while (map[slot].address && map[slot].address != address)
        slot = (slot + 1) & (size - 1);
    return &map[slot];
}

static struct bp_hook first_map[FIRST_MAP];

static void map_free(struct bp_hook *map, uint32_t size) {
    if (map != first_map)
        bp_pages_free(map, size * sizeof *map);
}

static int map_grow(void) {
    uint32_t size = state.map_size ? 2 * state.map_size : FIRST_MAP;
    struct bp_hook *map = state.map_size ? bp_pages_new_filled(size * sizeof *map) : first_map;
    if (!map)
        return 0;
    for (uint32_t i = 0; i < state.map_size; i++)
        if (state.map[i].address)
            *map_find(map, size, state.map[i].address) = state.map[i];
    if (state.map)
        map_free(state.map, state.map_size);
    state.map = map;
    state.map_size = size;
    return 1;
}

struct bp_hook *bp_hook_find(uint64_t address) {
    if (!state.map || !address)
        return NULL;
    struct bp_hook *hook = map_find(state.map, state.map_size, address);
    return hook->address ? hook : NULL;
}

void bp_hook_note_name(const char *name) {
    uint32_t bit = name_bit(name);
    state.names[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* 1 if the address was not known. The first name of an address stays. */
/* The word and bit of an address in the filter. */
static uint64_t *address_word(uint64_t address, uint64_t *bit) {
    uint64_t hash = bp_mix(address, 0) >> 48;
    *bit = UINT64_C(1) << hash % 64;
    return &state.addresses[hash % ADDRESS_BITS / 64];
}

/* 0: it is not, and no lock was needed to know. */
static int may_be_hooked(uint64_t address) {
    uint64_t bit, *word = address_word(address, &bit);
    return (__atomic_load_n(word, __ATOMIC_ACQUIRE) & bit) != 0;
}

int bp_hook_add(uint64_t address, const char *name, uint32_t object, uint32_t kind, void *code) {
    bp_hook_note_name(name);
    if (bp_hook_find(address) || (state.map_used >= state.map_size / 2 && !map_grow()))
        return 0;
    struct bp_hook *hook = map_find(state.map, state.map_size, address);
    *hook = (struct bp_hook){address, (uint64_t)code, name, object, kind};
    state.map_used++;
    uint64_t bit, *word = address_word(address, &bit);
    __atomic_fetch_or(word, bit, __ATOMIC_RELEASE);
    return 1;
}

uint32_t bp_hook_add_exports(const struct bp_elf *elf, const char *path, uint32_t object) {
    uint32_t flags, added = 0, count = bp_elf_symbol_count(elf);
    for (uint32_t i = 0; i < count; i++) {
        const ElfW(Sym) *symbol = &elf->symbols[i];
        const char *name = elf->strings + symbol->st_name;
        if (bp_elf_is_function(symbol) && wants_symbol(elf, path, name, &flags))
            added += (uint32_t)bp_hook_add(bp_elf_address(elf, symbol), name, object,
                                           BP_STUB_OF_SOURCE(BP_STUB_CALL, 0, flags), NULL);
    }
    return added;
}

void bp_hook_add_wraps(const struct bp_elf *elf, uint32_t object, const struct bp_wrap *wraps,
                       size_t count) {
    for (const struct bp_wrap *wrap = wraps; wrap < wraps + count; wrap++) {
        const ElfW(Sym) *symbol = bp_elf_find(elf, wrap->name, NULL);
        if (!symbol)
            continue;
        uint64_t address = bp_elf_address(elf, symbol);
        if (!*wrap->real)
            *wrap->real = (void *)address;
        bp_hook_add(address, wrap->name, object, wrap->paused ? BP_STUB_CALL : BP_HOOK_STAYS,
                    wrap->wrapper);
    }
}

void bp_hook_add_runtime(const struct bp_elf *elf, uint32_t object) {
    for (unsigned t = 0; t < state.wrap_tables; t++)
        bp_hook_add_wraps(elf, object, state.wraps[t], state.wrap_counts[t]);
    if (!bp_hook_waits)
        return;
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++) {
        const ElfW(Sym) *symbol = bp_elf_find(elf, runtime[i].name, NULL);
        if (symbol)
            bp_hook_add(bp_elf_address(elf, symbol), runtime[i].name, object, runtime[i].kind,
                        NULL);
    }
}

uint32_t bp_hook_new_function(const struct bp_source_function *what, uint32_t object,
                              uint64_t address) {
    uint32_t index = 0;
    bp_lock_inner(&bp_process.lock);
    struct bp_writer *writer = &bp_process.writer;
    struct bp_func func = {
        .object = object, .address = address, .kind = what->kind, .flags = what->flags};
    func.name = bp_writer_string(writer, what->name);
    func.module = bp_writer_string(writer, what->module ? what->module : "");
    func.file = bp_writer_string(writer, what->file ? what->file : "");
    func.line = what->line;
    func.phase = bp_writer_string(writer, what->phase ? what->phase : "");
    struct bp_func *place = bp_writer_item(writer, BP_FUNCS, &index);
    if (place) {
        *place = func;
        BP_STOP(FUNCTION_FILLED);
        bp_writer_commit(writer, BP_FUNCS);
        bp_process.functions = index + 1;
        if (index < BP_FUNCTIONS)
            bp_task_funcs[index] = (uint8_t)(what->kind | what->flags >> 8 << 4);
    }
    bp_unlock_inner(&bp_process.lock);
    return index;
}

uint32_t bp_hook_function(const char *name, uint16_t kind) {
    struct bp_source_function what = {.name = name, .kind = kind};
    uint64_t mask = bp_signals_block();
    uint32_t index = bp_hook_new_function(&what, BP_NO_OBJECT, 0);
    bp_signals_restore(mask);
    return index;
}

static void fill_stub(uint32_t index, uint64_t target, const char *name, uint32_t object,
                      uint32_t kind) {
    static const uint16_t kinds[] = {BP_FUNC_CALL, BP_FUNC_WAIT, BP_FUNC_IO,
                                     BP_FUNC_IO,   BP_FUNC_CALL, BP_FUNC_CALL};
    uint32_t source = BP_STUB_SOURCE_OF(kind);
    struct bp_source_function what = {.name = name, .kind = kinds[BP_STUB_KIND(kind)]};
    if (source)
        bp_source_describe(source, BP_STUB_TAG(kind), &what);
    else
        what.flags = (uint16_t)BP_STUB_TAG(kind);
    bp_stubs[index].func = bp_hook_new_function(&what, object, target);
    bp_stubs[index].kind = kind;
    bp_stubs[index].target = target;
}

/* The code of a new stub, or 0 when all are in use. */
static uint64_t new_stub(uint64_t target, const char *name, uint32_t object, uint32_t kind) {
    uint32_t needed = kind == BP_STUB_IO_FD ? 2 : 1;
    if (bp_process.functions + needed > BP_FUNCTIONS - BP_CALIBRATION_STUBS ||
        state.stubs + needed > BP_STUBS - BP_CALIBRATION_STUBS) {
        bp_process.writer.header->flags |= BP_LOST_STUBS;
        return 0;
    }
    uint32_t index = state.stubs;
    state.stubs += needed;
    fill_stub(index, target, name, object, kind);
    if (kind == BP_STUB_IO_FD)
        fill_stub(index + 1, target, name, object, BP_STUB_WAIT);
    int fast = BP_STUB_KIND(kind) == BP_STUB_CALL && bp_process.clock == BP_CLOCK_TSC;
    return (uint64_t)(fast ? bp_stubs_fast : bp_stubs_slow) + (uint64_t)index * BP_STUB_CODE_SIZE;
}

uint64_t bp_hook_code(struct bp_hook *hook) {
    if (!hook->code)
        hook->code = new_stub(hook->address, hook->name, hook->object, hook->kind);
    return hook->code;
}

void *bp_hook_stub(void *target, const char *name, enum bp_stub_kind kind, uint16_t flags) {
    uint64_t mask = bp_lock(&bp_hook_lock);
    uint64_t code = new_stub((uint64_t)target, name, BP_NO_OBJECT,
                             BP_STUB_OF_SOURCE((uint32_t)kind, 0, (uint32_t)flags));
    bp_unlock(&bp_hook_lock, mask);
    return (void *)code;
}

void bp_hook_place_stubs(void) {
    uint64_t mask = bp_lock(&bp_hook_lock);
    for (uint32_t i = 0; i < state.stubs; i++) {
        const struct bp_hook *hook = bp_hook_find(bp_stubs[i].target);
        struct bp_func *func = bp_writer_get(&bp_process.writer, BP_FUNCS, bp_stubs[i].func);
        if (hook && func)
            func->object = hook->object;
    }
    bp_unlock(&bp_hook_lock, mask);
}

/* Where calls of functions that were asked for lately go, for who has no lock: `code` is right if
 * the address is there before and after. Written with the lock held. */
static struct pointer { uint64_t address, code; } pointers[POINTERS];

static struct pointer *pointer_place(uint64_t address) {
    return &pointers[(bp_mix(address, 0) >> 32) % POINTERS];
}

static uint64_t pointer_known(uint64_t address) {
    const struct pointer *place = pointer_place(address);
    if (__atomic_load_n(&place->address, __ATOMIC_ACQUIRE) != address)
        return 0;
    uint64_t code = __atomic_load_n(&place->code, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&place->address, __ATOMIC_RELAXED) == address ? code : 0;
}

static void pointer_keep(uint64_t address, uint64_t code) {
    struct pointer *place = pointer_place(address);
    __atomic_store_n(&place->address, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&place->code, code, __ATOMIC_SEQ_CST);
    __atomic_store_n(&place->address, address, __ATOMIC_SEQ_CST);
}

static void pointers_forget(void) {
    for (unsigned i = 0; i < POINTERS; i++)
        __atomic_store_n(&pointers[i].address, 0, __ATOMIC_SEQ_CST);
}

static uint64_t pointer_find(uint64_t address) {
    uint64_t mask = bp_lock(&bp_hook_lock);
    struct bp_hook *hook = bp_hook_find(address);
    uint64_t code = hook ? bp_hook_code(hook) : 0;
    if (code)
        pointer_keep(address, code);
    bp_unlock(&bp_hook_lock, mask);
    return code;
}

void *bp_hook_pointer(void *function) {
    uint64_t address = (uint64_t)function;
    if (!may_be_hooked(address))
        return function;
    uint64_t code = pointer_known(address);
    if (!code)
        code = pointer_find(address);
    return code ? (void *)code : function;
}

/* An object is gone: nothing may lead from its addresses, which others will get. Deleting from
 * open addressing means building the map anew. */
void bp_hook_forget(uint64_t low, uint64_t high) {
    int found = 0;
    for (uint32_t i = 0; i < state.map_size; i++)
        found |= state.map[i].address >= low && state.map[i].address < high;
    pointers_forget();
    if (!found)
        return;
    struct bp_hook *old = state.map;
    uint32_t size = state.map_size;
    state.map = bp_pages_new(size * sizeof *old);
    if (!state.map) {
        state.map = old;
        return;
    }
    state.map_used = 0;
    for (uint32_t i = 0; i < size; i++)
        if (old[i].address && (old[i].address < low || old[i].address >= high)) {
            *map_find(state.map, size, old[i].address) = old[i];
            state.map_used++;
        }
    map_free(old, size);
}
