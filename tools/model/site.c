/* SPDX-License-Identifier: MIT
 *
 * Call sites of copies. Threads and processes that copy from the same lines are one site. Frames of
 * the runtime, and of the interpreter where there are Python functions, say nothing to a user.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/stack.h"
#include "tools/symbols/symbols.h"

struct sites {
    struct bp_model *model;
    struct bp_stack_reader *reader;
    const struct bp_profile_thread *thread;
    const struct bp_thread_work *work;
    const struct bp_stack_frame *frames;
    struct bp_keys *table;
};

static void add_step(struct bp_copy_site *site, struct bp_site_step step) {
    *BP_APPEND(site->steps, site->step_count) = step;
}

/* Functions that the compiler inlined are steps of their own. */
static void add_native(const struct sites *sites, const struct bp_frame *frame, uint32_t number,
                       struct bp_copy_site *site) {
    struct bp_model *model = sites->model;
    const struct bp_function *function = &model->functions[number];
    const struct bp_profile *profile = model->processes[sites->reader->process].profile;
    uint64_t address = bp_stack_address(frame);
    uint32_t object = bp_stack_object(sites->reader, address);
    uint32_t count = 0;
    const struct bp_symbol *symbols = NULL;
    if (object != BP_NO_OBJECT && !(frame->flags & BP_FRAME_FUNCTION))
        symbols = bp_symbols_frames(model->samples.symbols, bp_stack_file(sites->reader, object),
                                    address - profile->objects[object].base, &count);
    for (uint32_t i = 0; i + 1 < count; i++)
        add_step(site, (struct bp_site_step){"", symbols[i].function, function->library,
                                             symbols[i].file, symbols[i].line});
    add_step(site, (struct bp_site_step){"", function->name, function->library,
                                         count ? symbols[count - 1].file : "",
                                         count ? symbols[count - 1].line : 0});
}

static bool has_python(const struct sites *sites, uint32_t leaf) {
    for (uint32_t i = leaf; i != BP_NO_FRAME; i = sites->thread->frames[i].parent)
        if (sites->frames[i].code == BP_CODE_PYTHON)
            return true;
    return false;
}

/* The CUDA call is in the row already. */
static bool is_worth(const struct sites *sites, uint32_t i, bool python) {
    enum bp_code code = sites->frames[i].code;
    if (code == BP_CODE_INTERPRETER)
        return !python;
    return (code == BP_CODE_PROGRAM || code == BP_CODE_PYTHON) &&
           strncmp(sites->model->functions[sites->frames[i].function].library, "libcuda", 7) != 0;
}

static void read_steps(const struct sites *sites, uint32_t leaf, struct bp_copy_site *site) {
    bool python = has_python(sites, leaf);
    for (uint32_t i = leaf; i != BP_NO_FRAME; i = sites->thread->frames[i].parent) {
        const struct bp_frame *frame = &sites->thread->frames[i];
        if (!is_worth(sites, i, python))
            continue;
        uint32_t number = sites->frames[i].function;
        const struct bp_function *function = &sites->model->functions[number];
        if (sites->frames[i].code == BP_CODE_PYTHON)
            add_step(site, (struct bp_site_step){function->module, function->name, "",
                                                 function->file, frame->line});
        else
            add_native(sites, frame, number, site);
    }
}

/* Everything that is shown of a site: a new text. */
static char *make_key(const struct bp_copy_site *site, size_t *size) {
    char *key = NULL;
    FILE *out = open_memstream(&key, size);
    if (!out)
        return NULL;
    fprintf(out, "%u %u %u", site->caller, site->call, site->direction);
    for (uint32_t i = 0; i < site->step_count; i++)
        fprintf(out, "|%s.%s %s %s:%u", site->steps[i].module, site->steps[i].function,
                site->steps[i].library, site->steps[i].file, site->steps[i].line);
    fclose(out);
    return key;
}

/* The innermost function around the CUDA call that is none itself. */
static uint32_t caller_of(const struct sites *sites, uint32_t node) {
    while (node != 0 && sites->model->functions[sites->work->function[node]].cuda)
        node = sites->thread->nodes[node].parent;
    return sites->work->function[node];
}

