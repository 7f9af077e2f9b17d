/* SPDX-License-Identifier: MIT
 *
 * Reads the samples a second time, by line. A sample stands for its part of the time of the pool
 * that it belongs to (pool.h), so the spots of an intercepted function sum to its exact time.
 */
#include "tools/model/line/spot.h"

#include "tools/base/text.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/pool.h"
#include "tools/symbols/symbols.h"

struct reading {
    struct bp_model *model;
    const struct bp_pools *pools;
    struct bp_stack_reader reader;
    struct bp_keys table;
    struct bp_keys shares;
    const struct bp_profile_thread *thread;
    const struct bp_stack_frame *frames;
    uint32_t *masks; /* causes by function, + 1 bit that says that they are known */
    uint32_t mask_count;
};

#define KNOWN (UINT32_C(1) << 31)
_Static_assert(BP_CAUSES < 31, "a bit for each cause");

static bool is_own(const struct reading *reading, uint32_t i) {
    const struct bp_stack_frame *named = &reading->frames[i];
    if (named->code != BP_CODE_PYTHON && named->code != BP_CODE_PROGRAM)
        return false;
    return reading->model->functions[named->function].owner == BP_OWNER_USER;
}

static uint32_t mask_of(struct reading *reading, uint32_t function) {
    while (reading->mask_count <= function)
        (void)BP_APPEND(reading->masks, reading->mask_count);
    if (!(reading->masks[function] & KNOWN))
        reading->masks[function] = KNOWN | bp_cause_mask(reading->model, function);
    return reading->masks[function];
}

/* Stripped: only its address is known. */
static bool is_unnamed(const struct bp_function *function) {
    return function->name[0] == '(' || strstr(function->name, "+0x");
}

/* Where a sample belongs. */
struct place {
    uint32_t frame; /* BP_NO_FRAME: in no line that the user wrote */
    uint32_t mask;  /* causes that functions below prove */
    bool unnamed;
};

static struct place find_place(struct reading *reading, uint32_t leaf) {
    struct place place = {.frame = BP_NO_FRAME};
    for (uint32_t i = leaf; i != BP_NO_FRAME; i = reading->thread->frames[i].parent) {
        const struct bp_stack_frame *named = &reading->frames[i];
        if (named->code == BP_CODE_UNKNOWN)
            break;
        if (named->code == BP_CODE_LEDGER)
            continue;
        if (is_own(reading, i)) {
            place.frame = i;
            break;
        }
        place.mask |= mask_of(reading, named->function);
        place.unnamed |= i == leaf && is_unnamed(&reading->model->functions[named->function]);
    }
    return place;
}

/* File and line of the innermost function that is inlined in a native frame. */
static struct bp_symbol line_of(const struct reading *reading, uint32_t number) {
    const struct bp_frame *frame = &reading->thread->frames[number];
    const struct bp_function *function =
        &reading->model->functions[reading->frames[number].function];
    const struct bp_profile *profile = reading->model->processes[reading->reader.process].profile;
    uint64_t address = bp_stack_address(frame);
    uint32_t count = 0;
    if (frame->kind == BP_FRAME_PYTHON)
        return (struct bp_symbol){
            .file = function->file, .directory = profile->header.directory, .line = frame->line};
    uint32_t object = bp_stack_object(&reading->reader, address);
    if (object == BP_NO_OBJECT || frame->flags & BP_FRAME_FUNCTION)
        return (struct bp_symbol){.file = "", .directory = ""};
    const struct bp_symbol *symbols =
        bp_symbols_frames(reading->model->samples.symbols, bp_stack_file(&reading->reader, object),
                          address - profile->objects[object].base, &count);
    return count ? symbols[0] : (struct bp_symbol){.file = "", .directory = ""};
}

/* The function that people know: not a comprehension or lambda on one of its lines. */
static bool has_better_name(const struct bp_model *model, uint32_t function, uint32_t than) {
    return strchr(model->functions[than].name, '<') &&
           !strchr(model->functions[function].name, '<');
}

static struct bp_spot *put_spot(struct reading *reading, uint32_t number) {
    struct bp_model *model = reading->model;
    struct bp_symbol symbol = line_of(reading, number);
    uint32_t function = reading->frames[number].function;
    if (symbol.line == 0)
        return NULL;
    char *key = bp_make_text("%u %s", symbol.line, symbol.file);
    uint32_t place = bp_keys_put(&reading->table, key, strlen(key));
    free(key);
    if (place == model->lines.spot_count) {
        struct bp_spot *fresh = BP_APPEND(model->lines.spots, model->lines.spot_count);
        *fresh = (struct bp_spot){.function = function,
                                  .file = symbol.file,
                                  .directory = symbol.directory,
                                  .line = symbol.line};
    }
    struct bp_spot *spot = &model->lines.spots[place];
    if (has_better_name(model, function, spot->function))
        spot->function = function;
    return spot;
}

/* A comprehension or lambda belongs to the function whose name begins its own; itself if that was
 * never seen. */
