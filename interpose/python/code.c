/* SPDX-License-Identifier: MIT */
#include "interpose/python/code.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "interpose/python/api.h"
#include "interpose/python/loaded.h"
#include "interpose/python/task.h"
#include "interpose/sample/names.h"
#include "interpose/task_rules.h"

#define FIRST_BITS 12         /* of the table: 64 kB */
#define RECORDS 1024          /* made at a time */
#define TEXT_SIZE (64u << 10) /* of qualified names, taken at a time */
#define NAME_SIZE 512
#define CO_OPTIMIZED 0x1 /* co_flags: a function, not a class body */
#define CO_RESUMED 0x2a0 /* generator, coroutine, asynchronous generator */
#define DEEPEST_NESTING 64

static struct {
    enum bp_py_mode mode;
    long extra; /* our index among those who keep something with code objects */
    struct bp_py_code *free;
    char *text;
    size_t text_left;
} state;

struct bp_py_table bp_py_codes;
uint8_t bp_py_frames[BP_FUNCTIONS];
struct bp_py_step bp_py_step;

static struct bp_py_slot *slot_for(const struct bp_py_table *table, const void *code) {
    struct bp_py_slot *slot = bp_py_slot_of(table, code);
    while (slot->code && slot->code != code)
        slot = bp_py_slot_next(table, slot);
    return slot;
}

static int grow(struct bp_py_table *table) {
    uint32_t bits = table->slots ? 64 - table->shift + 1 : FIRST_BITS;
    uint64_t size = UINT64_C(1) << bits;
    struct bp_py_slot *slots = bp_pages_new(size * sizeof *slots);
    struct bp_py_table bigger = {slots, 64 - bits, table->used, slots + size};
    if (!slots)
        return -ENOMEM;
    for (struct bp_py_slot *slot = table->slots; slot != table->end; slot++)
        if (slot->code)
            *slot_for(&bigger, slot->code) = *slot;
    if (table->slots)
        munmap(table->slots, (size_t)(table->end - table->slots) * sizeof *slots);
    *table = bigger;
    return 0;
}

static ptrdiff_t distance(const struct bp_py_table *table, const struct bp_py_slot *from,
                          const struct bp_py_slot *to) {
    return to >= from ? to - from : to - from + (table->end - table->slots);
}

/* Those after it that could not have their own place move up: no tombstones. */
static void erase(struct bp_py_table *table, struct bp_py_slot *hole) {
    for (struct bp_py_slot *slot = bp_py_slot_next(table, hole); slot->code;
         slot = bp_py_slot_next(table, slot)) {
        const struct bp_py_slot *home = bp_py_slot_of(table, slot->code);
        if (distance(table, home, slot) < distance(table, hole, slot))
            continue;
        *hole = *slot;
        hole = slot;
    }
    *hole = (struct bp_py_slot){NULL, NULL};
    table->used--;
}

/* CPython frees the code object. */
static void forget(void *record) {
    struct bp_py_code *known = record;
    if (!known || !bp_py_codes.slots)
        return;
    struct bp_py_slot *slot = slot_for(&bp_py_codes, known->code);
    if (slot->known != known)
        return;
    bp_py_step.code = NULL;
    erase(&bp_py_codes, slot);
    memset(known, 0, sizeof *known);
    known->next = state.free;
    state.free = known;
}

static int attach(void *code, struct bp_py_code *known) {
    int (*set)(void *, long, void *) =
        bp_py.PyUnstable_Code_SetExtra ? bp_py.PyUnstable_Code_SetExtra : bp_py._PyCode_SetExtra;
    if (set(code, state.extra, known) == 0)
        return 0;
    bp_py.PyErr_Clear();
    return -ENOMEM;
}

static int make_records(void) {
    struct bp_py_code *records = bp_pages_new(RECORDS * sizeof *records);
    for (int i = 0; records && i < RECORDS; i++) {
        records[i].next = state.free;
        state.free = &records[i];
    }
    return records ? 0 : -ENOMEM;
}

static struct bp_py_code *new_known(void *code) {
    if ((!state.free && make_records()) ||
        (bp_py_codes.used > UINT64_C(1) << (62 - bp_py_codes.shift) && grow(&bp_py_codes)))
        return NULL;
    struct bp_py_code *known = state.free;
    if (attach(code, known))
        return NULL;
    state.free = known->next;
    *known = (struct bp_py_code){.code = code};
    *slot_for(&bp_py_codes, code) = (struct bp_py_slot){code, known};
    bp_py_codes.used++;
    return known;
}

