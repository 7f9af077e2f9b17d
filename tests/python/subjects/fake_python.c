/* SPDX-License-Identifier: MIT
 *
 * fake_python VERSION ABIFLAGS: looks like CPython from outside and announces the import of a
 * module dsl. What the profiler must not touch in a version that it does not know is not there:
 * using it would crash.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct {
    const char *version, *flags;
    int (*hook)(const char *, void *, void *);
    char interpreter;
} state;

const char *Py_GetVersion(void);
int Py_IsInitialized(void);
int PySys_AddAuditHook(int (*hook)(const char *, void *, void *), void *data);
void *PySys_GetObject(const char *name);
void *PyInterpreterState_Main(void);
void *PyInterpreterState_Get(void);
const char *PyUnicode_AsUTF8(void *text);
long PyTuple_Size(void *tuple);
void *PyTuple_GetItem(void *tuple, long i);

const char *Py_GetVersion(void) {
    return state.version ? state.version : ""; /* never NULL, in no version */
}

/* The profiler asks before main has begun. */
int Py_IsInitialized(void) {
    return state.version != NULL;
}

int PySys_AddAuditHook(int (*hook)(const char *, void *, void *), void *data) {
    (void)data;
    state.hook = hook;
    return 0;
}

void *PySys_GetObject(const char *name) {
    return strcmp(name, "abiflags") == 0 ? (void *)state.flags : NULL;
}

void *PyInterpreterState_Main(void) {
    return &state.interpreter;
}

void *PyInterpreterState_Get(void) {
    return &state.interpreter;
}

const char *PyUnicode_AsUTF8(void *text) {
    return text;
}

long PyTuple_Size(void *tuple) {
    (void)tuple;
    return 1;
}

void *PyTuple_GetItem(void *tuple, long i) {
    return i == 0 ? tuple : NULL;
}

int main(int argc, char **argv) {
    char name[] = "dsl";
    if (argc < 3)
        return 2;
    state.version = argv[1];
    state.flags = argv[2];
    if (state.hook)
        state.hook("import", name, NULL);
    printf("imported\n");
    return 0;
}
