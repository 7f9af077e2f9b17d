/* SPDX-License-Identifier: MIT
 *
 * The sampled stacks for flame graphs, a line for each: "outermost;…;innermost microseconds", which
 * flamegraph.pl, inferno and speedscope read. The time is CPU time; the longest comes first.
 */
#include <stdlib.h>

#include "tools/memory.h"
#include "tools/report_internal.h"

/* Twice what the sampler keeps of a stack. A damaged file may chain all its frames, and would make
 * lines as long as that each. */
#define DEEPEST 1024

static int compare_stacks(const void *a, const void *b, void *data) {
    const struct bp_stack *x = &((const struct bp_stack *)data)[*(const uint32_t *)a];
    const struct bp_stack *y = &((const struct bp_stack *)data)[*(const uint32_t *)b];
    if (x->cpu_ns != y->cpu_ns)
        return x->cpu_ns > y->cpu_ns ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Indices of the stacks that samples ended in: a new array. */
static uint32_t *order_stacks(const struct bp_model *model, uint32_t *count) {
    uint32_t *list = bp_alloc(model->stack_count, sizeof(*list));
    *count = 0;
    for (uint32_t i = 0; i < model->stack_count; i++)
        if (model->stacks[i].cpu_ns > 0)
            list[(*count)++] = i;
    qsort_r(list, *count, sizeof(*list), compare_stacks, model->stacks);
    return list;
}

/* A semicolon ends a frame and a line its stack: neither may come from a name. */
static void print_frame(const char *name, FILE *out) {
    for (; *name; name++)
        fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name, out);
}

static void print_function(const struct bp_model *model, uint32_t number, FILE *out) {
    char text[1024];
    if (number == BP_NO_FUNCTION) {
        print_frame("(truncated)", out);
        return;
    }
    const struct bp_function *function = &model->functions[number];
    print_frame(function->kind == BP_FUNC_ROOT ? function->library
                                               : bp_report_name(function, text, sizeof(text)),
                out);
}

static void print_stack(const struct bp_model *model, uint32_t stack, FILE *out) {
    uint32_t functions[DEEPEST];
    uint32_t depth = 0;
    uint64_t cpu_us = (model->stacks[stack].cpu_ns + 500) / 1000;
    for (uint32_t i = stack; i != BP_NO_STACK && depth < DEEPEST; i = model->stacks[i].parent)
        functions[depth++] = model->stacks[i].function;
    while (depth-- > 0) {
        print_function(model, functions[depth], out);
        fputc(depth ? ';' : ' ', out);
    }
    fprintf(out, "%llu\n", (unsigned long long)cpu_us);
}

int bp_report_folded(const struct bp_model *model, FILE *out) {
    uint32_t count;
    uint32_t *order = order_stacks(model, &count);
    for (uint32_t i = 0; i < count; i++)
        print_stack(model, order[i], out);
    if (count == 0)
        bp_note("there are no sampled stacks in this profile%s",
                model->sampled ? "" : ": it was made without sampling");
    free(order);
    return 0;
}