/* For the interpreter no more than the function is ever kept; for others, once a thread has too
 * many frames. */
static bool is_coarse(const struct sites *sites, uint32_t leaf) {
    for (uint32_t i = leaf; i != BP_NO_FRAME; i = sites->thread->frames[i].parent)
        if (sites->frames[i].code == BP_CODE_PROGRAM &&
            sites->thread->frames[i].flags & BP_FRAME_FUNCTION)
            return true;
    return false;
}

static void count_sample(struct sites *sites, const struct bp_sample *sample) {
    bool coarse = is_coarse(sites, sample->frame);
    struct bp_site_counts *counts = &sites->model->cuda.site_counts;
    counts->copies += sample->count;
    counts->coarse += coarse ? sample->count : 0;
    counts->fine += !coarse;
}

static uint32_t direction_of(const struct bp_sample *sample) {
    return sample->direction > 0 && sample->direction <= BP_DIRECTIONS ? sample->direction - 1u
                                                                       : BP_SITE_UNTOLD;
}

static void add_sample(const struct sites *sites, const struct bp_sample *sample) {
    struct bp_model *model = sites->model;
    struct bp_copy_site site = {.caller = caller_of(sites, sample->node),
                                .call = sites->work->function[sample->node],
                                .direction = direction_of(sample)};
    size_t size = 0;
    read_steps(sites, sample->frame, &site);
    char *key = make_key(&site, &size);
    uint32_t number = key ? bp_keys_put(sites->table, key, size) : BP_KEYS_NONE;
    free(key);
    if (number != model->cuda.site_count) {
        free(site.steps);
    } else {
        *BP_APPEND(model->cuda.sites, model->cuda.site_count) = site;
    }
    if (number == BP_KEYS_NONE)
        return;
    model->cuda.sites[number].count += sample->count;
    model->cuda.sites[number].bytes += sample->weight;
}

/* One that failed is not counted, but its sample is there. */
static bool is_copy(const struct bp_sample *sample) {
    return sample->count > 0 && sample->kind == BP_SAMPLE_COPY;
}

static bool has_copies(const struct bp_profile *profile) {
    for (uint32_t t = 0; t < profile->thread_count; t++)
        for (uint32_t i = 0; i < profile->threads[t].sample_count; i++)
            if (is_copy(&profile->threads[t].samples[i]))
                return true;
    return false;
}

static void read_thread(struct sites *sites, uint32_t number) {
    sites->thread = sites->model->threads[number].source;
    sites->work = &sites->model->work->threads[number];
    struct bp_stack_frame *frames = bp_stack_frames(sites->reader, sites->thread);
    sites->frames = frames;
    for (uint32_t i = 0; i < sites->thread->sample_count; i++)
        if (is_copy(&sites->thread->samples[i])) {
            count_sample(sites, &sites->thread->samples[i]);
            add_sample(sites, &sites->thread->samples[i]);
        }
    free(frames);
}

static int compare_sites(const void *a, const void *b) {
    const struct bp_copy_site *x = a;
    const struct bp_copy_site *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->count > y->count ? -1 : x->count < y->count;
}

void bp_model_find_sites(struct bp_model *model) {
    struct bp_keys table = {0};
    struct sites sites = {.model = model, .table = &table};
    for (uint32_t process = 0; process < model->process_count; process++) {
        struct bp_stack_reader reader;
        if (!has_copies(model->processes[process].profile))
            continue;
        bp_stack_reader_init(&reader, model, process);
        sites.reader = &reader;
        for (uint32_t i = 0; i < model->thread_count; i++)
            if (model->threads[i].process == process)
                read_thread(&sites, i);
        bp_stack_reader_fini(&reader);
    }
    if (model->cuda.site_count)
        qsort(model->cuda.sites, model->cuda.site_count, sizeof(*model->cuda.sites), compare_sites);
    bp_keys_fini(&table);
}

void bp_model_free_sites(struct bp_model *model) {
    for (uint32_t i = 0; i < model->cuda.site_count; i++)
        free(model->cuda.sites[i].steps);
    free(model->cuda.sites);
}
