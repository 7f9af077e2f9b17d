/* SPDX-License-Identifier: MIT
 *
 * Where native functions are written. A profile has their libraries and names alone; the rest is
 * in the debug information of files that are the ones that ran, and is read for those who ask.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/model.h"
#include "tools/symbols/symbols.h"

/* Libraries of all processes by their path, as numbers of the symbols. */
struct libraries {
    struct bp_symbols *symbols;
    struct bp_keys paths;
    uint32_t *files;
};

/* A path may be another file in another process: the first one stands. */
static void add_libraries(struct libraries *libraries, const struct bp_profile *profile) {
    for (uint32_t i = 0; i < profile->object_count; i++) {
        const struct bp_object *object = &profile->objects[i];
        const char *path = bp_profile_string(profile, object->path);
        uint32_t before = libraries->paths.count;
        if (!path[0] || bp_keys_put(&libraries->paths, path, strlen(path)) < before)
            continue;
        struct bp_symbol_file file = {
            .path = path,
            .build_id = object->build_id,
            .build_id_size = object->build_id_size <= sizeof(object->build_id)
                                 ? object->build_id_size
                                 : sizeof(object->build_id),
            .loaded_ns = profile->header.first.realtime_ns,
        };
        *BP_PLACE(libraries->files, before) = bp_symbols_add(libraries->symbols, &file);
    }
}

static void locate(struct bp_model *model, const struct libraries *libraries,
                   struct bp_function *function) {
    uint32_t library = bp_keys_get(&libraries->paths, function->path, strlen(function->path));
    if (library == BP_KEYS_NONE)
        return;
    uint32_t file = libraries->files[library];
    uint64_t address = bp_symbols_address(libraries->symbols, file, function->name);
    uint32_t count = 0;
    const struct bp_symbol *at =
        address ? bp_symbols_frames(libraries->symbols, file, address, &count) : NULL;
    if (!count || !at[count - 1].line)
        return;
    at = &at[count - 1];
    char *path = at->file[0] == '/' || at->directory[0] != '/'
                     ? bp_copy_text(at->file)
                     : bp_plain_path(at->directory, at->file);
    *BP_APPEND(model->texts, model->text_count) = path;
    function->file = path;
    function->line = at->line;
}

void bp_model_locate(struct bp_model *model) {
    if (!model->samples.symbols)
        model->samples.symbols = bp_symbols_new(NULL);
    struct libraries libraries = {.symbols = model->samples.symbols};
    for (uint32_t i = 0; i < model->process_count; i++)
        add_libraries(&libraries, model->processes[i].profile);
    for (uint32_t i = 0; i < model->function_count; i++) {
        struct bp_function *function = &model->functions[i];
        if (!function->file[0] && function->path[0] && function->kind != BP_FUNC_ROOT)
            locate(model, &libraries, function);
    }
    bp_keys_fini(&libraries.paths);
    free(libraries.files);
}
