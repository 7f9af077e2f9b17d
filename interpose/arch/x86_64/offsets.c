/* SPDX-License-Identifier: MIT
 *
 * Prints the offsets that stub.S uses, so that the assembly names fields instead of numbers.
 * Runs while building; nothing of it is in the library.
 */
#include <stddef.h>
#include <stdio.h>

#include "interpose/ledger/thread.h"

#define PRINT(name, value) printf("#define %s %zu\n", name, (size_t)(value))

int main(void) {
    PRINT("ENTRY_RET", offsetof(struct bp_entry, ret));
    PRINT("ENTRY_RBX", offsetof(struct bp_entry, rbx));
    PRINT("ENTRY_START", offsetof(struct bp_entry, start));
    PRINT("ENTRY_CHILD", offsetof(struct bp_entry, child));
    PRINT("ENTRY_PARENT", offsetof(struct bp_entry, parent));
    PRINT("ENTRY_NODE", offsetof(struct bp_entry, node));
    PRINT("ENTRY_SOURCE", offsetof(struct bp_entry, source));
    PRINT("ENTRY_SP", offsetof(struct bp_entry, sp));
    PRINT("THREAD_FREE", offsetof(struct bp_thread, free));
    PRINT("THREAD_CURRENT", offsetof(struct bp_thread, current));
    PRINT("THREAD_LOCAL", offsetof(struct bp_thread, local));
    PRINT("THREAD_LAST", offsetof(struct bp_thread, last));
    PRINT("THREAD_JUMPED", offsetof(struct bp_thread, jumped));
    PRINT("THREAD_JUMPED_RET", offsetof(struct bp_thread, jumped_ret));
    PRINT("THREAD_JUMPED_EDGE", offsetof(struct bp_thread, jumped_edge));
    PRINT("LOCAL_STACK_LOW", offsetof(struct bp_local, stack_low));
    PRINT("LOCAL_STACK_HIGH", offsetof(struct bp_local, stack_high));
    PRINT("LOCAL_OPEN", offsetof(struct bp_local, open));
    PRINT("NODE_FUNC", offsetof(struct bp_node, func));
    PRINT("NODE_SELF", offsetof(struct bp_node, self));
    PRINT("NODE_TOTAL", offsetof(struct bp_node, total));
    PRINT("NODE_INNER", offsetof(struct bp_node, inner));
    PRINT("NODE_LAST", offsetof(struct bp_node, last));
    PRINT("NODE_MIN", offsetof(struct bp_node, min));
    PRINT("NODE_SPAN", offsetof(struct bp_node, span));
    PRINT("NODE_UNTIMED", offsetof(struct bp_node, untimed));
    PRINT("NODE_HISTOGRAM", offsetof(struct bp_node, histogram));
    PRINT("ENTRY_UNTIMED", BP_ENTRY_UNTIMED);
    PRINT("EDGE_PARENT", offsetof(struct bp_edge, parent));
    PRINT("EDGE_STUB", offsetof(struct bp_edge, stub));
    PRINT("EDGE_NODE", offsetof(struct bp_edge, node));
    PRINT("EDGE_ENTRY", offsetof(struct bp_edge, entry));
    PRINT("EDGE_OPEN", offsetof(struct bp_edge, open));
    PRINT("EDGE_NEXT", offsetof(struct bp_edge, next));
    PRINT("EDGE_LEFT", offsetof(struct bp_edge, left));
    PRINT("EDGE_COUNTED", offsetof(struct bp_edge, counted));
    PRINT("EDGE_JUMPED", BP_EDGE_JUMPED);
    PRINT("EDGE_THREAD", offsetof(struct bp_edge, thread));
    PRINT("EDGE_TARGET", offsetof(struct bp_edge, target));
    PRINT("EDGE_MASK", (BP_EDGES - 1) * sizeof(uint64_t));
    PRINT("EDGE_FACTOR", BP_EDGE_FACTOR);
    PRINT("EDGE_SHIFT", BP_EDGE_SHIFT);
    PRINT("STUB_FUNC", offsetof(struct bp_stub, func));
    PRINT("STUB_TARGET", offsetof(struct bp_stub, target));
    PRINT("STUB_SIZE", sizeof(struct bp_stub));
    PRINT("STUB_COUNT", BP_STUBS);
    return 0;
}
