/* SPDX-License-Identifier: MIT */
#include "interpose/sample/python.h"

#include <link.h>

#include "interpose/elf.h"
#include "interpose/sample/layout.h"
#include "interpose/sample/lines.h"
#include "interpose/sample/names.h"
#include "interpose/sample/sampler.h"

#define TYPE_NAME 24   /* PyTypeObject.tp_name */
#define FRAME_SIZE 112 /* enough of a frame in every version */
#define CODE_SIZE 144  /* and of a code object */

static struct {
    const struct bp_layout *layout; /* NULL until CPython was found */
    void *(*tstate)(void);          /* PyGILState_GetThisThreadState: reads thread-specific data */
    uint64_t eval_low, eval_high;
    uint64_t low, high;
    uint64_t code_type, text_type; /* once met */
    int failed;
} state;

static int minor_of(const char *version) {
    int minor = 0;
    if (version[0] != '3' || version[1] != '.')
        return 0;
    for (version += 2; *version >= '0' && *version <= '9'; version++)
        minor = 10 * minor + (*version - '0');
    return minor;
}

static void take(const struct bp_elf *elf, const ElfW(Sym) * tstate, const ElfW(Sym) * eval,
                 int minor) {
    for (unsigned i = 0; i < BP_LAYOUTS; i++)
        if (bp_layouts[i].minor == minor)
            state.layout = &bp_layouts[i];
    if (!state.layout) {
        state.failed = 1;
        bp_sampler_note("a version of Python that battprof does not know: no Python frames");
        return;
    }
    state.tstate = (void *(*)(void))bp_elf_address(elf, tstate);
    state.eval_low = bp_elf_address(elf, eval);
    state.eval_high = state.eval_low + eval->st_size;
    state.low = elf->low;
    state.high = elf->high;
    bp_sampler_flag(BP_SAMPLER_PYTHON);
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
        state.failed = 1;
        bp_sampler_note("a free-threaded Python: no Python frames");
        return 1;
    }
    const char *(*get)(void) = (const char *(*)(void))bp_elf_address(&elf, version);
    take(&elf, tstate, eval, minor_of(get()));
    return 1;
}

void bp_python_find(void) {
    if (!state.layout && !state.failed)
        dl_iterate_phdr(look, NULL);
}

int bp_python_is_eval(uint64_t pc) {
    return pc >= state.eval_low && pc < state.eval_high;
}

int bp_python_is_inside(uint64_t pc) {
    return pc >= state.low && pc < state.high;
}

static uint64_t word(uint64_t address, unsigned offset) {
    return *(const uint64_t *)(address + offset);
}

static int same_text(struct bp_safe *safe, uint64_t address, const char *text) {
    for (uint64_t i = 0;; i++) {
        if (!bp_safe_range(safe, address + i, 1) || *(const char *)(address + i) != text[i])
            return 0;
        if (!text[i])
            return 1;
    }
}

/* An object of the type called `name`; the type is known again by its address. */
static int is_a(struct bp_safe *safe, uint64_t object, uint64_t size, const char *name,
                uint64_t *type) {
    uint64_t seen, called;
    if (object & 7 || !bp_safe_range(safe, object, size))
        return 0;
    seen = word(object, BP_LAYOUT_TYPE);
    if (seen == __atomic_load_n(type, __ATOMIC_RELAXED))
        return 1;
    if (*type || !bp_safe_load(safe, seen + TYPE_NAME, &called) || !same_text(safe, called, name))
        return 0;
    __atomic_store_n(type, seen, __ATOMIC_RELAXED);
    return 1;
}

static int is_code(struct bp_safe *safe, uint64_t object) {
    return is_a(safe, object, CODE_SIZE, "code", &state.code_type);
}

/* Of 3.12 and later a frame of its own stands for the call from C; before, a mark on the frame. */
static int is_entry_only(const struct bp_layout *layout, uint64_t frame) {
    return layout->minor >= 12 && *(const uint8_t *)(frame + layout->owner) == layout->entry;
}

static int is_entry(const struct bp_layout *layout, uint64_t frame) {
    return !layout->owner ||
           (layout->minor == 11 && *(const uint8_t *)(frame + layout->owner) == layout->entry);
}

