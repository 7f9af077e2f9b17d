/* SPDX-License-Identifier: MIT
 *
 * --save: the overview and every table, in one text to keep or to send to someone who has no
 * battprof. It begins with when it was made; everything else depends on the profile alone.
 */
#include <string.h>
#include <time.h>

#include "tools/report_internal.h"

#define ROWS 100

static bool has_rows(const struct bp_model *model, const char *by) {
    if (strcmp(by, "transfer") == 0)
        return model->transfer_count > 0;
    if (strcmp(by, "kernel") == 0)
        return model->kernel_count > 0;
    if (strcmp(by, "process") == 0)
        return model->process_count > 1;
    return strcmp(by, "thread") != 0 || model->thread_count > 1;
}

void bp_report_defaults(struct bp_report_settings *settings) {
    *settings = (struct bp_report_settings){
        .by = BP_OVERVIEW,
        .levels = BP_DEFAULT_LEVELS,
    };
}

int bp_report_all(const struct bp_model *model, const struct bp_report_settings *settings,
                  FILE *out) {
    static const char *const tables[] = {BP_OVERVIEW, "function", "task",  "phase",   "candidate",
                                         "transfer",  "kernel",   "group", "process", "thread"};
    struct bp_report_settings one = *settings;
    time_t now = time(NULL);
    struct tm parts;
    char date[64];
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %Z", localtime_r(&now, &parts));
    fprintf(out, "battprof report of %s, made %s\n", model->path, date);
    if (!one.top)
        one.top = ROWS;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        one.by = tables[i];
        if (!has_rows(model, one.by))
            continue;
        fprintf(out, "\n%.80s\n",
                "----------------------------------------"
                "----------------------------------------");
        if (i > 0)
            fprintf(out, "--by %s\n\n", one.by);
        bp_report_text(model, &one, out);
    }
    return 0;
}
