/* SPDX-License-Identifier: MIT
 *
 * Runs the rules of advise/ and note/ on a finished model and owns what they find.
 */
#include "tools/analyze/analysis.h"

#include <stdarg.h>
#include <stdlib.h>

#include "tools/analyze/advise/advise.h"
#include "tools/analyze/note/note.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"

void bp_analysis_note(struct bp_analysis *analysis, const char *format, ...) {
    struct bp_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    bp_text_add_list(&text, format, arguments);
    va_end(arguments);
    *BP_APPEND(analysis->notes, analysis->note_count) = bp_text_take(&text);
}

void bp_analysis_init(struct bp_analysis *analysis, const struct bp_model *model) {
    *analysis = (struct bp_analysis){.model = model};
    bp_advise_all(analysis);
    bp_notes_make(analysis);
}

void bp_analysis_fini(struct bp_analysis *analysis) {
    for (uint32_t i = 0; i < analysis->note_count; i++)
        free(analysis->notes[i]);
    free(analysis->notes);
    for (uint32_t i = 0; i < analysis->advice_count; i++) {
        free(analysis->advice[i].what);
        free(analysis->advice[i].why);
    }
    free(analysis->advice);
}
