/* SPDX-License-Identifier: MIT
 *
 * From sampled stacks to lines. Each stack is walked once, from the leaf outward: every line on it
 * has the sample in its total, and one or two have it in their self time: the innermost native
 * line, and the Python line that runs it.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/line/internal.h"
#include "tools/symbols/symbols.h"

/* What the frames of one thread are, and the sample that is looked at. */
struct walk {
    struct bp_line_reading *reading;
    struct bp_stack_reader *reader;
    const struct bp_profile_thread *thread;
    const struct bp_thread_work *work;
    const struct bp_stack_frame *frames;
    uint32_t *function; /* per frame; of a stub the function that it calls */
    uint32_t *line;     /* per frame, or BP_NO_LINE */
    uint32_t *inlined;  /* per frame: what the compiler put there, or BP_NO_FUNCTION */
    const struct bp_sample *sample;
    uint32_t node_function;
    uint32_t pool;
};

static uint32_t put_file(struct bp_line_reading *reading, const char *directory, const char *file) {
    uint32_t before = reading->file_table.count;
    uint32_t number = bp_keys_put(&reading->file_table, file, strlen(file));
    if (number == before) {
        *BP_PLACE(reading->files, number) = file;
        *BP_PLACE(reading->directories, number) = directory;
    }
    return number;
}

static uint32_t put_line(struct bp_line_reading *reading, uint32_t function, uint32_t file,
                         uint32_t line) {
    struct bp_line_key key = {function, file, line};
    uint32_t before = reading->line_table.count;
    uint32_t number = bp_keys_put(&reading->line_table, &key, sizeof(key));
    if (number == before)
        *BP_PLACE(reading->lines, number) = key;
    return number;
}

/* Counts the sample for an item, once per stack. */
static void add_item(const struct walk *walk, const struct bp_line_item *item) {
    struct bp_line_reading *reading = walk->reading;
    uint32_t before = reading->item_table.count;
    uint32_t number = bp_keys_put(&reading->item_table, item, sizeof(*item));
    if (number == before) {
        *BP_PLACE(reading->items, number) = *item;
        *BP_PLACE(reading->counted, number) = 0;
    }
    if (reading->counted[number] == reading->stack)
        return;
    reading->counted[number] = reading->stack;
    uint32_t key[2] = {number, walk->pool};
    before = reading->cell_table.count;
    uint32_t place = bp_keys_put(&reading->cell_table, key, sizeof(key));
    if (place == before)
        *BP_PLACE(reading->cells, place) =
            (struct bp_line_cell){.item = number, .pool = walk->pool};
    reading->cells[place].count += walk->sample->count;
    reading->cells[place].weight += 1e-9 * (double)walk->sample->weight;
}

static void add(const struct walk *walk, enum bp_item_kind kind, uint32_t subject) {
    struct bp_line_item item = {.kind = kind, .subject = subject, .function = BP_NO_FUNCTION};
    add_item(walk, &item);
}

/* The line within the function itself. Where the compiler put another function into it, that is the
 * line of the call: the function's own time has both. */
static void find_native_line(struct walk *walk, uint32_t i) {
    struct bp_model *model = walk->reading->model;
    const struct bp_profile *profile = model->processes[walk->reader->process].profile;
    uint64_t address = bp_stack_address(&walk->thread->frames[i]);
    uint32_t object = bp_stack_object(walk->reader, address);
    uint32_t count = 0;
    if (object == BP_NO_OBJECT || walk->thread->frames[i].flags & BP_FRAME_FUNCTION)
        return;
    const struct bp_symbol *symbols =
        bp_symbols_frames(model->samples.symbols, bp_stack_file(walk->reader, object),
                          address - profile->objects[object].base, &count);
    if (count == 0 || !symbols[count - 1].line)
        return;
    uint32_t file = put_file(walk->reading, symbols[0].directory, symbols[count - 1].file);
    walk->line[i] = put_line(walk->reading, walk->function[i], file, symbols[count - 1].line);
    if (count == 1 || !symbols[count - 2].function[0])
        return;
    struct bp_function inlined = {.name = symbols[count - 2].function,
                                  .library = model->functions[walk->function[i]].library,
                                  .path = model->functions[walk->function[i]].path,
                                  .module = "",
                                  .file = "",
                                  .kind = BP_FUNC_CALL};
    walk->inlined[i] = bp_model_put_function(model, &inlined, 0);
}

static void find_python_line(struct walk *walk, uint32_t i) {
    const struct bp_model *model = walk->reading->model;
    const char *directory = model->processes[walk->reader->process].profile->header.directory;
    uint32_t file = put_file(walk->reading, directory, model->functions[walk->function[i]].file);
    walk->line[i] = put_line(walk->reading, walk->function[i], file, walk->thread->frames[i].line);
}

static void find_line(struct walk *walk, uint32_t i) {
    const struct bp_frame *frame = &walk->thread->frames[i];
    bool called =
        frame->parent != BP_NO_FRAME && walk->frames[frame->parent].code == BP_CODE_LEDGER;
    walk->function[i] = walk->frames[i].function;
    walk->line[i] = BP_NO_LINE;
    walk->inlined[i] = BP_NO_FUNCTION;
    if (walk->frames[i].code == BP_CODE_LEDGER)
        walk->function[i] = walk->work->function[frame->func];
    else if (called) /* what the stub called is the function, whatever its alias */
        walk->function[i] = walk->function[frame->parent];
    if (walk->frames[i].code == BP_CODE_PYTHON && frame->line)
        find_python_line(walk, i);
    else if (walk->frames[i].code == BP_CODE_PROGRAM)
        find_native_line(walk, i);
}

