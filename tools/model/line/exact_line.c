/* SPDX-License-Identifier: MIT
 *
 * Line counts of all processes, summed by function and line.
 */
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/base/source.h"
#include "tools/model/internal.h"

/* Part of a line's time by which the rounds of a loop within it may be too long: 6 to 10 ns of a
 * round, the shortest of which take 16 ns bare (3.12, 3.13). */
#define ROUNDS 0.3

/* What one that is open lacks is the time until the end. A file that was read while its target
 * wrote, or whose target was killed between two stores, may have one of both only: then a sum
 * beyond all that its threads lived shows which. */
static double total_ticks(const struct bp_model_process *process,
                          const struct bp_line_count *count) {
    const struct bp_profile *profile = process->profile;
    uint64_t start = profile->header.start;
    uint64_t lived = process->end > start ? process->end - start : 0;
    uint64_t most = lived * (profile->thread_count ? profile->thread_count : 1);
    uint64_t ended = count->total + count->open * process->end;
    if (ended <= most)
        return (double)ended;
    return count->total <= most ? (double)count->total : 0;
}

/* What the events in a line cost was taken out of it, and is known as well as one event's cost. The
 * rounds of a loop within a line cost something that is not known. */
static double error_ticks(const struct bp_model_process *process,
                          const struct bp_line_count *count) {
    const struct bp_header *header = &process->profile->header;
    double rounds = count->flags & BP_LINE_ROUNDS ? ROUNDS * total_ticks(process, count) : 0;
    double taken = (double)count->taken;
    return (header->line_event ? taken * header->line_doubt / (double)header->line_event : 0) +
           rounds;
}

void bp_model_add_exact_lines(struct bp_model *model, const struct bp_model_process *process,
                              const uint32_t *map) {
    const struct bp_profile *profile = process->profile;
    for (uint32_t i = 0; i < profile->line_count; i++) {
        const struct bp_line_count *count = &profile->lines[i];
        if (!count->hits && !count->self && !count->open)
            continue;
        *BP_APPEND(model->lines.exact, model->lines.exact_count) = (struct bp_exact_line){
            .function = map[count->func],
            .line = count->line,
            .directory = profile->header.directory,
            .hits = count->hits,
            .self_s = (double)count->self * process->tick_s,
            .total_s = total_ticks(process, count) * process->tick_s,
            .error_s = error_ticks(process, count) * process->tick_s,
        };
    }
}

static int compare(const void *a, const void *b) {
    const struct bp_exact_line *x = a;
    const struct bp_exact_line *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

void bp_model_finish_exact_lines(struct bp_model *model) {
    struct bp_exact_line *lines = model->lines.exact;
    uint32_t kept = 0;
    if (model->lines.exact_count == 0)
        return;
    qsort(lines, model->lines.exact_count, sizeof(*lines), compare);
    for (uint32_t i = 1; i < model->lines.exact_count; i++) {
        if (compare(&lines[kept], &lines[i]) != 0) {
            lines[++kept] = lines[i];
            continue;
        }
        lines[kept].hits += lines[i].hits;
        lines[kept].self_s += lines[i].self_s;
        lines[kept].total_s += lines[i].total_s;
        lines[kept].error_s += lines[i].error_s;
    }
    model->lines.exact_count = kept + 1;
}

const struct bp_exact_line *bp_model_exact_lines(const struct bp_model *model, uint32_t function,
                                                 uint32_t *count) {
    const struct bp_exact_line *lines = model->lines.exact;
    uint32_t first = 0;
    while (first < model->lines.exact_count && lines[first].function < function)
        first++;
    uint32_t end = first;
    while (end < model->lines.exact_count && lines[end].function == function)
        end++;
    *count = end - first;
    return *count ? &lines[first] : NULL;
}

const char *bp_model_exact_source(const struct bp_model *model, const struct bp_exact_line *line) {
    return bp_sources_line(model->lines.sources, line->directory,
                           model->functions[line->function].file, line->line);
}
