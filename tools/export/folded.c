/* SPDX-License-Identifier: MIT
 *
 * A line for each stack, "outermost;…;innermost weight", which flamegraph.pl, inferno and
 * speedscope read: sampled stacks, the longest first, or contexts, callers before what they call.
 * Times are microseconds for CPU time, as `report --folded` has them, and nanoseconds for exact
 * times. The format knows no comment.
 */
#include "tools/export/frame.h"

struct folded {
    const struct bp_export *export;
    FILE *out;
    bool any;
};

/* A semicolon ends a frame and a line its stack: neither may come from a name. */
static void print_frame(const char *name, FILE *out) {
    for (; *name; name++)
        fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name, out);
}

static bool print_stack(const struct bp_walk_row *row, void *data) {
    struct folded *folded = data;
    const struct bp_export *export = folded->export;
    uint64_t weight = bp_export_weigh(row, export->weight);
    if (export->weight == BP_WEIGHT_CPU)
        weight = (weight + 500) / 1000;
    else if (!weight)
        return true;
    folded->any = true;
    for (uint32_t i = 0; i <= row->depth; i++) {
        uint32_t frame = bp_export_frame(export->model, row->functions[i]);
        print_frame(export->frames[frame], folded->out);
        fputc(i < row->depth ? ';' : ' ', folded->out);
    }
    fprintf(folded->out, "%llu\n", (unsigned long long)weight);
    return true;
}

int bp_export_folded(const struct bp_export *export, FILE *out) {
    const struct bp_model *model = export->model;
    struct folded folded = {export, out, false};
    if (export->weight != BP_WEIGHT_CPU)
        bp_export_contexts(model, BP_ALL_THREADS, print_stack, &folded);
    else
        bp_walk_stacks(model, BP_ALL_THREADS, print_stack, &folded);
    if (!folded.any && export->weight == BP_WEIGHT_CPU)
        bp_note("there are no sampled stacks in this profile%s",
                model->samples.on ? "" : ": it was made without sampling");
    else if (!folded.any)
        bp_note("no stack of this profile has %s", bp_weight_names[export->weight]);
    return 0;
}
