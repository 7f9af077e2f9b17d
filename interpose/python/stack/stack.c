/* SPDX-License-Identifier: MIT
 *
 * Finding CPython and its layout once, and then reading frames from the innermost outwards; the
 * names are read later, when a sample is new.
 */
#include "interpose/python/stack/stack.h"

#include <link.h>

#include "interpose/base/hash.h"
#include "interpose/hook/elf.h"
#include "interpose/python/layout.h"
#include "interpose/python/location.h"
#include "interpose/python/stack/names.h"
#include "interpose/python/stack/values.h"

#define FRAME_SIZE 112 /* enough of a frame in every version */

static struct {
    const struct bp_layout *layout; /* NULL until CPython was found */
    void *(*tstate)(void);          /* PyGILState_GetThisThreadState: reads thread-specific data */
    uint64_t eval_low, eval_high;
    uint64_t low, high;
    const char *failed; /* why its frames cannot be read */
} state;

static void take(const struct bp_elf *elf, const ElfW(Sym) * tstate, const ElfW(Sym) * eval,
                 const char *version) {
    state.layout = bp_layout_find(version);
    if (!state.layout) {
        state.failed = "a version of Python that battprof does not know: no Python frames";
        return;
    }
    state.tstate = (void *(*)(void))bp_elf_address(elf, tstate);
    state.eval_low = bp_elf_address(elf, eval);
    state.eval_high = state.eval_low + eval->st_size;
    state.low = elf->low;
    state.high = elf->high;
}

/* A free-threaded build has other objects; it exports this. */
static int look(struct dl_phdr_info *info, size_t size, void *unused) {
    struct bp_elf elf;
    (void)size;
    (void)unused;
    if (bp_elf_read(&elf, info) != 0)
        return 0;
    const ElfW(Sym) *eval = bp_elf_find(&elf, "_PyEval_EvalFrameDefault", NULL);
    const ElfW(Sym) *tstate = bp_elf_find(&elf, "PyGILState_GetThisThreadState", NULL);
    const ElfW(Sym) *version = bp_elf_find(&elf, "Py_GetVersion", NULL);
    if (!eval || !tstate || !version)
        return 0;
    if (bp_elf_find(&elf, "_Py_MergeZeroLocalRefcount", NULL)) {
        state.failed = "a free-threaded Python: no Python frames";
        return 1;
    }
    const char *(*get)(void) = (const char *(*)(void))bp_elf_address(&elf, version);
    take(&elf, tstate, eval, get());
    return 1;
}

int bp_py_stack_find(const char **reason) {
    if (state.layout || state.failed)
        return 0;
    dl_iterate_phdr(look, NULL);
    *reason = state.failed;
    return state.layout ? 1 : state.failed ? -1 : 0;
}

int bp_py_stack_is_eval(uint64_t pc) {
    return pc >= state.eval_low && pc < state.eval_high;
}

int bp_py_stack_is_inside(uint64_t pc) {
    return pc >= state.low && pc < state.high;
}

/* From 3.12 on a frame of its own stands for the call from C; before, the frame has a mark. */
static int is_entry_only(const struct bp_layout *layout, uint64_t frame) {
    return layout->minor >= 12 && *(const uint8_t *)(frame + layout->owner) >= layout->entry;
}

static int is_entry(const struct bp_layout *layout, uint64_t frame) {
    return !layout->owner ||
           (layout->minor == 11 && *(const uint8_t *)(frame + layout->owner) == layout->entry);
}

/* Without `safe` all is readable. */
static int readable(struct bp_safe *safe, uint64_t address, uint64_t size) {
    return !safe || bp_safe_range(safe, address, size);
}

/* The last eight characters of a text of more than a byte a character, or as many as there are. */
static __attribute__((noinline)) uint64_t end_of_wide(struct bp_safe *safe, uint64_t begin,
                                                      uint64_t size, uint64_t most) {
    uint64_t hash = size, part;
    for (uint64_t at = size > most ? size - most : 0; at + sizeof part <= size; at += sizeof part) {
        if (!readable(safe, begin + at, sizeof part))
            break;
        __builtin_memcpy(&part, (const void *)(begin + at), sizeof part);
        hash = bp_mix(hash, part);
    }
    return hash;
}

