/* SPDX-License-Identifier: MIT
 *
 * What we know of code objects: a table by address, filled when a code object is met for the first
 * time, emptied by CPython itself when one is freed (co_extra), so an address that is used again is
 * never mistaken. The GIL protects it: everything here runs in the main interpreter.
 */
#ifndef BP_INTERPOSE_PYTHON_CODE_H
#define BP_INTERPOSE_PYTHON_CODE_H

#include "interpose/base/hash.h"
#include "interpose/hook/source.h"
#include "interpose/python/choose.h"

struct bp_py_lines;

enum bp_py_kind {
    BP_PY_IGNORED = 1, /* a module's own code: no frame */
    BP_PY_OPEN,        /* every call is a frame */
    BP_PY_INNER,       /* a generator expression: its time is its consumer's, if that is DSL */
    BP_PY_OUTER        /* code of another module: a frame where DSL code calls it */
};

struct bp_py_code {
    void *code;
    struct bp_stub *plain;     /* `stub`, where every call simply is a frame; else NULL */
    struct bp_stub *stub;      /* NULL before the first frame */
    struct bp_py_lines *lines; /* whose hits and times are counted, or NULL */
    const char *qualname;      /* where CPython does not keep it (before 3.11), else NULL */
    struct bp_py_code *next;   /* free list */
    uint32_t events;           /* sys.monitoring: what is switched on */
    uint32_t asleep;           /* that is switched off while recording is paused */
    uint8_t kind;              /* enum bp_py_kind; 0: named but not met yet */
    uint8_t generator;         /* or coroutine: it is resumed */
    uint8_t chosen;            /* DSL */
    uint8_t quick;             /* a generator's steps may be recorded without bp_thread_resume */
    uint8_t failed;            /* no room for one more function */
    uint16_t counted;          /* flags of the patterns that ask for this very function, or 0 */
    int16_t role;              /* in the rules for tasks, -1: none */
    uint8_t task;              /* its calls are tasks, or generate code */
    int16_t id;        /* of a task: which argument is its id; 0: not looked for, -1: none */
    uint8_t spreads;   /* calls function(*arguments), for which there is no event: spread.h */
    uint8_t arguments; /* of such code: places of its local variables */
    uint8_t first_enclosed;
    uint8_t enclosed;
    uint32_t starts; /* of such code */
};

struct bp_py_slot {
    void *code;
    struct bp_py_code *known;
};

struct bp_py_table {
    struct bp_py_slot *slots; /* open addressing, a power of two of them */
    uint32_t shift;           /* what leaves an index of a hash */
    uint32_t used;
    struct bp_py_slot *end;
};

extern struct bp_py_table bp_py_codes __attribute__((visibility("hidden")));

/* By function of the profile: 0 native, else of Python. */
#define BP_PY_FRAME_DSL 1
#define BP_PY_FRAME_OTHER 2
extern uint8_t bp_py_frames[BP_FUNCTIONS] __attribute__((visibility("hidden")));

/* The last step of a generator expression that was its consumer's: its code, and the innermost
 * node, a DSL function's. The same again needs no second thought. */
struct bp_py_step {
    const void *code;
    uint64_t node;
};
extern struct bp_py_step bp_py_step __attribute__((visibility("hidden")));

static inline struct bp_py_slot *bp_py_slot_of(const struct bp_py_table *table, const void *code) {
    return &table->slots[bp_mix(0, (uint64_t)code) >> table->shift];
}

static inline struct bp_py_slot *bp_py_slot_next(const struct bp_py_table *table,
                                                 struct bp_py_slot *slot) {
    return slot + 1 == table->end ? table->slots : slot + 1;
}

static inline struct bp_py_code *bp_py_code_find(const void *code) {
    struct bp_py_slot *slot = bp_py_slot_of(&bp_py_codes, code);
    while (__builtin_expect(slot->code != code, 0)) {
        if (!slot->code)
            return NULL;
        slot = bp_py_slot_next(&bp_py_codes, slot);
    }
    if (!slot->known)
        __builtin_unreachable();
    return slot->known;
}

/* Whether the innermost Python frame of the thread is the DSL's. */
static inline int bp_py_under_dsl(const struct bp_thread *thread) {
    const struct bp_entry *entry = (const struct bp_entry *)thread->current;
    for (;; entry = (const struct bp_entry *)entry->parent) {
        uint8_t frame = bp_py_frames[((const struct bp_node *)entry->node)->func];
        if (frame)
            return frame == BP_PY_FRAME_DSL;
        if (entry == &thread->root)
            return 0;
    }
}

/* 0, or -errno: without memory or co_extra there are no Python frames. */
int bp_py_code_init(enum bp_py_mode mode);

/* The code is met: find out what it is. NULL without memory; then nothing is opened. */
struct bp_py_code *bp_py_code_see(void *code, void *globals);

/* Announce its function to the profile, when its first frame opens. NULL: no frames of it. */
struct bp_stub *bp_py_code_stub(struct bp_py_code *known, void *globals);

/* Its qualified name, or its plain one before 3.11 where that is all that is known. Drop `held`. */
const char *bp_py_code_name(const struct bp_py_code *known, void **held);

/* Its function is `stub`: from now on its calls are frames. */
void bp_py_code_open(struct bp_py_code *known, struct bp_stub *stub);

/* __name__ of a dictionary of globals, "" if unknown; borrowed. See interpose/python/module.h. */
const char *bp_py_module_name(void *globals);

#endif
