/* SPDX-License-Identifier: MIT
 *
 * From the frames of one thread to stacks of the model. Lines and addresses are left out: a stack
 * is the functions that were open.
 */
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/model/stack.h"

struct folding {
    struct bp_model *model;
    struct bp_keys *table;
    const struct bp_profile_thread *thread;
    const struct bp_thread_work *work;
    const struct bp_stack_frame *frames;
    uint32_t root;
    uint32_t *stack; /* per frame */
};

static uint32_t put_stack(const struct folding *folding, uint32_t parent, uint32_t function) {
    struct bp_model *model = folding->model;
    uint32_t key[2] = {parent, function};
    uint32_t number = bp_keys_put(folding->table, key, sizeof(key));
    if (number == model->samples.stack_count)
        *BP_APPEND(model->samples.stacks, model->samples.stack_count) =
            (struct bp_sampled_stack){.parent = parent, .function = function};
    return number;
}

/* A stub is shown as the function that it calls; that function's own frame adds nothing, whatever
 * alias the symbol table has for it. Nor does another frame of an interpreter without symbols, or a
 * step of a generator expression. */
static bool adds_nothing(const struct folding *folding, uint32_t frame, uint32_t caller) {
    const struct bp_stack_frame *frames = folding->frames;
    if (caller == BP_NO_FRAME)
        return false;
    if (frames[frame].step)
        return true;
    if (frames[caller].code == BP_CODE_LEDGER)
        return frames[frame].code != BP_CODE_LEDGER;
    return frames[frame].code == BP_CODE_INTERPRETER &&
           frames[frame].function == frames[caller].function;
}

static uint32_t fold_frame(const struct folding *folding, uint32_t number) {
    const struct bp_frame *frame = &folding->thread->frames[number];
    uint32_t parent = frame->parent == BP_NO_FRAME ? folding->root : folding->stack[frame->parent];
    if (adds_nothing(folding, number, frame->parent))
        return parent;
    uint32_t function = folding->frames[number].function;
    if (folding->frames[number].code == BP_CODE_LEDGER)
        function = folding->work->function[frame->func];
    return put_stack(folding, parent, function);
}

void bp_stack_fold(struct bp_model *model, struct bp_keys *table, uint32_t number,
                   const struct bp_stack_frame *frames) {
    struct bp_model_thread *to = &model->threads[number];
    const struct bp_profile_thread *thread = to->source;
    const struct bp_thread_work *work = &model->work->threads[number];
    struct folding folding = {model, table, thread, work, frames, BP_NO_STACK, NULL};
    folding.root = put_stack(&folding, BP_NO_STACK, work->function[0]);
    folding.stack = bp_alloc(thread->frame_count, sizeof(*folding.stack));
    for (uint32_t i = 0; i < thread->frame_count; i++)
        folding.stack[i] = fold_frame(&folding, i);
    for (uint32_t i = 0; i < thread->sample_count; i++) {
        const struct bp_sample *sample = &thread->samples[i];
        if (sample->kind != BP_SAMPLE_CPU)
            continue;
        uint32_t stack = folding.stack[sample->frame];
        model->samples.stacks[stack].cpu_ns += sample->weight;
        *BP_APPEND(to->stacks, to->stack_count) = (struct bp_thread_stack){
            stack, work->context[sample->node], sample->count, sample->weight};
    }
    free(folding.stack);
}