int bp_py_code_init(enum bp_py_mode mode) {
    long (*request)(void (*)(void *)) = bp_py.PyUnstable_Eval_RequestCodeExtraIndex
                                            ? bp_py.PyUnstable_Eval_RequestCodeExtraIndex
                                            : bp_py._PyEval_RequestCodeExtraIndex;
    if (!request || (!bp_py.PyUnstable_Code_SetExtra && !bp_py._PyCode_SetExtra))
        return -ENOSYS;
    state.mode = mode;
    state.extra = request(forget);
    return state.extra < 0 ? -ENOSPC : grow(&bp_py_codes);
}

const char *bp_py_module_name(void *globals) {
    void *name = globals ? bp_py.PyDict_GetItemString(globals, "__name__") : NULL;
    const char *text = name ? bp_py.PyUnicode_AsUTF8(name) : NULL;
    if (!text)
        bp_py.PyErr_Clear();
    return text ? text : "";
}

static int kind_of(const struct bp_py_code *known, const char *name) {
    if (strcmp(name, "<module>") == 0)
        return BP_PY_IGNORED;
    if (known->chosen || state.mode == BP_PY_ALL)
        return strcmp(name, "<genexpr>") == 0 ? BP_PY_INNER : BP_PY_OPEN;
    /* Comprehensions are no functions since 3.12; nobody counts them before either. */
    int expression = *name == '<' && strcmp(name, "<lambda>") != 0;
    return (known->counted || known->role >= 0) && !expression ? BP_PY_OPEN : BP_PY_OUTER;
}

/* As CPython keeps it since 3.11, as we found it before, or at least the name. */
const char *bp_py_code_name(const struct bp_py_code *known, void **held) {
    *held = NULL;
    if (known->qualname)
        return known->qualname;
    const char *name = bp_py_text(known->code, "co_qualname", held);
    if (*name)
        return name;
    bp_py_drop(*held);
    return bp_py_text(known->code, "co_name", held);
}

/* A class has a body, not calls. */
static uint16_t counted(const struct bp_py_code *known, const char *module, const char *file) {
    void *held;
    if (!bp_py_choose_counted(module, file, NULL) ||
        !(bp_py_number(known->code, "co_flags") & CO_OPTIMIZED))
        return 0;
    uint16_t flags = bp_py_choose_counted(module, file, bp_py_code_name(known, &held));
    bp_py_drop(held);
    return flags;
}

/* A generator runs by pieces: it may be a phase, but no task. */
static void find_role(struct bp_py_code *known, const char *module, const char *file) {
    void *held;
    known->role = -1;
    if (!(bp_py_number(known->code, "co_flags") & CO_OPTIMIZED))
        return;
    known->role = (int16_t)bp_py_task_role(module, file, bp_py_code_name(known, &held));
    bp_py_drop(held);
    known->task = known->role >= 0 && !known->generator &&
                  bp_task_role((unsigned)known->role)->flags & (BP_FUNC_TASK | BP_FUNC_INPUT);
}

static void find_out(struct bp_py_code *known, const char *module) {
    void *name, *held;
    const char *file = bp_py_text(known->code, "co_filename", &held);
    known->generator = (bp_py_number(known->code, "co_flags") & CO_RESUMED) != 0;
    known->chosen = bp_py_choose(module, file) != 0;
    known->counted = counted(known, module, file);
    find_role(known, module, file);
    known->kind = (uint8_t)kind_of(known, bp_py_text(known->code, "co_name", &name));
    bp_py_drop(name);
    bp_py_drop(held);
}

struct bp_py_code *bp_py_code_see(void *code, void *globals) {
    struct bp_py_error error;
    struct bp_py_code *known = bp_py_code_find(code);
    if (known && known->kind)
        return known;
    bp_py_error_save(&error);
    if (!known)
        known = new_known(code);
    if (known)
        find_out(known, bp_py_module_name(globals));
    bp_py_error_restore(&error);
    return known;
}

/* Before 3.11 a code object does not know its class: look at all that its module has. */
static void find_name(const struct bp_py_code *known, void *globals, const char *module) {
    void *held;
    if (known->qualname || !globals)
        return;
    if (!*bp_py_text(known->code, "co_qualname", &held))
        bp_py_loaded_visit(globals, module, 10);
    bp_py_drop(held);
}

