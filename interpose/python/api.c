/* SPDX-License-Identifier: MIT */
#include "interpose/python/api.h"

#include <stddef.h>
#include <string.h>

#define EVALUATOR_38 568

struct bp_py_api bp_py;
uint64_t bp_py_runtime, bp_py_runtime_size;

static const struct {
    const char *name;
    void **place;
    int needed;
} symbols[] = {
/* clang-format off */
#define NEED(type, name, arguments) {#name, (void **)&bp_py.name, 1},
#define MAY(type, name, arguments) {#name, (void **)&bp_py.name, 0},
#include "interpose/python/api.def"
#undef NEED
#undef MAY
    /* clang-format on */
};

static int look_up(struct dl_phdr_info *info, size_t size, void *complete) {
    struct bp_elf elf;
    (void)size;
    if (bp_elf_read(&elf, info) != 0 || !bp_elf_find(&elf, "PySys_AddAuditHook", NULL))
        return 0;
    const ElfW(Sym) *runtime = bp_elf_find_data(&elf, "_PyRuntime");
    if (runtime) {
        bp_py_runtime = bp_elf_address(&elf, runtime);
        bp_py_runtime_size = runtime->st_size;
    }
    *(int *)complete = 1;
    for (unsigned i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        const ElfW(Sym) *symbol = bp_elf_find(&elf, symbols[i].name, NULL);
        *symbols[i].place = symbol ? (void *)bp_elf_address(&elf, symbol) : NULL;
        if (!symbol && symbols[i].needed)
            *(int *)complete = 0;
    }
    return 1;
}

int bp_py_api_find(void) {
    int complete = 0;
    dl_iterate_phdr(look_up, &complete);
    return complete;
}

void bp_py_drop(void *object) {
    if (object)
        bp_py.Py_DecRef(object);
}

const char *bp_py_text(void *object, const char *attribute, void **held) {
    *held = bp_py.PyObject_GetAttrString(object, attribute);
    const char *text = *held ? bp_py.PyUnicode_AsUTF8(*held) : NULL;
    if (!text)
        bp_py.PyErr_Clear();
    return text ? text : "";
}

long bp_py_number(void *object, const char *attribute) {
    void *value = bp_py.PyObject_GetAttrString(object, attribute);
    long number = value ? bp_py.PyLong_AsLong(value) : -1;
    if (number == -1)
        bp_py.PyErr_Clear();
    bp_py_drop(value);
    return number;
}

void bp_py_error_save(struct bp_py_error *error) {
    bp_py.PyErr_Fetch(&error->type, &error->value, &error->trace);
}

void bp_py_error_restore(struct bp_py_error *error) {
    bp_py.PyErr_Restore(error->type, error->value, error->trace);
}

int bp_py_is_main(void) {
    void *(*get)(void) =
        bp_py.PyInterpreterState_Get ? bp_py.PyInterpreterState_Get : bp_py._PyInterpreterState_Get;
    return get && get() == bp_py.PyInterpreterState_Main();
}

const char *bp_py_odd_build(void) {
    void *flags = bp_py.PySys_GetObject("abiflags");
    const char *text = flags ? bp_py.PyUnicode_AsUTF8(flags) : "";
    if (text && strchr(text, 'd'))
        return "a debug build: no Python frames";
    if (text && strchr(text, 't'))
        return "a free-threaded build: no Python frames";
    return NULL;
}

/* 3.8 has no function for it: its place in PyInterpreterState. */
static void **evaluator_38(void *interpreter) {
    static int is_38 = -1; /* asking takes a microsecond */
    if (is_38 < 0)
        is_38 = strncmp(bp_py.Py_GetVersion(), "3.8.", 4) == 0;
    return is_38 ? (void **)((char *)interpreter + EVALUATOR_38) : NULL;
}

void *bp_py_evaluator(void *interpreter) {
    if (bp_py._PyInterpreterState_GetEvalFrameFunc && bp_py._PyInterpreterState_SetEvalFrameFunc)
        return bp_py._PyInterpreterState_GetEvalFrameFunc(interpreter);
    void **place = evaluator_38(interpreter);
    return place ? *place : NULL;
}

void bp_py_evaluator_set(void *interpreter, void *function) {
    if (bp_py._PyInterpreterState_SetEvalFrameFunc)
        bp_py._PyInterpreterState_SetEvalFrameFunc(interpreter, function);
    else
        *evaluator_38(interpreter) = function;
}

void bp_py_unseen_begin(void) {
    if (bp_py.PyThreadState_EnterTracing && bp_py.PyThreadState_LeaveTracing)
        bp_py.PyThreadState_EnterTracing(bp_py.PyThreadState_Get());
}

void bp_py_unseen_end(void) {
    if (bp_py.PyThreadState_EnterTracing && bp_py.PyThreadState_LeaveTracing)
        bp_py.PyThreadState_LeaveTracing(bp_py.PyThreadState_Get());
}

/* Calls sys.`name`() and tells whether the answer is anything but None. */
static int answers(const char *name) {
    void *function = bp_py.PySys_GetObject(name);
    void *answer = function ? bp_py.PyObject_CallObject(function, NULL) : NULL;
    void *builtins = bp_py.PyEval_GetBuiltins();
    void *none = builtins ? bp_py.PyDict_GetItemString(builtins, "None") : NULL;
    int something = answer && answer != none;
    bp_py.PyErr_Clear();
    bp_py_drop(answer);
    return something;
}

int bp_py_is_traced(void) {
    void *monitoring = bp_py.PySys_GetObject("monitoring");
    int tools = 0;
    for (long i = 0; monitoring && i < 6; i++) {
        void *name = bp_py.PyObject_CallMethod(monitoring, "get_tool", "l", i);
        const char *text = name ? bp_py.PyUnicode_AsUTF8(name) : NULL;
        tools += text && strcmp(text, "battprof") != 0;
        bp_py.PyErr_Clear();
        bp_py_drop(name);
    }
    return tools || answers("gettrace") || answers("getprofile");
}
