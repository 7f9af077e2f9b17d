/* SPDX-License-Identifier: MIT
 *
 * The beginning: an audit hook, which may be added before Python is initialised and is called with
 * the GIL held. "import" tells the name of a module that is about to be loaded, "exec" hands over
 * its code before it runs. The hook never refuses anything and leaves no exception behind.
 */
#include "interpose/python/python.h"

#include <errno.h>
#include <string.h>

#include "interpose/ledger/pause.h"
#include "interpose/python/api.h"
#include "interpose/python/audit.h"
#include "interpose/python/code.h"
#include "interpose/python/evaluate.h"
#include "interpose/python/facts.h"
#include "interpose/python/import.h"
#include "interpose/python/layout.h"
#include "interpose/python/loaded.h"
#include "interpose/python/module.h"
#include "interpose/python/monitor.h"
#include "interpose/python/note.h"
#include "interpose/python/task.h"
#include "interpose/python/watch.h"
#include "profile/clock.h"

/* Code executed after the import of a chosen name was announced: finders may import, too. */
#define EXPECTED 4

/* _PyEval_EvalFrameDefault is 30 kB or more in all versions; what is behind this is not needed. */
#define EVALUATOR_SIZE 16384

static struct {
    void (*found)(uint64_t low, uint64_t size);
    enum bp_py_mode mode;
    int hooked;  /* the audit hook is in place */
    int tried;   /* to start */
    int minor;   /* of the version, once it runs */
    int looked;  /* at the modules that were loaded before the first event */
    int expects; /* so many of the next codes may be a chosen module's */
    int behind;  /* recording has started, and the GIL was not ours */
    int asked;   /* the main thread has been asked to catch up */
    int over;    /* Python has ended */
} state;

void bp_py_note(const char *text) {
    char *reason = bp_process.writer.header->reason;
    size_t size = sizeof bp_process.writer.header->reason, used = 0;
    if (*reason)
        return;
    for (const char *prefix = "Python: "; *prefix; prefix++)
        reason[used++] = *prefix;
    while (*text && used + 1 < size)
        reason[used++] = *text++;
    reason[used] = '\0';
}

static const char *start_version(int minor) {
    if (minor >= 8 && minor <= 11)
        return bp_py_evaluate_start(minor);
    if (minor >= 12 && minor <= BP_LAYOUT_NEWEST)
        return bp_py_monitor_start(minor, state.mode);
    return "a version that battprof does not know: no Python frames";
}

/* Not counted in threads other than the main one: that is rare. */
static void note_start(uint64_t ticks) {
    struct bp_header *header = bp_process.writer.header;
    const struct bp_thread *thread = bp_self;
    if (!thread || (int32_t)thread->tid != header->pid)
        return;
    const struct bp_entry *entry = bp_thread_innermost(thread);
    header->python_start_node = ((const struct bp_node *)entry->node)->index;
    header->python_start = ticks;
}

static void start(void) {
    uint64_t begin = bp_clock_now(bp_process.clock);
    state.tried = 1;
    int minor = bp_layout_minor(bp_py.Py_GetVersion());
    const char *trouble = bp_py_odd_build();
    if (!trouble && bp_py_code_init(state.mode) != 0)
        trouble = "no room beside its code objects: no Python frames";
    if (!trouble)
        trouble = start_version(minor);
    if (trouble)
        bp_py_note(trouble);
    else
        state.minor = minor;
    note_start(bp_clock_now(bp_process.clock) - begin);
}

static int is_code(void *object) {
    void *name;
    int is = strcmp(bp_py_text(bp_py_type(object), "__name__", &name), "code") == 0;
    bp_py_drop(name);
    return is;
}

/* A module's code is about to run. */
static void on_exec(void *code) {
    void *held;
    if (!code || !is_code(code))
        return;
    const char *file = bp_py_text(code, "co_filename", &held);
    bp_py_facts_exec(code, file);
    int maybe = bp_py_choose_maybe(file);
    bp_py_drop(held);
    if (!maybe && !state.expects && state.mode != BP_PY_ALL && !bp_py_task_in_code(code))
        return;
    if (!state.tried)
        start();
    if (state.minor >= 12)
        bp_py_monitor_module(code);
    state.expects -= state.expects > 0;
}

