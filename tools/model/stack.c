/* SPDX-License-Identifier: MIT
 *
 * From the frames of a profile to functions of the model. A native function that is hooked, too, is
 * the same function: library and name are.
 */
#include "tools/model/stack.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/symbols/symbols.h"

#define GENERATOR "<genexpr>"

/* Libraries that do what they are told: their time is their caller's. */
static const char *const runtime[] = {
    "libc.so*",     "libm.so*",     "libpthread*",  "libdl.so*", "librt.so*",
    "ld-linux*",    "ld-*.so",      "libstdc++*",   "libgcc_s*", "linux-vdso*",
    "[vdso]",       "libc++*",      "libasan*",     "libtsan*",  "libubsan*",
    "libbattprof*", "libjemalloc*", "libtcmalloc*", "libffi*",
};
static const char *const interpreters[] = {"python3*", "libpython3*", "pypy3*", "_ctypes*",
                                           "_cffi_backend*"};

static bool is_among(const char *const *globs, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (fnmatch(globs[i], name, 0) == 0)
            return true;
    return false;
}

enum bp_code bp_stack_code(const char *library) {
    if (is_among(runtime, sizeof(runtime) / sizeof(runtime[0]), library))
        return BP_CODE_RUNTIME;
    if (is_among(interpreters, sizeof(interpreters) / sizeof(interpreters[0]), library))
        return BP_CODE_INTERPRETER;
    return BP_CODE_PROGRAM;
}

/* Unloaded objects come last: their addresses may be another one's now. */
static int compare_objects(const void *a, const void *b, void *data) {
    const struct bp_object *x = &((const struct bp_object *)data)[*(const uint32_t *)a];
    const struct bp_object *y = &((const struct bp_object *)data)[*(const uint32_t *)b];
    bool x_gone = x->flags & BP_OBJECT_GONE;
    bool y_gone = y->flags & BP_OBJECT_GONE;
    if (x_gone != y_gone)
        return x_gone ? 1 : -1;
    return x->low < y->low ? -1 : x->low > y->low;
}

void bp_stack_reader_init(struct bp_stack_reader *reader, struct bp_model *model,
                          uint32_t process) {
    const struct bp_profile *profile = model->processes[process].profile;
    *reader = (struct bp_stack_reader){.model = model, .process = process};
    reader->map = model->processes[process].functions;
    reader->objects = bp_alloc(profile->object_count, sizeof(*reader->objects));
    for (uint32_t i = 0; i < profile->object_count; i++)
        reader->objects[i] = i;
    if (profile->object_count)
        qsort_r(reader->objects, profile->object_count, sizeof(*reader->objects), compare_objects,
                profile->objects);
    if (!model->samples.symbols)
        model->samples.symbols = bp_symbols_new(NULL);
}

void bp_stack_reader_fini(struct bp_stack_reader *reader) {
    free(reader->objects);
    bp_keys_fini(&reader->addresses);
    free(reader->known);
}

/* Objects are some dozens. */
uint32_t bp_stack_object(const struct bp_stack_reader *reader, uint64_t address) {
    const struct bp_profile *profile = reader->model->processes[reader->process].profile;
    for (uint32_t i = 0; i < profile->object_count; i++) {
        const struct bp_object *object = &profile->objects[reader->objects[i]];
        if (address >= object->low && address < object->high)
            return reader->objects[i];
    }
    return BP_NO_OBJECT;
}

static const char *object_path(const struct bp_profile *profile, uint32_t object) {
    const char *path = bp_profile_string(profile, profile->objects[object].path);
    return path[0] ? path : bp_profile_string(profile, profile->objects[object].soname);
}

uint32_t bp_stack_file(const struct bp_stack_reader *reader, uint32_t number) {
    const struct bp_profile *profile = reader->model->processes[reader->process].profile;
    const struct bp_object *object = &profile->objects[number];
    struct bp_symbol_file file = {
        .path = object_path(profile, number),
        .build_id = object->build_id,
        .build_id_size = object->build_id_size <= sizeof(object->build_id)
                             ? object->build_id_size
                             : sizeof(object->build_id),
        .loaded_ns = profile->header.first.realtime_ns,
    };
    uint32_t symbols = bp_symbols_add(reader->model->samples.symbols, &file);
    bp_keys_put(&reader->model->samples.files, &symbols, sizeof(symbols));
    return symbols;
}

