/* SPDX-License-Identifier: MIT
 *
 * --save: the overview and every table, in one text to keep or to send to someone who has no
 * battprof. It begins with when it was made; everything else depends on the profile alone.
 */
#include <time.h>

#include "tools/render/text/internal.h"

#define ROWS 100

void bp_report_defaults(struct bp_report_settings *settings) {
    *settings = (struct bp_report_settings){.levels = BP_DEFAULT_LEVELS, .least = -1};
}

int bp_report_all(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                  FILE *out) {
    const struct bp_model *model = analysis->model;
    struct bp_report_settings one = *settings;
    time_t now = time(NULL);
    struct tm parts;
    char date[64];
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %Z", localtime_r(&now, &parts));
    fprintf(out, "battprof report of %s, made %s\n", model->run.path, date);
    if (!one.top)
        one.top = ROWS;
    for (one.by = BP_BY_OVERVIEW; one.by < BP_VIEWS; one.by++) {
        if (!bp_view_exists(one.by, model))
            continue;
        fprintf(out, "\n%.80s\n",
                "----------------------------------------"
                "----------------------------------------");
        if (one.by != BP_BY_OVERVIEW)
            fprintf(out, "--by %s\n\n", bp_views[one.by].word);
        bp_report_text(analysis, &one, out);
    }
    return 0;
}
