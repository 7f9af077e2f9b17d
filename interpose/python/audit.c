/* SPDX-License-Identifier: MIT
 *
 * CPython keeps an entry for each hook in raw memory and frees it when it ends. With -X dev or
 * PYTHONMALLOC=debug the allocator changes in between, and the new one aborts over memory that is
 * not its own. So when hooks are about to be cleared a free of ours stands before it, until it has
 * met our entry, and gives that to the allocator that it came from.
 */
#include "interpose/python/audit.h"

#include <stddef.h>
#include <string.h>

#include "interpose/python/api.h"

#define RAW 0 /* PYMEM_DOMAIN_RAW */

/* How CPython's entry begins. */
struct entry {
    struct entry *next;
    int (*hook)(const char *, void *, void *);
};

static struct {
    void (*hook)(const char *event, void *arguments);
    struct bp_py_allocator then; /* when the entry was made */
    struct bp_py_allocator now;  /* when it is freed */
} state;

static int on_event(const char *event, void *arguments, void *unused);

static void free_entry(void *context, void *memory) {
    const struct entry *entry = memory;
    if (!entry || entry->hook != on_event) {
        state.now.free(context, memory);
        return;
    }
    bp_py.PyMem_SetAllocator(RAW, &state.now);
    state.then.free(state.then.context, memory);
}

static void before_clear(void) {
    bp_py.PyMem_GetAllocator(RAW, &state.now);
    if (state.now.free == state.then.free)
        return;
    struct bp_py_allocator between = state.now;
    between.free = free_entry;
    bp_py.PyMem_SetAllocator(RAW, &between);
}

static int on_event(const char *event, void *arguments, void *unused) {
    (void)unused;
    if (*event == 'c' && strcmp(event, "cpython._PySys_ClearAuditHooks") == 0)
        before_clear();
    else
        state.hook(event, arguments);
    return 0;
}

void bp_py_audit_add(void (*hook)(const char *event, void *arguments)) {
    state.hook = hook;
    bp_py.PyMem_GetAllocator(RAW, &state.then);
    bp_py.PySys_AddAuditHook(on_event, NULL);
}