/* Without `safe` all is readable. */
static int readable(struct bp_safe *safe, uint64_t address, uint64_t size) {
    return !safe || bp_safe_range(safe, address, size);
}

/* Of a text of more than a byte a character the last eight, or as many as there are. */
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
    uint64_t size = word(text, BP_LAYOUT_SIZE) * kind;
    uint64_t begin = text + (bits >> 6 & 1 ? layout->ascii : layout->wide), last = 0;
    if (!(bits >> 5 & 1))
        return size;
    if (size < sizeof last) {
        last = word(begin, 0) & ((UINT64_C(1) << 8 * size) - 1);
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
    uint64_t hash = readable(safe, name, layout->wide) ? word(name, BP_LAYOUT_TEXT_HASH) : 0;
    return hash != UINT64_MAX ? hash : end_of_name(layout, safe, name);
}

/* The first and the last bytes of a line table, and where it is; of a short one what comes before
 * them, too, which stays the same. */
static uint64_t ends_of_table(struct bp_safe *safe, uint64_t table) {
    uint64_t first, last, size;
    if (!readable(safe, table, BP_LAYOUT_BYTES + sizeof last))
        return 0;
    size = word(table, BP_LAYOUT_SIZE);
    first = word(table, BP_LAYOUT_BYTES - (size < sizeof first ? sizeof first : 0));
    if (!readable(safe, table + BP_LAYOUT_BYTES + size - sizeof last, sizeof last))
        return 0;
    __builtin_memcpy(&last, (const void *)(table + BP_LAYOUT_BYTES + size - sizeof last),
                     sizeof last);
    return (table ^ size << 48) + first * 31 + last;
}

/* Code that a program generates is often where the code before it was, and so are its texts: what
 * is written in them tells it apart. */
static uint64_t check_of(const struct bp_layout *layout, struct bp_safe *safe, uint64_t code) {
    uint64_t file = word(code, layout->filename);
    uint64_t name = word(code, layout->qualname ? layout->qualname : layout->name);
    uint64_t hash = bp_mix(file ^ hash_of_name(layout, safe, name),
                           ends_of_table(safe, word(code, layout->table)));
    return bp_mix(hash, *(const uint32_t *)(code + layout->line)) ^ end_of_text(layout, safe, file);
}