static struct bp_stub *announce(struct bp_py_code *known, void *globals) {
    void *name, *file;
    char stem[NAME_SIZE];
    struct bp_source_function what = {.module = bp_py_module_name(globals), .kind = BP_FUNC_CALL};
    what.flags = BP_FUNC_PYTHON | known->counted | (known->chosen ? BP_FUNC_CHOSEN : 0);
    what.flags |= known->generator ? BP_FUNC_RESUMED : 0;
    if (known->role >= 0) {
        const struct bp_task_role *role = bp_task_role((unsigned)known->role);
        what.flags |= role->flags;
        what.phase = role->phase;
    }
    what.file = bp_py_text(known->code, "co_filename", &file);
    what.line = (uint32_t)bp_py_number(known->code, "co_firstlineno");
    find_name(known, globals, what.module);
    what.name = bp_py_code_name(known, &name);
    bp_py_stem(what.file, stem, sizeof stem);
    if ((known->chosen || known->counted || known->role >= 0) &&
        strncmp(what.module, "__m", 3) == 0)
        what.module = stem; /* run as a script: __main__ says nothing */
    struct bp_stub *stub = bp_py_task_announce(known, &what);
    if (stub) {
        bp_py_frames[stub->func] = known->chosen ? BP_PY_FRAME_DSL : BP_PY_FRAME_OTHER;
        bp_names_note(what.file, what.line, what.name, stub->func);
    }
    bp_py_drop(name);
    bp_py_drop(file);
    return stub;
}

void bp_py_code_open(struct bp_py_code *known, struct bp_stub *stub) {
    int fast = stub && bp_process.clock == BP_CLOCK_TSC;
    known->stub = stub;
    int plain = known->kind == BP_PY_OPEN && !known->generator && !known->task;
    known->plain = fast && plain ? stub : NULL;
    known->quick = fast && known->generator;
}

struct bp_stub *bp_py_code_stub(struct bp_py_code *known, void *globals) {
    struct bp_py_error error;
    if (known->stub || known->failed)
        return known->stub;
    bp_py_error_save(&error);
    bp_py_code_open(known, announce(known, globals));
    known->failed = !known->stub;
    bp_py_error_restore(&error);
    return known->stub;
}

static const char *keep_text(const char *a, const char *b) {
    size_t length = strlen(a), more = strlen(b) + 1;
    if (length + more > NAME_SIZE)
        return NULL;
    if (length + more > state.text_left) {
        state.text = bp_pages_new(TEXT_SIZE);
        state.text_left = state.text ? TEXT_SIZE : 0;
    }
    if (!state.text_left)
        return NULL;
    char *text = state.text;
    memcpy(text, a, length);
    memcpy(text + length, b, more);
    state.text += length + more;
    state.text_left -= length + more;
    return text;
}

static void name_one(void *code, const char *prefix, const char *name, int depth);

static void name_constants(void *code, const char *prefix, int depth) {
    void *constants = bp_py.PyObject_GetAttrString(code, "co_consts");
    long count = constants && depth < DEEPEST_NESTING ? bp_py.PyTuple_Size(constants) : 0;
    for (long i = 0; i < count; i++) {
        void *held, *constant = bp_py.PyTuple_GetItem(constants, i);
        if (!constant || bp_py_type(constant) != bp_py_type(code))
            continue;
        name_one(constant, prefix, bp_py_text(constant, "co_name", &held), depth + 1);
        bp_py_drop(held);
    }
    bp_py_drop(constants);
}

static void name_one(void *code, const char *prefix, const char *name, int depth) {
    int function = (bp_py_number(code, "co_flags") & CO_OPTIMIZED) != 0;
    struct bp_py_code *known = bp_py_code_find(code);
    if (!known)
        known = new_known(code);
    if (known && !known->qualname)
        known->qualname = keep_text(prefix, name);
    if (!known || !known->qualname)
        return;
    const char *inner = keep_text(known->qualname, function ? ".<locals>." : ".");
    if (inner)
        name_constants(code, inner, depth);
}

void bp_py_code_name_function(void *code, const char *qualname) {
    name_one(code, "", qualname, 0);
}

void bp_py_code_name_nested(void *code) {
    struct bp_py_error error;
    bp_py_error_save(&error);
    name_constants(code, "", 0);
    bp_py_error_restore(&error);
}
