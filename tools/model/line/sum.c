/* SPDX-License-Identifier: MIT
 *
 * From cells to lines: the time that a pool's samples stand for is known now, and the time of an
 * item is the sum over the pools in which it was sampled.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/source.h"
#include "tools/model/line/internal.h"

/* An item's time over all pools. */
struct sum {
    uint64_t samples;
    double s;
    double wall_s;
    double variance;
};

/* Samples are taken on the CPU: of a wait they tell nothing but what it took there. */
static double located_time(const struct bp_model *model, const struct bp_pool *pool) {
    const struct bp_function *function = &model->functions[pool->function];
    double self_s = pool->self_s - pool->blocked_s;
    bool waits = function->kind == BP_FUNC_WAIT || function->cuda;
    return waits && pool->weight < self_s ? pool->weight : self_s;
}

static void add_cell(const struct bp_model *model, const struct bp_pools *pools,
                     const struct bp_line_cell *cell, struct sum *sum) {
    const struct bp_pool *pool = &pools->pools[cell->pool];
    double pool_s = located_time(model, pool);
    if (!(pool->weight > 0) || !(pool_s > 0))
        return;
    double s = pool_s * cell->weight / pool->weight;
    sum->samples += cell->count;
    sum->s += s;
    sum->wall_s += pool->wall_s * s / pool->self_s;
    sum->variance += bp_pool_variance(pool->samples, cell->count, pool_s);
}

/* Per item: a new array. */
static struct sum *sum_items(const struct bp_line_reading *reading, const struct bp_pools *pools) {
    struct sum *sums = bp_alloc(reading->item_table.count, sizeof(*sums));
    for (uint32_t i = 0; i < reading->cell_table.count; i++)
        add_cell(reading->model, pools, &reading->cells[i], &sums[reading->cells[i].item]);
    return sums;
}

static void append_work(struct bp_work **works, uint32_t *count, const struct bp_line_item *item,
                        const struct sum *sum) {
    *BP_APPEND(*works, *count) = (struct bp_work){.kind = (enum bp_line_work)item->work,
                                                  .function = item->function,
                                                  .samples = sum->samples,
                                                  .s = sum->s,
                                                  .error_s = BP_DEVIATIONS * sqrt(sum->variance)};
}

static void set_line(struct bp_source_line *line, const struct bp_line_item *item,
                     const struct sum *sum) {
    double error_s = BP_DEVIATIONS * sqrt(sum->variance);
    switch ((enum bp_item_kind)item->kind) {
    case BP_ITEM_SELF:
        line->self_samples = sum->samples;
        line->self_s = sum->s;
        line->self_error_s = error_s;
        line->self_wall_s = sum->wall_s;
        break;
    case BP_ITEM_TOTAL:
        line->total_samples = sum->samples;
        line->total_s = sum->s;
        line->total_error_s = error_s;
        line->total_wall_s = sum->wall_s;
        break;
    case BP_ITEM_CALLEE:
        if (sum->s > line->callee_s) {
            line->callee = item->function;
            line->callee_s = sum->s;
        }
        break;
    default:
        append_work(&line->works, &line->work_count, item, sum);
    }
}

/* All lines, as the reading has numbered them: a new array. */
static struct bp_source_line *make_lines(const struct bp_line_reading *reading,
                                         const struct sum *sums) {
    struct bp_source_line *lines = bp_alloc(reading->line_table.count, sizeof(*lines));
    for (uint32_t i = 0; i < reading->line_table.count; i++) {
        lines[i].function = reading->lines[i].function;
        lines[i].file = reading->files[reading->lines[i].file];
        lines[i].directory = reading->directories[reading->lines[i].file];
        lines[i].line = reading->lines[i].line;
        lines[i].callee = BP_NO_FUNCTION;
    }
    for (uint32_t i = 0; i < reading->item_table.count; i++) {
        const struct bp_line_item *item = &reading->items[i];
        if (item->kind != BP_ITEM_FUNCTION_WORK && item->kind != BP_ITEM_FUNCTION_TOTAL)
            set_line(&lines[item->subject], item, &sums[i]);
    }
    return lines;
}

