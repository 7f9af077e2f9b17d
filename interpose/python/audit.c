/* SPDX-License-Identifier: MIT
 *
 * CPython keeps an entry for each hook in raw memory and frees it when it ends. With -X dev or
 * PYTHONMALLOC=debug the allocator changes in between, and the new one aborts over memory that is
 * not its own. So when hooks are about to be cleared a free of ours stands before it, until it has
 * met our entry, and gives that to the allocator that it came from.
 *
 * With a hook in place CPython makes a tuple for each event, and id() is one: 50 ns each. The
 * innermost node counts them.
 */
#include "interpose/python/audit.h"

#include <stddef.h>
#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/cost.h"

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
    int others;                  /* hooks that came after ours */
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

static void count(void) {
    const struct bp_thread *thread = bp_self;
    if (thread && bp_process.on)
        ((struct bp_node *)bp_thread_innermost(thread)->node)->passed += bp_py_weights.audit;
}

static int on_event(const char *event, void *arguments, void *unused) {
    (void)unused;
    count();
    if (*event == 'c' && strcmp(event, BP_PY_AUDIT_CLEARED) == 0) {
        before_clear();
        state.hook(event, arguments);
    } else {
        state.others |= *event == 's' && strcmp(event, "sys.addaudithook") == 0;
        state.hook(event, arguments);
    }
    return 0;
}

int bp_py_audit_has_others(void) {
    return state.others;
}

void bp_py_audit_add(void (*hook)(const char *event, void *arguments)) {
    state.hook = hook;
    bp_py.PyMem_GetAllocator(RAW, &state.then);
    bp_py.PySys_AddAuditHook(on_event, NULL);
}
