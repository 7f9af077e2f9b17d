/* SPDX-License-Identifier: MIT
 *
 * One scan in order: new objects are described, those that went are forgotten, hooks are added and
 * slots patched. The functions of libc that we call ourselves are found here, too.
 */
#include "interpose/hook/object.h"

#include <stdio.h>
#include <string.h>

#include "interpose/hook/hook.h"
#include "interpose/hook/patch.h"
#include "interpose/hook/slots.h"
#include "interpose/hook/source.h"
#include "interpose/ledger/pause.h"

#define FIRST 32 /* objects without memory of their own */

static struct {
    struct bp_loaded *objects; /* in load order */
    uint32_t count;
    uint32_t capacity;
    uint32_t scan;   /* number of the present scan */
    uint32_t hooked; /* hooked objects that the last patching knew */
    int late;
    int closing; /* calls of dlclose under way */
    void (*came)(const struct bp_elf *elf);
    void (*went)(uint64_t low);
} state;

/* Where wrapped functions are looked for, and what is never patched: the runtime's own calls to
 * itself are its business. */
static const char *const runtime[] = {"libc.so.6",     "libpthread.so.0", "libdl.so.2",
                                      "librt.so.1",    "libstdc++.so.6",  "libc++abi.so.1",
                                      "libgcc_s.so.1", "libc++.so.1"};
#define RUNTIME_UNPATCHED 4 /* the first ones */

static int runtime_rank(const char *soname) {
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        if (strcmp(soname, runtime[i]) == 0)
            return (int)i;
    return -1;
}

static int never_patched(const struct bp_elf *elf) {
    int rank = runtime_rank(elf->soname);
    uint64_t self = (uint64_t)&state;
    return (rank >= 0 && rank < RUNTIME_UNPATCHED) || strncmp(elf->soname, "ld-linux", 8) == 0 ||
           strncmp(elf->soname, "linux-vdso", 10) == 0 || (self >= elf->low && self < elf->high) ||
           bp_source_leaves_alone(elf->soname);
}

/* GHC's code jumps to its functions, with a stack of its own in rbp and an argument in rbx, and
 * reads tables in front of them: a stub cannot stand in their place. All of its libraries are
 * named so, and whatever is compiled by it needs one. */
