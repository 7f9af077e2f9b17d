/* SPDX-License-Identifier: MIT */
#include "interpose/python/facts.h"

#include <string.h>

#include "interpose/ledger/fact.h"
#include "interpose/ledger/thread.h"
#include "interpose/python/api.h"
#include "interpose/python/code.h"
#include "interpose/python/module.h"
#include "interpose/python/nested.h"

#define MOST_MODULES 16384
#define PATH 1024

static struct { uint32_t modules; } state;

/* Borrowed; "" if it is no text. */
static const char *text_of(void *object) {
    const char *text = object ? bp_py.PyUnicode_AsUTF8(object) : NULL;
    bp_py.PyErr_Clear();
    return text ? text : "";
}

/* A module's dictionary, borrowed while the module is there. */
static void *globals_of(const char *name) {
    void *modules = bp_py.PySys_GetObject("modules");
    void *module = modules ? bp_py.PyDict_GetItemString(modules, name) : NULL;
    void *globals = module ? bp_py.PyObject_GetAttrString(module, "__dict__") : NULL;
    bp_py.PyErr_Clear();
    bp_py_drop(globals);
    return globals;
}

static void keep(const char *name, const char *value) {
    if (*value)
        bp_fact_keep(name, value);
}

static void keep_folder_of(const char *name, const char *file) {
    char path[PATH];
    const char *slash = strrchr(file, '/');
    if (!slash || (size_t)(slash - file) >= sizeof path)
        return;
    memcpy(path, file, (size_t)(slash - file));
    path[slash - file] = '\0';
    keep(name, path);
}

void bp_py_facts_begin(void) {
    void *os = globals_of("os");
    const char *library = text_of(bp_py.PySys_GetObject("_stdlib_dir")); /* 3.11 */
    keep("sys.prefix", text_of(bp_py.PySys_GetObject("prefix")));
    keep("sys.base_prefix", text_of(bp_py.PySys_GetObject("base_prefix")));
    if (*library)
        keep("sys.stdlib", library);
    else if (os)
        keep_folder_of("sys.stdlib", text_of(bp_py.PyDict_GetItemString(os, "__file__")));
}

/* `python -m` leaves its module's name in the specification of __main__. */
static void look_for_main(const char *name) {
    void *held, *globals = globals_of(name);
    void *spec = globals ? bp_py.PyDict_GetItemString(globals, "__spec__") : NULL;
    void *called = spec ? bp_py.PyObject_GetAttrString(spec, "name") : NULL;
    const char *text = text_of(called), *origin = spec ? bp_py_text(spec, "origin", &held) : "";
    if (*text && *origin && strcmp(text, "__main__") != 0)
        bp_module_note_main(origin, text);
    bp_py.PyErr_Clear();
    bp_py_drop(called);
    if (spec)
        bp_py_drop(held);
}

/* IPython keeps all inputs, the present one is the last. */
static void look_for_cell(const char *file) {
    void *globals = globals_of("__main__");
    void *inputs = globals ? bp_py.PyDict_GetItemString(globals, "In") : NULL;
    long count = inputs && bp_py.PyList_Size ? bp_py.PyList_Size(inputs) : 0;
    bp_py.PyErr_Clear();
    if (count > 1)
        bp_module_note_cell(file, (unsigned)count - 1);
}

void bp_py_facts_cell(void *file, void *number) {
    long cell = bp_py.PyLong_AsLong(number);
    bp_py.PyErr_Clear();
    if (cell > 0 && *text_of(file))
        bp_module_note_cell(text_of(file), (unsigned)cell);
}

/* How much of the path is a folder that modules are imported from, with its slash: the longest. */
static size_t search_path(const char *file) {
    void *path = bp_py.PySys_GetObject("path");
    long count = path && bp_py.PyList_Size && bp_py.PyList_GetItem ? bp_py.PyList_Size(path) : 0;
    size_t longest = 0;
    for (long i = 0; i < count; i++) {
        const char *folder = text_of(bp_py.PyList_GetItem(path, i));
        size_t length = strlen(folder);
        if (length >= longest && length && strncmp(file, folder, length) == 0 &&
            file[length] == '/')
            longest = length + 1;
    }
    bp_py.PyErr_Clear();
    return longest;
}

/* "mypkg.features" of the file, as it would be imported. */
static void find_name(const char *file, char *name) {
    size_t start = search_path(file), length = 0;
    if (!start) {
        bp_module_name("", file, name);
        return;
    }
    for (const char *c = file + start; *c && length < BP_MODULE_NAME - 1; c++)
        name[length++] = *c == '/' ? '.' : *c;
    name[length] = '\0';
    if (length > 3 && strcmp(name + length - 3, ".py") == 0)
        name[length -= 3] = '\0';
    if (length > 9 && strcmp(name + length - 9, ".__init__") == 0)
        name[length - 9] = '\0';
}

static void write_module(const char *name, const char *file, uint32_t functions) {
    uint32_t index;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_writer *writer = &bp_process.writer;
    struct bp_module module = {.name = bp_writer_string(writer, name),
                               .file = bp_writer_string(writer, file),
                               .functions = functions};
    struct bp_module *place = bp_writer_item(writer, BP_MODULES, &index);
    if (place) {
        *place = module;
        bp_writer_commit(writer, BP_MODULES);
    }
    bp_unlock(&bp_process.lock, mask);
}

/* Modules are executed by importlib, which has another name once the program has imported it, and
 * the program itself by runpy or by no Python code at all. */
static int is_loading(void) {
    const char *who = bp_py_module_name(bp_py.PyEval_GetGlobals());
    return !*who || strcmp(who, "_frozen_importlib") == 0 ||
           strcmp(who, "importlib._bootstrap") == 0 || strcmp(who, "runpy") == 0;
}

void bp_py_facts_exec(void *code, const char *file) {
    char name[BP_MODULE_NAME];
    if (bp_module_is_cell(file))
        look_for_cell(file);
    if (!is_loading())
        return;
    look_for_main("__main__");
    look_for_main("__mp_main__");
    uint32_t functions = bp_py_nested_note(code);
    if (*file == '<' || !*file || state.modules >= MOST_MODULES)
        return;
    state.modules++;
    find_name(file, name);
    write_module(name, file, functions);
}
