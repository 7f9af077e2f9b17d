/* SPDX-License-Identifier: MIT
 *
 * The table first, then what is found out about a code object when it is met: its module, its name,
 * whether it is counted and its role in tasks.
 */
#include "interpose/python/code.h"

#include <errno.h>
#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/extra.h"
#include "interpose/python/line/counts.h"
#include "interpose/python/loaded.h"
#include "interpose/python/module.h"
#include "interpose/python/stack/names.h"
#include "interpose/python/stack/qualnames.h"
#include "interpose/python/task.h"
#include "interpose/task/rules.h"

#define FIRST_BITS 12    /* of the table: 64 kB */
#define RECORDS 1024     /* made at a time */
#define CO_OPTIMIZED 0x1 /* co_flags: a function, not a class body */
#define CO_RESUMED 0x2a0 /* generator, coroutine, asynchronous generator */

static struct {
    enum bp_py_mode mode;
    struct bp_py_code *free;
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
        bp_pages_free(table->slots, (size_t)(table->end - table->slots) * sizeof *slots);
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
    bp_py_lines_free(known->lines);
    memset(known, 0, sizeof *known);
    known->next = state.free;
    state.free = known;
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
    if (bp_py_extra_set(code, known))
        return NULL;
    state.free = known->next;
    *known = (struct bp_py_code){.code = code};
    *slot_for(&bp_py_codes, code) = (struct bp_py_slot){code, known};
    bp_py_codes.used++;
    return known;
}

int bp_py_code_init(enum bp_py_mode mode) {
    state.mode = mode;
    int error = bp_py_extra_init(forget);
    return error ? error : grow(&bp_py_codes);
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
    if (known->counted & BP_FUNC_LINES)
        return BP_PY_OPEN;
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

/* What patterns look at. `module` has room for the name. */
static struct bp_pattern_python describe(const struct bp_py_code *known, const char *given,
                                         const char *file, char *module, void **held) {
    struct bp_pattern_python function = {.module = module, .file = file};
    function.script = bp_module_name(given, file, module);
    function.name = bp_py_code_name(known, held);
    return function;
}

/* A class has a body, not calls. */
static uint16_t counted(const struct bp_py_code *known, const struct bp_pattern_python *function) {
    return bp_py_number(known->code, "co_flags") & CO_OPTIMIZED ? bp_py_choose_counted(function)
                                                                : 0;
}

/* A generator runs by pieces: it may be a phase, but no task. */
static void find_role(struct bp_py_code *known, const struct bp_pattern_python *function) {
    known->role = -1;
    if (!(bp_py_number(known->code, "co_flags") & CO_OPTIMIZED))
        return;
    known->role = (int16_t)bp_py_task_role(function);
    known->task =
        known->role >= 0 && !known->generator &&
        bp_task_role((unsigned)known->role)->flags & (BP_FUNC_TASK | BP_FUNC_INPUT | BP_FUNC_PHASE);
}

/* Before 3.11: the name of the class or function that it is in stands before its own. */
static void qualify(struct bp_py_code *known, const char *file, const char *name) {
    uint32_t line = (uint32_t)bp_py_number(known->code, "co_firstlineno");
    const char *prefix =
        bp_py_qualnames_get(bp_py_qualnames_key(bp_py_qualnames_file(file), line, name));
    if (!known->qualname && *prefix)
        known->qualname = bp_py_qualnames_keep(prefix, name);
}

static void find_out(struct bp_py_code *known, const char *given) {
    void *name, *plain, *held;
    char module[BP_MODULE_NAME];
    const char *file = bp_py_text(known->code, "co_filename", &held);
    const char *text = bp_py_text(known->code, "co_name", &plain);
    qualify(known, file, text);
    struct bp_pattern_python function = describe(known, given, file, module, &name);
    known->generator = (bp_py_number(known->code, "co_flags") & CO_RESUMED) != 0;
    known->chosen = bp_py_choose(&function) != 0;
    known->counted = counted(known, &function);
    find_role(known, &function);
    known->kind = (uint8_t)kind_of(known, text);
    bp_py_drop(name);
    bp_py_drop(plain);
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

#define MODULES 256 /* that are remembered as visited; one that is forgotten is visited again */

/* Looking at all that a module has takes a while: once, not for each of its functions. */
static int is_visited(void *globals) {
    static void *visited[MODULES]; /* the GIL's holder writes */
    void **place = &visited[(uintptr_t)globals / 16 % MODULES];
    int before = *place == globals;
    *place = globals;
    return before;
}

/* Before 3.11, of code that came before us: look at all that its module has. */
static void find_name(struct bp_py_code *known, void *globals, const char *module) {
    void *held, *plain, *file;
    if (known->qualname || !globals)
        return;
    if (!*bp_py_text(known->code, "co_qualname", &held)) {
        if (!is_visited(globals))
            bp_py_loaded_visit(globals, module, 10);
        qualify(known, bp_py_text(known->code, "co_filename", &file),
                bp_py_text(known->code, "co_name", &plain));
        bp_py_drop(file);
        bp_py_drop(plain);
    }
    bp_py_drop(held);
}

static struct bp_stub *announce(struct bp_py_code *known, void *globals) {
    void *name, *file;
    char module[BP_MODULE_NAME];
    const char *given = bp_py_module_name(globals);
    struct bp_source_function what = {.module = module, .kind = BP_FUNC_CALL};
    find_name(known, globals, given);
    what.file = bp_py_text(known->code, "co_filename", &file);
    struct bp_pattern_python function = describe(known, given, what.file, module, &name);
    what.name = function.name;
    what.line = (uint32_t)bp_py_number(known->code, "co_firstlineno");
    what.flags = BP_FUNC_PYTHON | known->counted | (known->chosen ? BP_FUNC_CHOSEN : 0);
    what.flags |= (known->generator ? BP_FUNC_RESUMED : 0) | (function.script ? BP_FUNC_SCRIPT : 0);
    if (known->role >= 0) {
        const struct bp_task_role *role = bp_task_role((unsigned)known->role);
        what.flags |= role->flags;
        what.phase = role->phase;
    }
    struct bp_stub *stub = bp_py_task_announce(known, &what);
    if (stub) {
        bp_py_frames[stub->func] = known->chosen ? BP_PY_FRAME_DSL : BP_PY_FRAME_OTHER;
        bp_py_names_note(what.file, what.line, what.name, given, stub->func);
    }
    bp_py_drop(name);
    bp_py_drop(file);
    return stub;
}

void bp_py_code_open(struct bp_py_code *known, struct bp_stub *stub) {
    int fast = stub && bp_process.clock == BP_CLOCK_TSC;
    known->stub = stub;
    int plain = known->kind == BP_PY_OPEN && !known->generator && !known->task;
    int lines = stub && known->counted & BP_FUNC_LINES;
    if (lines && !known->lines)
        known->lines = bp_py_lines_new(known->code, stub->func, stub->func < BP_FUNCTIONS - 1);
    known->plain = fast && plain && !lines ? stub : NULL;
    known->quick = fast && known->generator && !lines;
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
