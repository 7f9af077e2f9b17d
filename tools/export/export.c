/* SPDX-License-Identifier: MIT */
#include "tools/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/utf8.h"
#include "tools/export/frame.h"
#include "tools/export/gzip.h"

const struct bp_export_kind bp_export_kinds[] = {
#define FORMAT(name, ending, carries, loses) {#name, ending, carries, loses},
#include "tools/export/formats.def"
#undef FORMAT
};

static const char *const rests[] = {"[idle]",    "[start]",  "[paused]",   "[overhead]",
                                    "[unsplit]", "[copies]", "(truncated)"};

void bp_export_init(struct bp_export *export, const struct bp_model *model) {
    *export = (struct bp_export){.model = model};
    export->frames = bp_alloc(bp_export_frame_count(model), sizeof(*export->frames));
    for (uint32_t i = 0; i < model->function_count; i++)
        export->frames[i] = bp_utf8_text(bp_function_frame(&model->functions[i]));
    for (uint32_t i = 0; i < BP_RESTS; i++)
        export->frames[model->function_count + i] = bp_copy_text(rests[i]);
}

void bp_export_fini(struct bp_export *export) {
    for (uint32_t i = 0; i < bp_export_frame_count(export->model); i++)
        free(export->frames[i]);
    free(export->frames);
}

bool bp_export_is_empty(const struct bp_model *model) {
    return model->thread_count == 0;
}

/* A writer of the format, behind gzip where its files are. */
static int write_packed(const struct bp_export *export, enum bp_export_format format, FILE *out,
                        int (*write)(const struct bp_export *, FILE *)) {
    const char *ending = bp_export_kinds[format].ending;
    size_t length = strlen(ending);
    if (strcmp(ending + length - 2, "gz") != 0)
        return write(export, out);
    FILE *packed = bp_gzip_open(out);
    if (!packed)
        return -1;
    int result = write(export, packed);
    return fclose(packed) ? -1 : result;
}

int bp_export_write(const struct bp_export *export, enum bp_export_format format, FILE *out) {
    static int (*const writers[])(const struct bp_export *, FILE *) = {
        [BP_EXPORT_pprof] = bp_export_pprof,
        [BP_EXPORT_speedscope] = bp_export_speedscope,
        [BP_EXPORT_perfetto] = bp_export_perfetto,
        [BP_EXPORT_callgrind] = bp_export_callgrind,
        [BP_EXPORT_firefox] = bp_export_firefox,
        [BP_EXPORT_folded] = bp_export_folded,
        [BP_EXPORT_openmetrics] = bp_export_openmetrics,
        [BP_EXPORT_tables] = NULL, /* a directory: tables.h */
    };
    return write_packed(export, format, out, writers[format]);
}
