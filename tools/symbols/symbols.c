/* SPDX-License-Identifier: MIT
 *
 * What was asked for once is kept: files by path and build id, frames by address, perf maps by
 * process. Nothing is fetched from the network: a report must not wait for a debuginfod server.
 */
#include "tools/symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/symbols/internal.h"

struct frames {
    struct bp_symbol *list;
    uint32_t count;
};

struct map {
    struct bp_symbol_table table;
    char *texts;
};

struct bp_symbols {
    struct bp_keys file_table;
    struct bp_symbol_image *files;
    struct bp_keys frame_table; /* by file and address */
    struct frames *frames;
    struct bp_keys label_table; /* by file and beginning of the function */
    char **labels;
    struct bp_keys map_table; /* by pid */
    struct map *maps;
    char *debug_path;
};

struct bp_symbols *bp_symbols_new(const char *debug_path) {
    struct bp_symbols *symbols = bp_alloc(1, sizeof(*symbols));
    unsetenv("DEBUGINFOD_URLS");
    symbols->debug_path = debug_path ? bp_copy_text(debug_path) : NULL;
    return symbols;
}

bool bp_symbol_is_vdso(const char *path) {
    return strncmp(path, "linux-vdso", 10) == 0 || strcmp(path, "[vdso]") == 0;
}

static void frames_free(struct frames *frames) {
    for (uint32_t i = 0; i < frames->count; i++)
        free((char *)frames->list[i].function);
    free(frames->list);
}

void bp_symbols_free(struct bp_symbols *symbols) {
    if (!symbols)
        return;
    for (uint32_t i = 0; i < symbols->frame_table.count; i++)
        frames_free(&symbols->frames[i]);
    for (uint32_t i = 0; i < symbols->file_table.count; i++) {
        bp_keys_fini(&symbols->files[i].names);
        free(symbols->files[i].addresses);
        bp_symbol_image_fini(&symbols->files[i]);
    }
    for (uint32_t i = 0; i < symbols->label_table.count; i++)
        free(symbols->labels[i]);
    for (uint32_t i = 0; i < symbols->map_table.count; i++) {
        bp_symbol_table_fini(&symbols->maps[i].table);
        free(symbols->maps[i].texts);
    }
    bp_keys_fini(&symbols->frame_table);
    bp_keys_fini(&symbols->file_table);
    bp_keys_fini(&symbols->label_table);
    bp_keys_fini(&symbols->map_table);
    free(symbols->frames);
    free(symbols->files);
    free(symbols->labels);
    free(symbols->maps);
    free(symbols->debug_path);
    free(symbols);
}

uint32_t bp_symbols_add(struct bp_symbols *symbols, const struct bp_symbol_file *file) {
    struct bp_text key = {0};
    uint32_t size =
        file->build_id_size < BP_SYMBOL_BUILD_ID ? file->build_id_size : BP_SYMBOL_BUILD_ID;
    for (uint32_t i = 0; i < size; i++)
        bp_text_add(&key, "%02x", file->build_id[i]);
    bp_text_add(&key, ":%s", file->path);
    uint32_t before = symbols->file_table.count;
    uint32_t number = bp_keys_put(&symbols->file_table, key.data, key.length);
    bp_text_fini(&key);
    if (number < before)
        return number;
    struct bp_symbol_image *fresh = BP_PLACE(symbols->files, number);
    fresh->path = bp_copy_text(file->path);
    fresh->loaded_ns = file->loaded_ns;
    fresh->build_id_size = size;
    if (size)
        memcpy(fresh->build_id, file->build_id, size);
    return number;
}

static struct bp_symbol_image *open_file(struct bp_symbols *symbols, uint32_t number) {
    bp_symbol_image_open(&symbols->files[number], &symbols->debug_path);
    return &symbols->files[number];
}

static const char *range_name(struct bp_symbol_range *range) {
    if (!range)
        return "";
    if (!range->name)
        range->name = bp_symbol_name(range->raw);
    return range->name;
}

const char *bp_symbols_function(struct bp_symbols *symbols, uint32_t file, uint64_t address) {
    return range_name(bp_symbol_table_find(&open_file(symbols, file)->table, address));
}