/* Code that belongs to no file was made by the program itself. */
static const char *generated_name(const struct bp_stack_reader *reader, uint64_t address) {
    const struct bp_profile *profile = reader->model->processes[reader->process].profile;
    const char *name =
        bp_symbols_generated(reader->model->samples.symbols, profile->header.pid, address);
    return name[0] ? name : "(generated code)";
}

static struct bp_stack_frame name_frame(struct bp_stack_reader *reader, uint64_t address) {
    const struct bp_profile *profile = reader->model->processes[reader->process].profile;
    uint32_t object = bp_stack_object(reader, address);
    struct bp_function function = {.module = "", .file = "", .path = "", .kind = BP_FUNC_CALL};
    if (object == BP_NO_OBJECT) {
        function.library = "";
        function.name = generated_name(reader, address);
    } else {
        function.path = object_path(profile, object);
        function.library = bp_base_name(function.path);
        function.name =
            bp_symbols_label(reader->model->samples.symbols, bp_stack_file(reader, object),
                             address - profile->objects[object].base);
    }
    if (bp_stack_code(function.library) == BP_CODE_INTERPRETER && strstr(function.name, "+0x"))
        function.name = "(interpreter)"; /* stripped: its addresses tell nobody anything */
    enum bp_code code = strcmp(function.name, BP_SYMBOL_JUMP) == 0
                            ? BP_CODE_RUNTIME
                            : bp_stack_code(function.library);
    return (struct bp_stack_frame){bp_model_put_function(reader->model, &function, 0), code, false};
}

/* Threads of a process have most of their frames in common. */
static struct bp_stack_frame native_frame(struct bp_stack_reader *reader,
                                          const struct bp_frame *frame) {
    uint64_t address = bp_stack_address(frame);
    uint32_t before = reader->addresses.count;
    uint32_t number = bp_keys_put(&reader->addresses, &address, sizeof(address));
    if (number == before) {
        struct bp_stack_frame named = name_frame(reader, address);
        *BP_PLACE(reader->known, number) = named;
    }
    return reader->known[number];
}

static struct bp_stack_frame read_frame(struct bp_stack_reader *reader,
                                        const struct bp_frame *frame) {
    switch (frame->kind) {
    case BP_FRAME_NATIVE:
        return native_frame(reader, frame);
    case BP_FRAME_PYTHON:
        return (struct bp_stack_frame){reader->map[frame->func], BP_CODE_PYTHON, false};
    case BP_FRAME_LEDGER:
        return (struct bp_stack_frame){BP_NO_FUNCTION, BP_CODE_LEDGER, false};
    default:
        return (struct bp_stack_frame){BP_NO_FUNCTION, BP_CODE_UNKNOWN, false};
    }
}

static bool is_expression(const struct bp_function *function) {
    size_t length = strlen(function->name), end = strlen(GENERATOR);
    return length >= end && strcmp(function->name + length - end, GENERATOR) == 0;
}

/* A step of a generator expression is a part of the Python function that asked for it, if that is
 * in the same file: where that one's calls are counted it is so, too. An expression whose own calls
 * are counted (--python-all) is a function like others. */
static void join_consumer(const struct bp_stack_reader *reader,
                          const struct bp_profile_thread *thread, struct bp_stack_frame *frames,
                          uint32_t number) {
    const struct bp_function *functions = reader->model->functions;
    const struct bp_function *expression = &functions[frames[number].function];
    uint32_t i = thread->frames[number].parent;
    while (i != BP_NO_FRAME && thread->frames[i].kind == BP_FRAME_NATIVE)
        i = thread->frames[i].parent;
    if (expression->calls || i == BP_NO_FRAME || frames[i].code != BP_CODE_PYTHON ||
        strcmp(functions[frames[i].function].file, expression->file) != 0)
        return;
    frames[number].function = frames[i].function;
    frames[number].step = true;
}

struct bp_stack_frame *bp_stack_frames(struct bp_stack_reader *reader,
                                       const struct bp_profile_thread *thread) {
    struct bp_stack_frame *frames = bp_alloc(thread->frame_count, sizeof(*frames));
    for (uint32_t i = 0; i < thread->frame_count; i++) { /* parents come before */
        frames[i] = read_frame(reader, &thread->frames[i]);
        if (frames[i].code == BP_CODE_PYTHON &&
            is_expression(&reader->model->functions[frames[i].function]))
            join_consumer(reader, thread, frames, i);
    }
    return frames;
}