static int is_not_c(const struct bp_elf *elf) {
    return bp_elf_is_or_needs(elf, "libHS");
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct bp_loaded *known(const struct bp_elf *elf) {
    for (uint32_t i = 0; i < state.count; i++)
        if (state.objects[i].elf.dynamic == elf->dynamic && state.objects[i].elf.low == elf->low &&
            !state.objects[i].gone)
            return &state.objects[i];
    return NULL;
}

static struct bp_loaded first_objects[FIRST];

static struct bp_loaded *new_loaded(void) {
    if (state.count == state.capacity) {
        uint32_t capacity = state.capacity ? 4 * state.capacity : FIRST;
        struct bp_loaded *objects =
            state.capacity ? bp_pages_new(capacity * sizeof *objects) : first_objects;
        if (!objects)
            return NULL;
        if (state.count) {
            memcpy(objects, state.objects, state.count * sizeof *objects);
            if (state.objects != first_objects)
                bp_pages_free(state.objects, state.capacity * sizeof *objects);
        }
        state.objects = objects;
        state.capacity = capacity;
    }
    return &state.objects[state.count];
}

static void describe(struct bp_loaded *object, const char *path) {
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_writer *writer = &bp_process.writer;
    uint32_t path_index = bp_writer_string(writer, path);
    uint32_t soname = bp_writer_string(writer, object->elf.soname);
    struct bp_object *record = bp_writer_item(writer, BP_OBJECTS, &object->index);
    if (record) {
        *record = (struct bp_object){.path = path_index,
                                     .soname = soname,
                                     .base = object->elf.base,
                                     .low = object->elf.low,
                                     .high = object->elf.high};
        record->build_id_size =
            bp_elf_build_id(&object->elf, record->build_id, sizeof record->build_id);
        record->flags = (state.late ? BP_OBJECT_LATE : 0) | (object->main ? BP_OBJECT_MAIN : 0) |
                        (object->hooked ? BP_OBJECT_HOOKED : 0) |
                        (object->not_c ? BP_OBJECT_NOT_C : 0);
        bp_writer_commit(writer, BP_OBJECTS);
    }
    object->record = record;
    bp_unlock(&bp_process.lock, mask);
}

static void add_object(const struct bp_elf *elf) {
    struct bp_loaded *object = new_loaded();
    if (!object)
        return;
    *object = (struct bp_loaded){.elf = *elf, .scan = state.scan, .global = !state.late};
    object->unpatched = never_patched(elf);
    object->not_c = is_not_c(elf);
    object->main = state.count == 0;
    const char *path = object->main ? bp_process.writer.header->executable : elf->path;
    int source = bp_source_wants_library(elf->soname);
    object->hooked = source || (bp_hook_wants_library(path, elf->soname) &&
                                !(object->unpatched && runtime_rank(elf->soname) < 0));
    if (strstr(base_name(path), "greenlet"))
        bp_process.copies_stacks = 1;
    describe(object, path);
    if (state.came)
        state.came(&object->elf);
    state.count++;
    if (runtime_rank(elf->soname) >= 0)
        bp_hook_add_runtime(&object->elf, object->index);
    /* First, because who asks first for a function has it. */
    if (!source && !object->unpatched && !object->not_c && runtime_rank(elf->soname) < 0)
        object->has_found =
            bp_source_find(&object->elf, object->index, path, object->hooked || object->main) > 0;
    if (object->hooked && object->record && !object->not_c)
        object->record->exports = source ? bp_source_add_exports(&object->elf, object->index)
                                         : bp_hook_add_exports(&object->elf, path, object->index);
    if (source && object->record && !object->record->exports)
        object->record->flags &= ~BP_OBJECT_HOOKED; /* it has functions with wrappers, no others */
}

static int note_object(struct dl_phdr_info *info, size_t size, void *unused) {
    struct bp_elf elf;
    (void)size;
    (void)unused;
    if (bp_elf_read(&elf, info) != 0)
        return 0;
    struct bp_loaded *object = known(&elf);
    if (object)
        object->scan = state.scan;
    else
        add_object(&elf);
    return 0;
}

static void forget_unloaded(void) {
    for (uint32_t i = 0; i < state.count; i++) {
        struct bp_loaded *object = &state.objects[i];
        if (object->scan == state.scan || object->gone)
            continue;
        object->gone = 1;
        if (object->record)
            object->record->flags |= BP_OBJECT_GONE;
        bp_hook_forget(object->elf.low, object->elf.high);
        bp_slots_forget(object->elf.low, object->elf.high);
        if (state.went)
            state.went(object->elf.low);
    }
}

/* What the opened object needs is as complete as itself. */
static void mark_complete(struct bp_loaded *object) {
    object->complete = 1;
    for (uint32_t i = 0; i < state.count; i++) {
        struct bp_loaded *other = &state.objects[i];
        if (!other->complete && !other->gone && bp_elf_needs(&object->elf, other->elf.soname))
            mark_complete(other);
    }
}

/* Looks at `opening` after the objects were noted: a dlopen that begins later brings others. */
static void find_complete(const void *opened, const int *opening) {
    int all = !opening || __atomic_load_n(opening, __ATOMIC_SEQ_CST) == 0;
    for (uint32_t i = 0; i < state.count; i++) {
        struct bp_loaded *object = &state.objects[i];
        if (all)
            object->complete = 1;
        else if (object->elf.dynamic == opened && !object->complete && !object->gone)
            mark_complete(object);
    }
}

static int is_hooked(const struct bp_loaded *object) {
    return object->hooked || object->has_found;
}

static void patch_all(void) {
    uint32_t hooked = 0;
    for (uint32_t i = 0; i < state.count; i++)
        hooked += is_hooked(&state.objects[i]) && !state.objects[i].gone;
    for (uint32_t i = 0; i < state.count; i++) {
        struct bp_loaded *object = &state.objects[i];
        if (object->gone || object->unpatched || !object->complete ||
            (object->patched && hooked == state.hooked))
            continue; /* a new hooked object may be what lazy slots of old ones wait for */
        bp_patch(object, state.objects, state.count);
        object->patched = 1;
    }
    state.hooked = hooked;
}

struct scan {
    const void *opened;
    const int *opening;
    int closed; /* only what went */
};

/* Runs inside dl_iterate_phdr, whose lock is recursive: nothing is unloaded meanwhile. Our lock
 * comes second, always. */
static int scan(struct dl_phdr_info *info, size_t size, void *argument) {
    const struct scan *what = argument;
    (void)info;
    (void)size;
    uint64_t mask = bp_lock(&bp_hook_lock);
    state.scan++;
    dl_iterate_phdr(note_object, NULL);
    forget_unloaded();
    if (!what->closed) {
        find_complete(what->opened, what->opening);
        if (bp_pause_is_on())
            bp_slots_switch(0); /* one that leads to its stub is known */
        patch_all();
        if (bp_pause_is_on())
            bp_slots_switch(1);
    }
    state.late = 1; /* whatever comes from now on */
    bp_unlock(&bp_hook_lock, mask);
    return 1;
}

void bp_object_watch(void (*came)(const struct bp_elf *elf), void (*went)(uint64_t low)) {
    state.came = came;
    state.went = went;
}

void bp_object_scan(const void *opened, const int *opening) {
    struct scan what = {.opened = opened, .opening = opening};
    if (bp_orphaned())
        return;
    dl_iterate_phdr(scan, &what);
}

void bp_object_scan_closed(void) {
    struct scan what = {.closed = 1};
    if (bp_orphaned())
        return;
    dl_iterate_phdr(scan, &what);
}

/* The path of one object that is still to be pinned. */
static int next_to_pin(char *path, size_t size) {
    int found = 0;
    uint64_t mask = bp_lock(&bp_hook_lock);
    for (uint32_t i = 0; i < state.count && !found; i++) {
        struct bp_loaded *object = &state.objects[i];
        found = is_hooked(object) && !object->global && !object->gone && !object->pinned;
        if (found) {
            object->pinned = 1;
            snprintf(path, size, "%s", object->elf.path);
        }
    }
    bp_unlock(&bp_hook_lock, mask);
    return found;
}

void bp_object_pin(void (*pin)(const char *path)) {
    char path[4096];
    while (next_to_pin(path, sizeof path))
        pin(path);
}

/* Slots are in objects: none may be unloaded meanwhile, unless libc itself does it. */
int bp_object_switch(int paused) {
    uint64_t mask = bp_lock(&bp_hook_lock);
    int busy = __atomic_load_n(&state.closing, __ATOMIC_SEQ_CST);
    if (!busy)
        bp_slots_switch(paused);
    bp_unlock(&bp_hook_lock, mask);
    return !busy;
}

void bp_object_closing(int change) {
    uint64_t mask = bp_lock(&bp_hook_lock);
    state.closing += change;
    bp_unlock(&bp_hook_lock, mask);
}

int bp_object_at(uint64_t address, struct bp_elf *elf) {
    int found = 0;
    uint64_t mask = bp_lock(&bp_hook_lock);
    for (uint32_t i = 0; i < state.count && !found; i++) {
        const struct bp_loaded *object = &state.objects[i];
        found = !object->gone && address >= object->elf.low && address < object->elf.high;
        if (found)
            *elf = object->elf;
    }
    bp_unlock(&bp_hook_lock, mask);
    return found;
}

/* The runtime's objects as of the last lookup: at start some fifty functions are looked for, and
 * nothing is loaded in between. Guarded by the loader's lock. */
static struct {
    struct bp_elf elfs[sizeof runtime / sizeof *runtime];
    unsigned count;
    unsigned long long adds, subs; /* what the loader had loaded and unloaded then */
} found;

static int find_runtime(struct dl_phdr_info *info, size_t size, void *argument) {
    struct bp_elf elf;
    int *begun = argument;
    (void)size;
    if (!*begun && found.count && found.adds == info->dlpi_adds && found.subs == info->dlpi_subs)
        return 1;
    if (!*begun)
        found.count = 0;
    *begun = 1;
    found.adds = info->dlpi_adds;
    found.subs = info->dlpi_subs;
    if (bp_elf_read(&elf, info) == 0 && runtime_rank(elf.soname) >= 0 &&
        found.count < sizeof found.elfs / sizeof *found.elfs)
        found.elfs[found.count++] = elf;
    return 0;
}

struct lookup {
    const char *name;
    void *address;
};

/* Runs inside dl_iterate_phdr, once, for its lock. */
static int look_up(struct dl_phdr_info *info, size_t size, void *argument) {
    struct lookup *lookup = argument;
    int begun = 0;
    (void)info;
    (void)size;
    dl_iterate_phdr(find_runtime, &begun);
    for (unsigned i = 0; i < found.count && !lookup->address; i++) {
        const ElfW(Sym) *symbol = bp_elf_find(&found.elfs[i], lookup->name, NULL);
        if (symbol)
            lookup->address = (void *)bp_elf_address(&found.elfs[i], symbol);
    }
    return 1;
}

void *bp_object_runtime_function(const char *name) {
    struct lookup lookup = {name, NULL};
    dl_iterate_phdr(look_up, &lookup);
    return lookup.address;
}