/* Whether the line calls something by name: a function, or a stub that leads to one. */
static bool is_called(const struct walk *walk, uint32_t i) {
    enum bp_code code = walk->frames[i].code;
    return code == BP_CODE_PYTHON || code == BP_CODE_PROGRAM || code == BP_CODE_LEDGER;
}

static void add_totals(const struct walk *walk) {
    uint32_t inner = BP_NO_FUNCTION;
    for (uint32_t i = walk->sample->frame; i != BP_NO_FRAME; i = walk->thread->frames[i].parent) {
        if (walk->line[i] != BP_NO_LINE) {
            struct bp_line_item callee = {
                .kind = BP_ITEM_CALLEE, .subject = walk->line[i], .function = walk->inlined[i]};
            if (callee.function == BP_NO_FUNCTION)
                callee.function = inner;
            add(walk, BP_ITEM_TOTAL, walk->line[i]);
            add(walk, BP_ITEM_FUNCTION_TOTAL, walk->function[i]);
            if (callee.function != BP_NO_FUNCTION)
                add_item(walk, &callee);
        }
        if (is_called(walk, i))
            inner = walk->function[i];
    }
}

/* Helpers of the DSL are part of the DSL function that is measured, as in path.c. */
static uint32_t line_of_owner(const struct walk *walk, uint32_t i) {
    const struct bp_function *functions = walk->reading->model->functions;
    const struct bp_function *node = &functions[walk->node_function];
    uint32_t line = walk->line[i];
    if (line == BP_NO_LINE || walk->function[i] == walk->node_function ||
        node->kind != BP_FUNC_CALL || node->category != BP_DSL ||
        functions[walk->function[i]].category != BP_DSL)
        return line;
    const struct bp_line_key *key = &walk->reading->lines[line];
    return put_line(walk->reading, walk->node_function, key->file, key->line);
}

static uint32_t add_self(const struct walk *walk, uint32_t i) {
    uint32_t line = line_of_owner(walk, i);
    if (line == BP_NO_LINE)
        return line;
    add(walk, BP_ITEM_SELF, line);
    add(walk, BP_ITEM_TOTAL, line);
    add(walk, BP_ITEM_FUNCTION_TOTAL, walk->reading->lines[line].function);
    return line;
}

/* The Python function that the sample's time belongs to. One that is intercepted has its own time;
 * if it is not the one that the time was taken from, its call was just beginning or ending. */
static bool owns(const struct walk *walk, uint32_t i) {
    return walk->function[i] == walk->node_function ||
           walk->reading->model->functions[walk->function[i]].calls == 0;
}

static void add_work(const struct walk *walk, uint32_t line) {
    uint32_t function;
    enum bp_line_work kind =
        bp_work_find(walk->reading, walk->thread, walk->frames, walk->sample->frame, &function);
    struct bp_line_item item = {BP_ITEM_WORK, line, kind, function};
    add_item(walk, &item);
    item.kind = BP_ITEM_FUNCTION_WORK;
    item.subject = walk->reading->lines[line].function;
    add_item(walk, &item);
}

/* As far as the intercepted call that the time is of. */
static void add_selves(const struct walk *walk) {
    bool native = false;
    for (uint32_t i = walk->sample->frame; i != BP_NO_FRAME; i = walk->thread->frames[i].parent) {
        enum bp_code code = walk->frames[i].code;
        if (code == BP_CODE_LEDGER)
            return;
        if (code == BP_CODE_PROGRAM && !native) {
            native = true;
            add_self(walk, i);
        }
        native |= code == BP_CODE_PYTHON;
        if (code != BP_CODE_PYTHON || !owns(walk, i))
            continue;
        uint32_t line = add_self(walk, i);
        if (line != BP_NO_LINE)
            add_work(walk, line);
        return;
    }
}

static void read_samples(struct walk *walk, const struct bp_pools *pools) {
    for (uint32_t i = 0; i < walk->thread->sample_count; i++) {
        walk->sample = &walk->thread->samples[i];
        if (walk->sample->kind != BP_SAMPLE_CPU)
            continue;
        walk->node_function = walk->work->function[walk->sample->node];
        walk->pool = pools->of[walk->work->context[walk->sample->node]];
        walk->reading->stack++;
        add_totals(walk);
        add_selves(walk);
    }
}

void bp_line_read_thread(struct bp_line_reading *reading, struct bp_stack_reader *reader,
                         const struct bp_profile_thread *thread, const struct bp_thread_work *work,
                         const struct bp_stack_frame *frames, const struct bp_pools *pools) {
    struct walk walk = {
        .reading = reading, .reader = reader, .thread = thread, .work = work, .frames = frames};
    walk.function = bp_alloc(thread->frame_count, sizeof(*walk.function));
    walk.line = bp_alloc(thread->frame_count, sizeof(*walk.line));
    walk.inlined = bp_alloc(thread->frame_count, sizeof(*walk.inlined));
    for (uint32_t i = 0; i < thread->frame_count; i++)
        find_line(&walk, i);
    read_samples(&walk, pools);
    free(walk.function);
    free(walk.line);
    free(walk.inlined);
}
