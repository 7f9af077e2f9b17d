/* SPDX-License-Identifier: MIT
 *
 * Prints the offsets that stub.S uses, so that the assembly names fields instead of numbers.
 * Runs while building; nothing of it is in the library.
 */
#include <stddef.h>
#include <stdio.h>

#include "interpose/copy.h"
#include "interpose/thread.h"

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
    PRINT("LOCAL_OPEN", offsetof(struct bp_local, open));
    PRINT("LOCAL_COPIES", offsetof(struct bp_local, copies));
    PRINT("LOCAL_KNOWN", offsetof(struct bp_local, known));
    PRINT("LOCAL_TASKS", offsetof(struct bp_local, tasks));
    PRINT("NODE_FUNC", offsetof(struct bp_node, func));
    PRINT("NODE_SELF", offsetof(struct bp_node, self));
    PRINT("NODE_TOTAL", offsetof(struct bp_node, total));
    PRINT("NODE_INNER", offsetof(struct bp_node, inner));
    PRINT("NODE_LAST", offsetof(struct bp_node, last));
    PRINT("NODE_MIN", offsetof(struct bp_node, min));
    PRINT("NODE_SPAN", offsetof(struct bp_node, span));
    PRINT("NODE_HISTOGRAM", offsetof(struct bp_node, histogram));
    PRINT("EDGE_PARENT", offsetof(struct bp_edge, parent));
    PRINT("EDGE_STUB", offsetof(struct bp_edge, stub));
    PRINT("EDGE_NODE", offsetof(struct bp_edge, node));
    PRINT("EDGE_MASK", (BP_EDGES - 1) * sizeof(struct bp_edge));
    PRINT("EDGE_FACTOR", BP_EDGE_FACTOR);
    PRINT("EDGE_SHIFT", BP_EDGE_SHIFT);
    PRINT("STUB_FUNC", offsetof(struct bp_stub, func));
    PRINT("STUB_KIND", offsetof(struct bp_stub, kind));
    PRINT("STUB_KIND_COPY", BP_STUB_COPY);
    PRINT("STUB_KIND_TOLD", BP_STUB_TOLD >> 24);
    PRINT("COPY_SHIFT", BP_COPY_SHIFT);
    PRINT("COPY_BITS", BP_COPY_BITS);
    PRINT("COPY_KINDS", BP_COPY_KINDS);
    PRINT("COPY_GRAIN_SHIFT", __builtin_ctz(BP_COPY_GRAIN));
    PRINT("COPY_SIZE_SHIFT", BP_COPY_SIZE_SHIFT);
    PRINT("COPY_SIZE_STEP", BP_COPY_SIZE_STEP);
    PRINT("COPY_PLACES", BP_COPY_PLACES);
    PRINT("COPY_PYTHON", BP_COPY_PYTHON);
    PRINT("COPY_FIRST", BP_COPY_FIRST);
    PRINT("COPY_RBX", BP_COPY_RBX);
    PRINT("COPY_RBP", BP_COPY_RBP);
    PRINT("COPY_R8", BP_COPY_R8);
    PRINT("COPY_R9", BP_COPY_R9);
    PRINT("COPY_ONE", BP_COPY_ONE);
    PRINT("PLACES_WIDTH", offsetof(struct bp_copy_places, width));
    PRINT("PLACES_HEIGHT", offsetof(struct bp_copy_places, height));
    PRINT("PLACES_KIND", offsetof(struct bp_copy_places, kind));
    PRINT("PLACES_SIZE", sizeof(struct bp_copy_places));
    PRINT("KNOWN_KEY", offsetof(struct bp_copy_known, key));
    PRINT("KNOWN_NODE", offsetof(struct bp_copy_known, node));
    PRINT("KNOWN_GENERATION", offsetof(struct bp_copy_known, generation));
    PRINT("KNOWN_WORDS_SIZE", offsetof(struct bp_copy_known, words_size));
    PRINT("KNOWN_NEXT", offsetof(struct bp_copy_known, next));
    PRINT("KNOWN_PLACE", offsetof(struct bp_copy_known, place));
    PRINT("KNOWN_BYTES", offsetof(struct bp_copy_known, bytes));
    PRINT("KNOWN_WAITS", offsetof(struct bp_copy_known, waits));
    PRINT("KNOWN_MIN", offsetof(struct bp_copy_known, min));
    PRINT("KNOWN_SPAN", offsetof(struct bp_copy_known, span));
    PRINT("KNOWN_SAMPLE", offsetof(struct bp_copy_known, sample));
    PRINT("KNOWN_WORDS", offsetof(struct bp_copy_known, words));
    PRINT("PAIR_AT", offsetof(struct bp_copy_pair, at));
    PRINT("PAIR_VALUE", offsetof(struct bp_copy_pair, value));
    PRINT("PAIR_SIZE", sizeof(struct bp_copy_pair));
    PRINT("SAMPLE_COUNT", offsetof(struct bp_sample, count));
    PRINT("SAMPLE_WEIGHT", offsetof(struct bp_sample, weight));
    PRINT("SAMPLE_TIME", offsetof(struct bp_sample, time));
    PRINT("FRAME_RBX", offsetof(struct bp_copy_frame, rbx));
    PRINT("FRAME_RBP", offsetof(struct bp_copy_frame, rbp));
    PRINT("FRAME_R12", offsetof(struct bp_copy_frame, r12));
    PRINT("FRAME_R13", offsetof(struct bp_copy_frame, r13));
    PRINT("FRAME_R14", offsetof(struct bp_copy_frame, r14));
    PRINT("FRAME_R15", offsetof(struct bp_copy_frame, r15));
    PRINT("FRAME_RAX", offsetof(struct bp_copy_frame, rax));
    PRINT("FRAME_SIZE", sizeof(struct bp_copy_frame));
    PRINT("STUB_TARGET", offsetof(struct bp_stub, target));
    PRINT("STUB_SIZE", sizeof(struct bp_stub));
    PRINT("STUB_COUNT", BP_STUBS);
    return 0;
}
