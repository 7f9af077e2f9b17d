/* SPDX-License-Identifier: MIT
 *
 * From single calls to calling contexts: per thread in the order of time, with a stack of what is
 * open, as a target does it while it runs. Clocks of other tools are coarse (Kineto: whole
 * microseconds), and annotations are set anywhere, so calls may overlap without nesting: such a
 * call is taken as an inner one that ends with its outer one if most of it lies within, else the
 * outer one ends where it begins. It is never a CUDA call that loses time by this: the time of all
 * of them is what the attribution divides. What a CUDA call calls of the system is part of the CUDA
 * call, as it is in a target.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/import/trace.h"

struct open_frame {
    struct bp_trace_frame *frame;
    uint32_t node;
    uint64_t child; /* time of frames within */
    bool inner;     /* its function is open further out */
};

struct placer {
    struct bp_trace *trace;
    struct bp_trace_thread *thread;
    uint32_t thread_number;
    struct bp_keys edges; /* (parent node, function) */
    struct open_frame *stack;
    uint32_t depth;
    uint64_t top_time; /* of frames directly below the root */
};

static int compare_frames(const void *a, const void *b) {
    const struct bp_trace_frame *x = a;
    const struct bp_trace_frame *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return x->func < y->func ? -1 : x->func > y->func;
}

static uint32_t new_node(struct bp_trace_thread *thread, uint32_t parent, uint32_t func) {
    struct bp_node *node = BP_PLACE(thread->nodes, thread->node_count);
    node->parent = parent;
    node->func = func;
    node->min = UINT64_MAX;
    node->index = thread->node_count++;
    return node->index;
}

static uint32_t get_node(struct placer *placer, uint32_t parent, uint32_t func) {
    uint32_t key[2] = {parent, func};
    uint32_t number = bp_keys_put(&placer->edges, key, sizeof(key)) + 1;
    if (number == placer->thread->node_count)
        new_node(placer->thread, parent, func);
    return number;
}

/* A function that is open already is no new context: its outer call's node is taken. */
static void open_frame(struct placer *placer, struct bp_trace_frame *frame) {
    struct open_frame *opened = &placer->stack[placer->depth];
    *opened = (struct open_frame){.frame = frame};
    for (uint32_t i = 0; i < placer->depth && !opened->inner; i++)
        if (placer->stack[i].frame->func == frame->func) {
            opened->node = placer->stack[i].node;
            opened->inner = true;
        }
    uint32_t parent = placer->depth ? placer->stack[placer->depth - 1].node : 0;
    if (!opened->inner)
        opened->node = get_node(placer, parent, frame->func);
    frame->node = opened->node;
    placer->depth++;
}

static void close_frame(struct placer *placer) {
    struct open_frame *closed = &placer->stack[--placer->depth];
    struct bp_node *node = &placer->thread->nodes[closed->node];
    uint64_t time = closed->frame->end - closed->frame->start;
    node->self += time > closed->child ? time - closed->child : 0;
    *(closed->inner ? &node->inner : &node->total) += time;
    node->histogram[bp_bucket(time)]++;
    uint64_t longest = node->min == UINT64_MAX ? 0 : node->min + node->span;
    if (time < node->min)
        node->min = time;
    node->span = (time > longest ? time : longest) - node->min;
    *(placer->depth ? &placer->stack[placer->depth - 1].child : &placer->top_time) += time;
}

static bool is_cuda(const struct placer *placer, const struct bp_trace_frame *frame) {
    return placer->trace->funcs[frame->func].flags & BP_FUNC_CUDA;
}

static void stretch(struct placer *placer, uint64_t end) {
    for (uint32_t i = placer->depth; i-- > 0 && placer->stack[i].frame->end < end;)
        placer->stack[i].frame->end = end;
}

/* Close what has ended before `frame` begins, and settle what overlaps with it. false if it now
 * begins later, when the CUDA call that is open has ended. */
static bool make_room(struct placer *placer, struct bp_trace_frame *frame) {
    while (placer->depth > 0) {
        struct bp_trace_frame *top = placer->stack[placer->depth - 1].frame;
        if (top->end > frame->start) {
            bool within = top->end >= frame->end;
            if (!within && frame->end - top->end <= top->end - frame->start) {
                if (is_cuda(placer, frame))
                    stretch(placer, frame->end);
                else
                    frame->end = top->end;
                within = true;
            }
            if (within)
                return true;
            if (is_cuda(placer, top) && !is_cuda(placer, frame)) {
                frame->start = top->end;
                return false;
            }
            top->end = frame->start;
        }
        close_frame(placer);
    }
    return true;
}

/* The first one goes behind those that begin before it. */
static void put_back(struct bp_trace_frame *frames, uint32_t count) {
    struct bp_trace_frame first = frames[0];
    uint32_t i = 0;
    for (; i + 1 < count && compare_frames(&frames[i + 1], &first) < 0; i++)
        frames[i] = frames[i + 1];
    frames[i] = first;
}

static bool is_within_cuda(const struct placer *placer) {
    for (uint32_t i = placer->depth; i-- > 0;)
        if (is_cuda(placer, placer->stack[i].frame))
            return true;
    return false;
}

static void place_thread(struct placer *placer, struct bp_trace_frame *frames, uint32_t count) {
    new_node(placer->thread, BP_NO_NODE, BP_FUNC_INDEX_ROOT);
    placer->stack = bp_alloc((size_t)count + 1, sizeof(*placer->stack));
    for (uint32_t i = 0; i < count; i++) {
        while (!make_room(placer, &frames[i]))
            put_back(frames + i, count - i);
        if (is_cuda(placer, &frames[i]) || !is_within_cuda(placer))
            open_frame(placer, &frames[i]);
    }
    while (placer->depth > 0)
        close_frame(placer);
    struct bp_trace_thread *thread = placer->thread;
    bool whole = thread->main || placer->trace->thread_count == 1;
    if (whole || thread->start > thread->end) {
        thread->start = placer->trace->start;
        thread->end = placer->trace->end;
    }
    uint64_t lifetime = thread->end - thread->start;
    thread->nodes[0].self = lifetime > placer->top_time ? lifetime - placer->top_time : 0;
    free(placer->stack);
    bp_keys_fini(&placer->edges);
}

void bp_trace_place_frames(struct bp_trace *trace) {
    if (trace->frame_count)
        qsort(trace->frames, trace->frame_count, sizeof(*trace->frames), compare_frames);
    /* Device work alone: somebody's it was. */
    if (trace->thread_count == 0 && trace->work_count > 0)
        bp_trace_thread(trace, trace->works[0].process, trace->works[0].process);
    uint32_t at = 0;
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        struct placer placer = {.trace = trace, .thread = &trace->threads[i], .thread_number = i};
        uint32_t first = at;
        while (at < trace->frame_count && trace->frames[at].thread == i)
            at++;
        place_thread(&placer, at > first ? &trace->frames[first] : NULL, at - first);
    }
}