static uint32_t enclosing(const struct bp_model *model, uint32_t number) {
    const struct bp_function *inner = &model->functions[number];
    const char *end = strstr(inner->name, ".<locals>.<");
    size_t length = end ? (size_t)(end - inner->name) : 0;
    for (uint32_t i = 0; end && i < model->function_count; i++) {
        const struct bp_function *outer = &model->functions[i];
        if (strncmp(outer->name, inner->name, length) == 0 && !outer->name[length] &&
            strcmp(outer->module, inner->module) == 0 && strcmp(outer->file, inner->file) == 0)
            return i;
    }
    return number;
}

static struct bp_spot_share *put_share(struct reading *reading, uint32_t function, uint32_t spot) {
    struct bp_model *model = reading->model;
    const uint32_t key[] = {function, spot};
    uint32_t place = bp_keys_put(&reading->shares, key, sizeof(key));
    if (place == model->lines.share_count)
        *BP_APPEND(model->lines.shares, model->lines.share_count) =
            (struct bp_spot_share){.function = function, .spot = spot};
    return &model->lines.shares[place];
}

/* Waits are no work, and CUDA calls have rules of their own. */
static bool is_work(const struct bp_function *function) {
    return function->kind != BP_FUNC_WAIT && !function->cuda;
}

static void add_sample(struct reading *reading, const struct bp_sample *sample, uint32_t context) {
    const struct bp_pool *pool = &reading->pools->pools[reading->pools->of[context]];
    struct bp_model *model = reading->model;
    if (!(pool->weight > 0) || !is_work(&model->functions[pool->function]))
        return;
    struct place place = find_place(reading, sample->frame);
    struct bp_spot *spot = place.frame == BP_NO_FRAME ? NULL : put_spot(reading, place.frame);
    if (!spot)
        return;
    double running = pool->self_s > 0 ? 1 - pool->blocked_s / pool->self_s : 0;
    double part = running * 1e-9 * (double)sample->weight / pool->weight;
    struct bp_spot_share *share =
        put_share(reading, pool->function, (uint32_t)(spot - model->lines.spots));
    share->samples += sample->count;
    share->wall_s += pool->wall_s * part;
    spot->samples += sample->count;
    spot->self_s += pool->self_s * part;
    spot->wall_s += pool->wall_s * part;
    spot->unnamed_s += place.unnamed ? pool->wall_s * part : 0;
    for (unsigned i = 0; i < BP_CAUSES; i++)
        if (place.mask >> i & 1)
            spot->evidence_s[i] += pool->wall_s * part;
}

static void read_thread(struct reading *reading, uint32_t number) {
    const struct bp_thread_work *work = &reading->model->work->threads[number];
    reading->thread = reading->model->threads[number].source;
    struct bp_stack_frame *frames = bp_stack_frames(&reading->reader, reading->thread);
    reading->frames = frames;
    for (uint32_t i = 0; i < reading->thread->sample_count; i++) {
        const struct bp_sample *sample = &reading->thread->samples[i];
        if (sample->kind == BP_SAMPLE_CPU)
            add_sample(reading, sample, work->context[sample->node]);
    }
    free(frames);
}

static int compare_spots(const void *a, const void *b) {
    const struct bp_spot *x = a;
    const struct bp_spot *y = b;
    if (x->wall_s != y->wall_s)
        return x->wall_s > y->wall_s ? -1 : 1;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* By falling time; shares follow. */
static void sort_spots(struct bp_model *model) {
    uint32_t *places = bp_alloc(model->lines.spot_count, sizeof(*places));
    for (uint32_t i = 0; i < model->lines.spot_count; i++)
        model->lines.spots[i].place = i;
    qsort(model->lines.spots, model->lines.spot_count, sizeof(*model->lines.spots), compare_spots);
    for (uint32_t i = 0; i < model->lines.spot_count; i++)
        places[model->lines.spots[i].place] = i;
    for (uint32_t i = 0; i < model->lines.share_count; i++)
        model->lines.shares[i].spot = places[model->lines.shares[i].spot];
    free(places);
}

static bool has_samples(const struct bp_profile *profile) {
    for (uint32_t t = 0; t < profile->thread_count; t++)
        for (uint32_t i = 0; i < profile->threads[t].sample_count; i++)
            if (profile->threads[t].samples[i].kind == BP_SAMPLE_CPU)
                return true;
    return false;
}

void bp_model_find_spots(struct bp_model *model, const struct bp_pools *pools) {
    struct reading reading = {.model = model, .pools = pools};
    for (uint32_t process = 0; process < model->process_count; process++) {
        if (!has_samples(model->processes[process].profile))
            continue;
        bp_stack_reader_init(&reading.reader, model, process);
        for (uint32_t i = 0; i < model->thread_count; i++)
            if (model->threads[i].process == process)
                read_thread(&reading, i);
        bp_stack_reader_fini(&reading.reader);
    }
    for (uint32_t i = 0; i < model->lines.spot_count; i++)
        model->lines.spots[i].function = enclosing(model, model->lines.spots[i].function);
    if (model->lines.spot_count)
        sort_spots(model);
    bp_keys_fini(&reading.table);
    bp_keys_fini(&reading.shares);
    free(reading.masks);
}

double bp_model_spots_wall(const struct bp_model *model, uint32_t function) {
    double wall_s = 0;
    for (uint32_t i = 0; i < model->lines.spot_count; i++)
        if (model->lines.spots[i].function == function)
            wall_s += model->lines.spots[i].wall_s;
    return wall_s;
}