/* How long a text is, and its last characters; those of a subclass of str are elsewhere. */
static inline __attribute__((always_inline)) uint64_t
end_of_text(const struct bp_layout *layout, struct bp_safe *safe, uint64_t text) {
    if (!readable(safe, text, layout->wide + sizeof(uint64_t)))
        return 0;
    uint32_t bits = *(const uint32_t *)(text + BP_LAYOUT_TEXT_STATE), kind = bits >> 2 & 7;
    uint64_t size = bp_py_value_word(text, BP_LAYOUT_SIZE) * kind;
    uint64_t begin = text + (bits >> 6 & 1 ? layout->ascii : layout->wide), last = 0;
    if (!(bits >> 5 & 1))
        return size;
    if (size < sizeof last) {
        last = bp_py_value_word(begin, 0) & ((UINT64_C(1) << 8 * size) - 1);
    } else if (kind > 1) {
        return end_of_wide(safe, begin, size, kind * sizeof last);
    } else if (readable(safe, begin + size - sizeof last, sizeof last)) {
        __builtin_memcpy(&last, (const void *)(begin + size - sizeof last), sizeof last);
    }
    return bp_mix(size, last);
}

static __attribute__((noinline)) uint64_t end_of_name(const struct bp_layout *layout,
                                                      struct bp_safe *safe, uint64_t name) {
    return end_of_text(layout, safe, name);
}

/* Names that a compiler made have a hash. */
static uint64_t hash_of_name(const struct bp_layout *layout, struct bp_safe *safe, uint64_t name) {
    uint64_t hash =
        readable(safe, name, layout->wide) ? bp_py_value_word(name, BP_LAYOUT_TEXT_HASH) : 0;
    return hash != UINT64_MAX ? hash : end_of_name(layout, safe, name);
}

/* The first and the last bytes of a line table, and where it is; of a short one what comes before
 * them, too, which stays the same. */
static uint64_t ends_of_table(struct bp_safe *safe, uint64_t table) {
    uint64_t first, last, size;
    if (!readable(safe, table, BP_LAYOUT_BYTES + sizeof last))
        return 0;
    size = bp_py_value_word(table, BP_LAYOUT_SIZE);
    first = bp_py_value_word(table, BP_LAYOUT_BYTES - (size < sizeof first ? sizeof first : 0));
    if (!readable(safe, table + BP_LAYOUT_BYTES + size - sizeof last, sizeof last))
        return 0;
    __builtin_memcpy(&last, (const void *)(table + BP_LAYOUT_BYTES + size - sizeof last),
                     sizeof last);
    return (table ^ size << 48) + first * 31 + last;
}

/* Code that a program generates is often where the code before it was, and so are its texts: what
 * is written in them tells it apart. */
static uint64_t check_of(const struct bp_layout *layout, struct bp_safe *safe, uint64_t code) {
    uint64_t file = bp_py_value_word(code, layout->filename);
    uint64_t name = bp_py_value_word(code, layout->qualname ? layout->qualname : layout->name);
    uint64_t hash = bp_mix(file ^ hash_of_name(layout, safe, name),
                           ends_of_table(safe, bp_py_value_word(code, layout->table)));
    return bp_mix(hash, *(const uint32_t *)(code + layout->line)) ^ end_of_text(layout, safe, file);
}

static uint32_t place_of(const struct bp_layout *layout, uint64_t frame, uint64_t code) {
    uint64_t at = bp_py_value_word(frame, layout->instruction);
    int32_t number = (int32_t)at < 0 ? 0 : (int32_t)at;
    if (layout->place == BP_PLACE_POINTER) {
        uint64_t first = code + layout->instructions;
        return at >= first && at - first < UINT32_MAX ? (uint32_t)(at - first) : 0;
    }
    return (uint32_t)(layout->place == BP_PLACE_WORDS ? 2 * number : number);
}