/* A module that is chosen, or has functions that count for themselves. */
static int is_wanted(const struct bp_pattern_python *module) {
    return bp_py_choose(module) || bp_py_choose_counted(module);
}

static void visit_loaded(void *globals, const char *given) {
    char name[BP_MODULE_NAME];
    void *path = bp_py.PyDict_GetItemString(globals, "__file__");
    const char *file = path ? bp_py.PyUnicode_AsUTF8(path) : NULL;
    struct bp_pattern_python module = {.module = name, .file = file ? file : ""};
    module.script = bp_module_name(given, module.file, name);
    if (!is_wanted(&module) && !bp_py_task_in_globals(globals))
        return;
    if (!state.tried)
        start();
    if (state.minor)
        bp_py_loaded_visit(globals, given, state.minor);
    if (state.minor >= 12 && bp_py_choose(&module))
        bp_py_watch_globals(globals);
}

static void find_loaded(const char *name, void *module) {
    void *globals = bp_py.PyObject_GetAttrString(module, "__dict__");
    bp_py.PyErr_Clear();
    if (globals)
        visit_loaded(globals, name);
    bp_py.PyErr_Clear();
    bp_py_drop(globals);
}

/* What was loaded before there was anything to see: by the interpreter itself, or before us. */
static void look_at_loaded(void) {
    void *key, *module, *modules = bp_py.PySys_GetObject("modules");
    long place = 0;
    state.looked = 1;
    bp_py_facts_begin();
    while (modules && bp_py.PyDict_Next(modules, &place, &key, &module)) {
        const char *name = bp_py.PyUnicode_AsUTF8(key);
        if (name)
            find_loaded(name, module);
    }
    bp_py.PyErr_Clear();
}

static void on_import(void *name) {
    const char *text = name ? bp_py.PyUnicode_AsUTF8(name) : NULL;
    struct bp_pattern_python module = {.module = text, .file = ""};
    if (text && is_wanted(&module)) {
        state.expects = EXPECTED;
        if (!state.tried)
            start();
    }
}

/* With the GIL held: what came while recording was paused, and what fell asleep. */
static void catch_up(void) {
    struct bp_py_error error;
    state.behind = state.asked = 0;
    bp_py_error_save(&error);
    if (state.minor >= 12)
        bp_py_monitor_wake();
    else
        bp_py_evaluate_switch();
    if (!state.looked)
        look_at_loaded();
    bp_py.PyErr_Clear();
    bp_py_error_restore(&error);
}

/* A module is about to be imported, or code executed. In a pause it is found when that is over. */
static void on_module(int exec, void *what) {
    if (bp_pause_is_on()) {
        state.looked = 0;
        return;
    }
    if (!state.looked)
        look_at_loaded();
    if (exec)
        on_exec(what);
    else
        on_import(what);
    bp_py.PyErr_Clear();
}

/* Nothing of the interpreter is touched any more. */
static void end(void) {
    uint64_t mask = bp_lock(&bp_pause_lock);
    state.over = 1;
    bp_unlock(&bp_pause_lock, mask);
}

static int is_ready(void) {
    return state.hooked && !state.over && !bp_pause_is_on() && bp_py.Py_IsInitialized();
}

/* battprof.cell, from the notebook's module. */
static void on_cell(void *arguments) {
    if (arguments && bp_py.PyTuple_Size(arguments) == 2)
        bp_py_facts_cell(bp_py.PyTuple_GetItem(arguments, 0), bp_py.PyTuple_GetItem(arguments, 1));
}

/* The innermost node pays for it. What the start of our part for Python took has its own place. */
static void note_spent(uint64_t begin, uint64_t start_before) {
    const struct bp_header *header = bp_process.writer.header;
    uint64_t spent = bp_clock_now(bp_process.clock) - begin;
    uint64_t start = header->python_start - start_before;
    const struct bp_thread *thread = bp_self;
    if (thread && spent > start)
        ((struct bp_node *)bp_thread_innermost(thread)->node)->lines += spent - start;
}

