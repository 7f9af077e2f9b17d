/* SPDX-License-Identifier: MIT
 *
 * The sampled stacks for flame graphs, a line for each: "outermost;…;innermost microseconds", which
 * flamegraph.pl, inferno and speedscope read. The time is CPU time; the longest comes first.
 */
#include <math.h>

#include "tools/export/export.h"
#include "tools/model/walk.h"

struct folded {
    const struct bp_model *model;
    FILE *out;
    bool any;
};

/* A semicolon ends a frame and a line its stack: neither may come from a name. */
static void print_frame(const char *name, FILE *out) {
    for (; *name; name++)
        fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name, out);
}

static const char *frame_name(const struct bp_model *model, uint32_t number) {
    if (number == BP_NO_FUNCTION)
        return "(truncated)";
    return bp_function_frame(&model->functions[number]);
}

static bool print_stack(const struct bp_walk_row *row, void *data) {
    struct folded *folded = data;
    uint64_t cpu_ns = (uint64_t)llround(1e9 * row->self_s);
    folded->any = true;
    for (uint32_t i = 0; i <= row->depth; i++) {
        print_frame(frame_name(folded->model, row->functions[i]), folded->out);
        fputc(i < row->depth ? ';' : ' ', folded->out);
    }
    fprintf(folded->out, "%llu\n", (unsigned long long)(cpu_ns + 500) / 1000);
    return true;
}

int bp_export_folded(const struct bp_model *model, FILE *out) {
    struct folded folded = {model, out, false};
    bp_walk_stacks(model, BP_ALL_THREADS, print_stack, &folded);
    if (!folded.any)
        bp_note("there are no sampled stacks in this profile%s",
                model->samples.on ? "" : ": it was made without sampling");
    return 0;
}
