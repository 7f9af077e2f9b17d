/* SPDX-License-Identifier: MIT
 *
 * What all formats share. Rows of stacks are those of tools/model/walk.h, and for what no function
 * had, rows of one frame: with them the wall sums to the wall. Frames are numbers, functions of the
 * model and behind them enum bp_rest_frame.
 */
#ifndef BP_TOOLS_EXPORT_FRAME_H
#define BP_TOOLS_EXPORT_FRAME_H

#include "tools/export/export.h"
#include "tools/model/walk.h"

/* Seconds that sums of the wall may miss by rounding alone. */
#define BP_EXPORT_ROUNDING_S 1e-6

enum bp_rest_frame {
    BP_REST_IDLE,     /* [idle]: no thread was busy, and whose wait it was is unknown */
    BP_REST_START,    /* [start]: there was no thread */
    BP_REST_PAUSED,   /* [paused]: recording was paused */
    BP_REST_OVERHEAD, /* [overhead]: the profiler's own */
    BP_REST_UNSPLIT,  /* [unsplit]: what the parts do not explain */
    BP_REST_COPIES,   /* [copies]: bytes whose call was not seen, of device records alone */
    BP_REST_CUT,      /* (truncated): callers of a sampled stack that are unknown */
    BP_RESTS
};

static inline uint32_t bp_export_frame_count(const struct bp_model *model) {
    return model->function_count + BP_RESTS;
}

/* The frame of a row's function. */
static inline uint32_t bp_export_frame(const struct bp_model *model, uint32_t function) {
    return function == BP_NO_FUNCTION ? model->function_count + BP_REST_CUT : function;
}

/* NULL for a frame that is no function of the model. */
static inline const struct bp_function *bp_export_function(const struct bp_model *model,
                                                           uint32_t frame) {
    return frame < model->function_count ? &model->functions[frame] : NULL;
}

/* The path of its library, or at least the name; "" for what is no function. */
const char *bp_export_library(const struct bp_model *model, uint32_t frame);
/* Where it is: a source file, or the library. */
const char *bp_export_file(const struct bp_model *model, uint32_t frame);
uint32_t bp_export_line(const struct bp_model *model, uint32_t frame);

/* The category of a part of a frame's row, as in `categories` of the JSON report; what is paused is
 * beside them. */
const char *bp_export_category(const struct bp_model *model, uint32_t frame,
                               enum bp_category category);
/* Parts of the row by category, which sum to 1. */
void bp_export_shares(const struct bp_model *model, const struct bp_walk_row *row,
                      double shares[BP_CATEGORIES]);

/* Exact contexts of a thread, or of all threads and then the rest; never parts. */
void bp_export_contexts(const struct bp_model *model, uint32_t thread, bp_walk_visit *visit,
                        void *data);
/* The rest alone. */
void bp_export_rest(const struct bp_model *model, bp_walk_visit *visit, void *data);

/* The weight of a row itself, without what is below it. */
uint64_t bp_export_weigh(const struct bp_walk_row *row, enum bp_weight weight);

uint64_t bp_export_ns(double s);

/* As a string of JSON, with its quotes. The text is UTF-8. */
void bp_export_json_text(const char *text, FILE *out);

/* "battprof 1.2: every context …; it loses …", as a comment in the file: a new text. */
char *bp_export_comment(enum bp_export_format format);

#endif