static uint64_t innermost(const struct bp_layout *layout, struct bp_safe *safe) {
    uint64_t tstate = (uint64_t)state.tstate(), frame = 0;
    if (!tstate || !bp_safe_load(safe, tstate + layout->current, &frame) || !frame)
        return 0;
    if (layout->indirect >= 0 && !bp_safe_load(safe, frame + (uint64_t)layout->indirect, &frame))
        return 0;
    return frame;
}

int bp_py_stack_read(struct bp_py_stack *python, struct bp_safe *safe) {
    const struct bp_layout *layout = state.layout;
    python->count = 0;
    python->cut = 0;
    if (!layout)
        return 0;
    uint64_t frame = innermost(layout, safe);
    for (; frame; frame = bp_py_value_word(frame, layout->previous)) {
        if (frame & 7 || !bp_safe_range(safe, frame, FRAME_SIZE))
            return -1;
        if (is_entry_only(layout, frame)) {
            if (python->count)
                python->frames[python->count - 1].entry = 1;
            continue;
        }
        uint64_t code = bp_py_value_word(frame, layout->code) & ~(uint64_t)layout->tags;
        if (!bp_py_value_is_code(safe, code))
            return -1;
        if (python->count == BP_PY_STACK_DEPTH) {
            python->cut = 1;
            break;
        }
        python->frames[python->count++] = (struct bp_py_stack_frame){
            code, check_of(layout, safe, code), bp_py_value_word(frame, layout->globals),
            place_of(layout, frame, code), (uint32_t)is_entry(layout, frame)};
    }
    return (int)python->count;
}

static int read_text(struct bp_safe *safe, uint64_t object, char *to, size_t size) {
    return bp_py_value_text(state.layout, safe, object, to, size);
}

/* Without its globals' name a module is guessed from its file. */
static uint32_t name_code(struct bp_py_stack *python, struct bp_safe *safe,
                          const struct bp_py_stack_frame *frame) {
    const struct bp_layout *layout = state.layout;
    uint64_t code = frame->code;
    struct bp_py_names_function function = {.file = python->file,
                                            .line = *(const uint32_t *)(code + layout->line),
                                            .plain = python->plain,
                                            .module = python->module};
    if (!read_text(safe, bp_py_value_word(code, layout->filename), python->file,
                   sizeof python->file) ||
        !read_text(safe, bp_py_value_word(code, layout->name), python->plain, sizeof python->plain))
        return BP_PY_NO_NAME;
    if (layout->qualname && read_text(safe, bp_py_value_word(code, layout->qualname), python->name,
                                      sizeof python->name))
        function.name = python->name;
    if (!bp_py_value_module(layout, safe, frame->globals, python->module, sizeof python->module))
        python->module[0] = '\0';
    return bp_py_names_get(&function);
}

int bp_py_stack_name(struct bp_py_stack *python, struct bp_safe *safe,
                     const struct bp_py_stack_frame *frame, uint32_t *func, uint32_t *line) {
    const struct bp_layout *layout = state.layout;
    uint64_t code = frame->code;
    uint64_t hash = bp_mix(code, (uint64_t)frame->place << 40);
    struct bp_py_stack_known *known = &python->known[hash >> 32 & (BP_PY_STACK_CACHE - 1)];
    uint32_t generation = bp_py_names_generation();
    if (known->code != code || known->place != frame->place || known->check != frame->check ||
        known->generation != generation) {
        uint32_t found = name_code(python, safe, frame);
        if (found == BP_PY_NO_NAME)
            return 0;
        *known = (struct bp_py_stack_known){code, frame->check, frame->place, found, 0, generation};
        known->line = bp_lines_find(layout, safe, bp_py_value_word(code, layout->table),
                                    frame->place, *(const uint32_t *)(code + layout->line));
    }
    *func = known->func;
    *line = known->line;
    return 1;
}