/* Before Python is initialised it imports modules of its own; when it ends it is left alone. */
static void on_event(const char *event, void *arguments) {
    int exec = strcmp(event, "exec") == 0;
    if (*event == 'b' && strcmp(event, "battprof.cell") == 0)
        on_cell(arguments);
    if (*event == 'c' && strcmp(event, BP_PY_AUDIT_CLEARED) == 0)
        end();
    if (state.behind && is_ready() && bp_py_is_main()) {
        int saved = errno;
        catch_up();
        errno = saved;
    }
    if ((!exec && strcmp(event, "import") != 0) || !bp_process.on || !arguments)
        return;
    int ready = bp_py.Py_IsInitialized();
    if ((!ready && (exec || state.looked)) || !bp_py_is_main() || bp_py.PyTuple_Size(arguments) < 1)
        return;
    int saved = errno;
    struct bp_py_error error;
    uint64_t begin = bp_clock_now(bp_process.clock);
    uint64_t start_before = bp_process.writer.header->python_start;
    bp_py_error_save(&error);
    void *first = bp_py.PyTuple_GetItem(arguments, 0);
    if (ready)
        on_module(exec, first);
    if (!bp_pause_is_on())
        bp_py_import_expect(exec ? first : NULL);
    bp_py.PyErr_Clear();
    bp_py_error_restore(&error);
    note_spent(begin, start_before);
    errno = saved;
}

/* Python was running when we came: this is called by its main thread, with the GIL held. */
static int begin_late(void *unused) {
    struct bp_py_error error;
    (void)unused;
    if (!bp_py_is_main())
        return 0;
    bp_py_error_save(&error);
    bp_py_audit_add(on_event);
    look_at_loaded();
    bp_py_error_restore(&error);
    return 0;
}

static int on_pending(void *unused) {
    (void)unused;
    state.asked = 0;
    if (state.behind && is_ready() && bp_py_is_main())
        catch_up();
    return 0;
}

void bp_python_switch(int paused) {
    if (!state.hooked || state.over || state.mode == BP_PY_NONE)
        return;
    if (state.minor && state.minor < 12)
        bp_py_evaluate_switch();
    state.behind = !paused;
}

static void ask_main(void) {
    if (!__atomic_exchange_n(&state.asked, 1, __ATOMIC_ACQ_REL) &&
        bp_py.Py_AddPendingCall(on_pending, NULL) != 0)
        state.asked = 0; /* there are too many: the next tick tries again */
}

static int holds_gil(void) {
    void *(*current)(void) = bp_py.PyThreadState_GetUnchecked ? bp_py.PyThreadState_GetUnchecked
                                                              : bp_py._PyThreadState_UncheckedGet;
    void *own = bp_py.PyGILState_GetThisThreadState ? bp_py.PyGILState_GetThisThreadState() : NULL;
    return own && current && current() == own;
}

void bp_python_catch_up(void) {
    if (!state.behind || !is_ready())
        return;
    if (!holds_gil())
        ask_main();
    else if (bp_py_is_main())
        catch_up();
}

/* Who asks takes a lock that the interrupted thread may hold, unless it is in the function that
 * runs frames: that calls others to take it. */
void bp_python_tick(uint64_t pc) {
    uint64_t low = (uint64_t)bp_py._PyEval_EvalFrameDefault;
    if (state.behind && !state.asked && is_ready() && pc >= low && pc - low < EVALUATOR_SIZE)
        ask_main();
}

void bp_python_init(const char *dsl, const char *globs, const char *all,
                    void (*found)(uint64_t low, uint64_t size)) {
    state.found = found;
    state.mode = bp_py_choose_init(dsl, globs, all);
}

void bp_python_look(void) {
    if (state.hooked || !bp_py_api_find())
        return;
    state.hooked = 1;
    state.found(bp_py_runtime, bp_py_runtime_size);
    if (state.mode == BP_PY_NONE)
        return;
    if (bp_py.Py_IsInitialized())
        bp_py.Py_AddPendingCall(begin_late, NULL);
    else
        bp_py_audit_add(on_event);
}
