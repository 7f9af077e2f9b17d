/* SPDX-License-Identifier: MIT
 *
 * The part of solver execution that can be sent to the device: candidates that are one operation on
 * the input, for all samples of a task at once. What comes back is what running them would give.
 */
#include "dsl/pipeline.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum dsl_gpu_kind kind;
} known[] = {
    {"hmirror", DSL_GPU_HMIRROR}, {"vmirror", DSL_GPU_VMIRROR}, {"dmirror", DSL_GPU_DMIRROR},
    {"cmirror", DSL_GPU_CMIRROR}, {"rot90", DSL_GPU_ROT90},     {"rot180", DSL_GPU_ROT180},
    {"rot270", DSL_GPU_ROT270},   {"replace", DSL_GPU_REPLACE}, {"switch", DSL_GPU_SWITCH},
};

static bool find_op(const struct program *program, struct dsl_gpu_op *op) {
    int number[2] = {0, 0};
    const char *name = program_single_call(program, number);
    for (size_t k = 0; name && k < sizeof(known) / sizeof(known[0]); k++)
        if (!strcmp(known[k].name, name)) {
            *op = (struct dsl_gpu_op){known[k].kind, number[0], number[1]};
            return true;
        }
    return false;
}

void batches_make(struct batches *batches, struct dsl_gpu *gpu, const struct task *task,
                  const struct candidate_list *list) {
    struct dsl_gpu_op op[BATCHES];
    int samples = task->train + task->tests;
    *batches = (struct batches){.samples = samples};
    for (int k = 0; gpu && k < list->n && batches->n < BATCHES; k++)
        if (find_op(list->candidate[k].program, &op[batches->n]))
            batches->candidate[batches->n++] = k;
    size_t grids = (size_t)samples * (size_t)(1 + batches->n);
    batches->memory = batches->n ? malloc(grids * sizeof(*batches->memory)) : NULL;
    if (!batches->memory) {
        batches->n = 0;
        return;
    }
    for (int k = 0; k < samples; k++)
        batches->memory[k] = task->sample[k].input;
    batch_process_samples_gpu(gpu, batches->memory, samples, op, batches->n,
                              batches->memory + samples);
}

const struct task_grid *batches_find(const struct batches *batches, int candidate, int sample) {
    for (int k = 0; k < batches->n; k++)
        if (batches->candidate[k] == candidate)
            return &batches->memory[(k + 1) * batches->samples + sample];
    return NULL;
}

void batches_fini(struct batches *batches) {
    free(batches->memory);
}
