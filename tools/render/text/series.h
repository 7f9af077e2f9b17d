/* SPDX-License-Identifier: MIT
 *
 * The report of a series of runs of one command.
 */
#ifndef BP_TOOLS_RENDER_TEXT_SERIES_H
#define BP_TOOLS_RENDER_TEXT_SERIES_H

#include <stdio.h>

#include "tools/base/runs.h"
#include "tools/render/report.h"

/* As text, CSV or JSON, as the settings say. 0, or -1 with the error set. */
int bp_report_series(const struct bp_runs *runs, const char *path,
                     const struct bp_report_settings *settings, const struct bp_rules *rules,
                     FILE *out, struct bp_error *error);

#endif
