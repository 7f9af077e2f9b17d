/* SPDX-License-Identifier: MIT
 *
 * A model in the formats of other programs: formats.def has a row for each, and each has a file of
 * its name. All formats name functions, weigh rows and fill up the wall in the same way: frame.h.
 */
#ifndef BP_TOOLS_EXPORT_EXPORT_H
#define BP_TOOLS_EXPORT_EXPORT_H

#include <stdio.h>

#include <jansson.h>

#include "tools/model/model.h"

enum bp_export_format {
#define FORMAT(name, ...) BP_EXPORT_##name,
#include "tools/export/formats.def"
#undef FORMAT
    BP_EXPORT_FORMATS
};

struct bp_export_kind {
    const char *name;
    const char *ending;  /* of its files, without the dot */
    const char *carries; /* words for people */
    const char *loses;
};

extern const struct bp_export_kind bp_export_kinds[BP_EXPORT_FORMATS];

/* What a row of a stack weighs. */
enum bp_weight {
    BP_WEIGHT_WALL,   /* nanoseconds; all rows sum to the wall of the run */
    BP_WEIGHT_THREAD, /* nanoseconds; to the lifetimes of the threads */
    BP_WEIGHT_CPU,    /* nanoseconds of sampled stacks; nothing else has it */
    BP_WEIGHT_CALLS,
    BP_WEIGHT_BYTES, /* copied between host and device */
    BP_WEIGHTS
};

extern const char *const bp_weight_names[BP_WEIGHTS];

struct bp_export {
    const struct bp_model *model;
    char **frames;         /* names, UTF-8: of the model's functions, then enum bp_rest_frame */
    enum bp_weight weight; /* folded */
    bool by_task;          /* pprof */
};

void bp_export_init(struct bp_export *export, const struct bp_model *model);
void bp_export_fini(struct bp_export *export);

/* All but the tables. 0, or -1 with errno. Without a row the file is empty, and valid. */
int bp_export_write(const struct bp_export *export, enum bp_export_format format, FILE *out);

/* Nothing was measured: there is no thread. */
bool bp_export_is_empty(const struct bp_model *model);

int bp_export_pprof(const struct bp_export *export, FILE *out);
int bp_export_speedscope(const struct bp_export *export, FILE *out);
int bp_export_perfetto(const struct bp_export *export, FILE *out);
int bp_export_callgrind(const struct bp_export *export, FILE *out);
int bp_export_firefox(const struct bp_export *export, FILE *out);
int bp_export_folded(const struct bp_export *export, FILE *out);
int bp_export_openmetrics(const struct bp_export *export, FILE *out);

#endif