static uint32_t place_of(const struct bp_layout *layout, uint64_t frame, uint64_t code) {
    uint64_t at = word(frame, layout->instruction);
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

int bp_python_read(struct bp_python *python, struct bp_safe *safe) {
    const struct bp_layout *layout = state.layout;
    python->count = 0;
    python->cut = 0;
    if (!layout)
        return 0;
    uint64_t frame = innermost(layout, safe);
    for (; frame; frame = word(frame, layout->previous)) {
        if (frame & 7 || !bp_safe_range(safe, frame, FRAME_SIZE))
            return -1;
        if (is_entry_only(layout, frame)) {
            if (python->count)
                python->frames[python->count - 1].entry = 1;
            continue;
        }
        uint64_t code = word(frame, layout->code);
        if (!is_code(safe, code))
            return -1;
        if (python->count == BP_WALK_DEPTH) {
            python->cut = 1;
            break;
        }
        python->frames[python->count++] = (struct bp_python_frame){
            code, check_of(layout, safe, code), place_of(layout, frame, code),
            (uint32_t)is_entry(layout, frame)};
    }
    return (int)python->count;
}

uint64_t bp_python_state(void) {
    return state.layout ? (uint64_t)state.tstate() : 0;
}

/* Within a call there is nothing to be afraid of: what the thread's state leads to exists. */
static uint64_t innermost_in_call(const struct bp_layout *layout) {
    uint64_t frame = word(bp_python_state(), layout->current);
    return layout->indirect >= 0 ? word(frame, (unsigned)layout->indirect) : frame;
}

static struct bp_python_step step_of(const struct bp_layout *layout, uint64_t frame) {
    if (is_entry_only(layout, frame))
        return (struct bp_python_step){.frame = frame};
    uint64_t code = word(frame, layout->code);
    return (struct bp_python_step){frame, code, word(frame, layout->instruction),
                                   check_of(layout, NULL, code)};
}

uint32_t bp_python_steps(struct bp_python_step *steps, uint32_t room) {
    const struct bp_layout *layout = state.layout;
    uint32_t count = 0;
    for (uint64_t frame = innermost_in_call(layout); frame; frame = word(frame, layout->previous)) {
        if (count == room)
            return 0;
        steps[count++] = step_of(layout, frame);
    }
    return count;
}

int bp_python_is_at(const struct bp_python_step *steps, uint32_t count) {
    const struct bp_layout *layout = state.layout;
    uint64_t frame = innermost_in_call(layout);
    for (uint32_t i = 0; i < count; i++, frame = word(frame, layout->previous)) {
        if (frame != steps[i].frame)
            return 0;
        struct bp_python_step step = step_of(layout, frame);
        if (step.code != steps[i].code || step.instruction != steps[i].instruction ||
            step.check != steps[i].check)
            return 0;
    }
    return !frame;
}

/* UTF-8 of one character; the number of bytes. */
static unsigned encode(uint32_t c, char *to) {
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800)
        return to[0] = (char)(0xc0 | c >> 6), to[1] = (char)(0x80 | (c & 0x3f)), 2;
    unsigned n = c < 0x10000 ? 3 : 4;
    for (unsigned i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((n == 3 ? 0xe0 : 0xf0) | c);
    return n;
}

/* A text as UTF-8, cut if it is longer than fits. 0 if it makes no sense. */
static int read_text(struct bp_safe *safe, uint64_t object, char *to, size_t size) {
    const struct bp_layout *layout = state.layout;
    if (!is_a(safe, object, layout->wide, "str", &state.text_type))
        return 0;
    uint32_t bits = *(const uint32_t *)(object + BP_LAYOUT_TEXT_STATE);
    uint32_t kind = bits >> 2 & 7, compact = bits >> 5 & 1, ascii = bits >> 6 & 1;
    uint64_t length = word(object, BP_LAYOUT_SIZE), used = 0;
    uint64_t data = object + (ascii ? layout->ascii : layout->wide);
    if (!compact || (kind != 1 && kind != 2 && kind != 4) || length > 1 << 20)
        return 0;
    length = length < size ? length : size;
    if (!bp_safe_range(safe, data, length * kind + 1))
        return 0;
    for (uint64_t i = 0; i < length && used + 5 < size; i++) {
        uint32_t c = 0;
        __builtin_memcpy(&c, (const void *)(data + i * kind), kind);
        used += encode(c, to + used);
    }
    to[used] = '\0';
    return 1;
}

static uint32_t name_code(struct bp_python *python, struct bp_safe *safe, uint64_t code) {
    const struct bp_layout *layout = state.layout;
    uint32_t first = *(const uint32_t *)(code + layout->line);
    if (!read_text(safe, word(code, layout->filename), python->file, sizeof python->file) ||
        !read_text(safe, word(code, layout->name), python->plain, sizeof python->plain))
        return BP_NAMES_NONE;
    if (!layout->qualname ||
        !read_text(safe, word(code, layout->qualname), python->name, sizeof python->name))
        __builtin_memcpy(python->name, python->plain, sizeof python->name);
    return bp_names_get(python->file, first, python->name, python->plain);
}

int bp_python_name(struct bp_python *python, struct bp_safe *safe,
                   const struct bp_python_frame *frame, uint32_t *func, uint32_t *line) {
    const struct bp_layout *layout = state.layout;
    uint64_t code = frame->code;
    uint64_t hash = (code ^ (uint64_t)frame->place << 40) * UINT64_C(0x9e3779b97f4a7c15);
    struct bp_python_known *known = &python->known[hash >> 32 & (BP_PYTHON_CACHE - 1)];
    uint32_t generation = bp_names_generation();
    if (known->code != code || known->place != frame->place || known->check != frame->check ||
        known->generation != generation) {
        uint32_t found = name_code(python, safe, code);
        if (found == BP_NAMES_NONE)
            return 0;
        *known = (struct bp_python_known){code, frame->check, frame->place, found, 0, generation};
        known->line = bp_lines_find(layout, safe, word(code, layout->table), frame->place,
                                    *(const uint32_t *)(code + layout->line));
    }
    *func = known->func;
    *line = known->line;
    return 1;
}
