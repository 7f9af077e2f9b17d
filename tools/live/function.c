/* SPDX-License-Identifier: MIT
 *
 * Rows of functions: who they are, their categories, and what they had in the look before.
 */
#include "tools/live/function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

#define NAME 256 /* bytes of a name that tell functions apart */

struct described {
    char name[NAME];
    char module[NAME];
    char file[NAME];
    char path[NAME];
};

static const struct bp_object *object_of(const struct bp_live_file *file, uint32_t index) {
    uint32_t count;
    for (uint32_t i = 0; index != BP_NO_OBJECT && i < file->chunk_count; i++) {
        const struct bp_live_chunk *chunk = &file->chunks[i];
        if (chunk->kind != BP_OBJECTS || index < chunk->first)
            continue;
        const char *items = bp_live_file_items(file, chunk, sizeof(struct bp_object), &count);
        if (items && index - chunk->first < count)
            return (const struct bp_object *)(items +
                                              (size_t)(index - chunk->first) * chunk->item_size);
    }
    return NULL;
}

static void describe(struct described *to, const struct bp_live_file *file,
                     const struct bp_func *func) {
    const struct bp_object *object = object_of(file, func->object);
    memset(to, 0, sizeof(*to)); /* it is a key */
    bp_live_file_text(file, func->name, to->name, sizeof(to->name));
    bp_live_file_text(file, func->module, to->module, sizeof(to->module));
    bp_live_file_text(file, func->file, to->file, sizeof(to->file));
    if (object)
        bp_live_file_text(file, object->path, to->path, sizeof(to->path));
    else if (func->kind == BP_FUNC_ROOT)
        snprintf(to->path, sizeof(to->path), "%.*s", NAME - 1,
                 bp_live_file_header(file)->executable);
}

static enum bp_category classify(const struct bp_rules *rules, const struct described *from,
                                 const struct bp_func *func) {
    const char *group;
    struct bp_rule_subject subject = {.library = bp_base_name(from->path),
                                      .symbol = from->name,
                                      .module = from->module,
                                      .file = from->file,
                                      .kind = func->kind,
                                      .flags = func->flags,
                                      .path = from->path,
                                      .divided = func->kind == BP_FUNC_ROOT};
    return bp_rules_apply(rules, &subject, &group);
}

static char *name_of(const struct described *from, uint32_t kind) {
    if (kind == BP_FUNC_ROOT)
        return bp_copy_text("own code");
    if (kind == BP_FUNC_FOLDED)
        return bp_copy_text("folded contexts");
    return from->module[0] ? bp_make_text("%s.%s", from->module, from->name)
                           : bp_copy_text(from->name);
}

uint32_t bp_live_functions_put(struct bp_live_functions *functions, const struct bp_live_file *file,
                               const struct bp_func *func) {
    struct described from;
    describe(&from, file, func);
    uint32_t number = bp_keys_put(&functions->keys, &from, sizeof(from));
    if (number < functions->count)
        return number;
    struct bp_live_function *row = BP_APPEND(functions->rows, functions->count);
    row->name = name_of(&from, func->kind);
    row->place = bp_copy_text(bp_base_name(from.module[0] ? from.file : from.path));
    row->kind = func->kind;
    row->category = classify(functions->rules, &from, func);
    return number;
}

void bp_live_functions_begin(struct bp_live_functions *functions) {
    for (uint32_t i = 0; i < functions->count; i++) {
        struct bp_live_function *row = &functions->rows[i];
        row->before_s = row->self_s + row->open_s;
        row->before_calls = row->calls;
        row->open_s = 0;
        row->open = 0;
    }
}

/* A thread that was met between two steps may have less than in the look before: then nothing is
 * known of this interval, and the next one makes up for it. */
void bp_live_functions_end(struct bp_live_functions *functions) {
    for (uint32_t i = 0; i < functions->count; i++) {
        struct bp_live_function *row = &functions->rows[i];
        double s = row->self_s + row->open_s - row->before_s;
        row->interval_s = s > 0 ? s : 0;
        row->interval_calls = row->calls > row->before_calls ? row->calls - row->before_calls : 0;
    }
}

void bp_live_functions_fini(struct bp_live_functions *functions) {
    for (uint32_t i = 0; i < functions->count; i++) {
        free(functions->rows[i].name);
        free(functions->rows[i].place);
    }
    free(functions->rows);
    bp_keys_fini(&functions->keys);
}