static int compare_lines(const void *a, const void *b) {
    const struct bp_source_line *x = a;
    const struct bp_source_line *y = b;
    if (x->self_s != y->self_s)
        return x->self_s > y->self_s ? -1 : 1;
    if (x->total_s != y->total_s)
        return x->total_s > y->total_s ? -1 : 1;
    int files = strcmp(x->file, y->file);
    return files ? files : x->line < y->line ? -1 : x->line > y->line;
}

static int compare_works(const void *a, const void *b) {
    const struct bp_work *x = a;
    const struct bp_work *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static void sort_works(struct bp_work *works, uint32_t count) {
    if (count)
        qsort(works, count, sizeof(*works), compare_works);
}

static void sort_all(struct bp_model *model) {
    for (uint32_t i = 0; i < model->lines.function_count; i++) {
        struct bp_function_lines *of = &model->lines.functions[i];
        if (of->count)
            qsort(of->lines, of->count, sizeof(*of->lines), compare_lines);
        sort_works(of->works, of->work_count);
        for (uint32_t k = 0; k < of->count; k++) {
            sort_works(of->lines[k].works, of->lines[k].work_count);
            of->self_s += of->lines[k].self_s;
        }
    }
}

static void free_reading(struct bp_line_reading *reading) {
    bp_keys_fini(&reading->file_table);
    bp_keys_fini(&reading->line_table);
    bp_keys_fini(&reading->item_table);
    bp_keys_fini(&reading->cell_table);
    free(reading->files);
    free(reading->directories);
    free(reading->lines);
    free(reading->items);
    free(reading->counted);
    free(reading->cells);
    free(reading->works);
}

void bp_line_finish(struct bp_line_reading *reading, const struct bp_pools *pools) {
    struct bp_model *model = reading->model;
    struct sum *sums = sum_items(reading, pools);
    struct bp_source_line *lines = make_lines(reading, sums);
    model->lines.sources = bp_sources_new(model->run.began_ns);
    model->lines.function_count = model->function_count;
    model->lines.functions = bp_alloc(model->function_count, sizeof(*model->lines.functions));
    for (uint32_t i = 0; i < reading->line_table.count; i++) {
        struct bp_function_lines *of = &model->lines.functions[lines[i].function];
        if (lines[i].total_samples)
            *BP_APPEND(of->lines, of->count) = lines[i];
        else /* it is on the path of a copy only */
            free(lines[i].works);
    }
    for (uint32_t i = 0; i < reading->item_table.count; i++) {
        const struct bp_line_item *item = &reading->items[i];
        struct bp_function_lines *of = &model->lines.functions[item->subject];
        if (item->kind == BP_ITEM_FUNCTION_WORK)
            append_work(&of->works, &of->work_count, item, &sums[i]);
        else if (item->kind == BP_ITEM_FUNCTION_TOTAL)
            of->total_s = sums[i].s;
    }
    sort_all(model);
    free(lines);
    free(sums);
    free_reading(reading);
}

const struct bp_function_lines *bp_model_lines(const struct bp_model *model, uint32_t function) {
    static const struct bp_function_lines none;
    return function < model->lines.function_count ? &model->lines.functions[function] : &none;
}

const char *bp_model_source(const struct bp_model *model, const struct bp_source_line *line) {
    return bp_sources_line(model->lines.sources, line->directory, line->file, line->line);
}

void bp_model_free_lines(struct bp_model *model) {
    for (uint32_t i = 0; i < model->lines.function_count; i++) {
        struct bp_function_lines *of = &model->lines.functions[i];
        for (uint32_t k = 0; k < of->count; k++)
            free(of->lines[k].works);
        free(of->lines);
        free(of->works);
    }
    free(model->lines.functions);
    bp_sources_free(model->lines.sources);
}