const char *bp_symbols_label(struct bp_symbols *symbols, uint32_t file, uint64_t address) {
    const char *name = bp_symbols_function(symbols, file, address);
    if (name[0])
        return name;
    const struct bp_symbol_image *image = &symbols->files[file];
    uint64_t key[2] = {file, bp_symbol_start(image->module, address)};
    uint32_t before = symbols->label_table.count;
    uint32_t number = bp_keys_put(&symbols->label_table, key, sizeof(key));
    if (number < before)
        return symbols->labels[number];
    char **label = BP_PLACE(symbols->labels, number);
    return *label = bp_make_text(
               "%s+0x%llx", bp_symbol_is_vdso(image->path) ? "[vdso]" : bp_base_name(image->path),
               (unsigned long long)key[1]);
}

/* The symbol table's name stands for the outermost one: it is the one of other rows. */
static void make_frames(struct bp_symbols *symbols, uint32_t number, uint64_t address,
                        struct frames *frames) {
    struct bp_symbol_image *file = open_file(symbols, number);
    const char *name = bp_symbols_function(symbols, number, address);
    if (file->module)
        frames->count = bp_symbol_dwarf(file->module, address, &frames->list);
    if (frames->count == 0) {
        frames->list = bp_alloc(1, sizeof(*frames->list));
        frames->list[frames->count++] = (struct bp_symbol){bp_copy_text(name), "", 0, ""};
    } else if (name[0]) {
        struct bp_symbol *last = &frames->list[frames->count - 1];
        free((char *)last->function);
        last->function = bp_copy_text(name);
    }
}

const struct bp_symbol *bp_symbols_frames(struct bp_symbols *symbols, uint32_t file,
                                          uint64_t address, uint32_t *count) {
    uint64_t key[2] = {file, address};
    uint32_t before = symbols->frame_table.count;
    uint32_t number = bp_keys_put(&symbols->frame_table, key, sizeof(key));
    if (number == before) {
        struct frames *fresh = BP_PLACE(symbols->frames, number);
        make_frames(symbols, file, address, fresh);
    }
    *count = symbols->frames[number].count;
    return symbols->frames[number].list;
}

/* A name that several functions have, as static ones do, has no address: unknown is which. */
static void index_names(struct bp_symbol_image *image) {
    image->indexed = true;
    if (!image->module || !bp_symbol_has_lines(image->module))
        return;
    for (uint32_t i = 0; i < image->table.count; i++) {
        struct bp_symbol_range *range = &image->table.ranges[i];
        const char *name = range_name(range);
        uint32_t before = image->names.count;
        uint32_t number = bp_keys_put(&image->names, name, strlen(name));
        if (number == before)
            *BP_PLACE(image->addresses, number) = range->start;
        else if (image->addresses[number] != range->start)
            image->addresses[number] = 0;
    }
}

uint64_t bp_symbols_address(struct bp_symbols *symbols, uint32_t file, const char *name) {
    struct bp_symbol_image *image = open_file(symbols, file);
    if (!image->indexed)
        index_names(image);
    uint32_t number = bp_keys_get(&image->names, name, strlen(name));
    return number == BP_KEYS_NONE ? 0 : image->addresses[number];
}

uint32_t bp_symbols_count(const struct bp_symbols *symbols) {
    return symbols->file_table.count;
}

const char *bp_symbols_problem(struct bp_symbols *symbols, uint32_t file) {
    return bp_text_get(&symbols->files[file].problem);
}

const char *bp_symbols_generated(struct bp_symbols *symbols, int pid, uint64_t address) {
    uint32_t before = symbols->map_table.count;
    uint32_t number = bp_keys_put(&symbols->map_table, &pid, sizeof(pid));
    if (number == before) {
        struct map *fresh = BP_PLACE(symbols->maps, number);
        bp_symbol_map_load(&fresh->table, &fresh->texts, pid);
    }
    struct bp_symbol_range *range = bp_symbol_table_find(&symbols->maps[number].table, address);
    return range ? range->raw : "";
}
