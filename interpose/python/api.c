/* SPDX-License-Identifier: MIT */
#include "interpose/python/api.h"

#include <stddef.h>

struct bp_py_api bp_py;

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
