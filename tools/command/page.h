/* SPDX-License-Identifier: MIT
 *
 * The page of a run, for report and run: here the reports that it holds are rendered.
 */
#ifndef BP_TOOLS_COMMAND_PAGE_H
#define BP_TOOLS_COMMAND_PAGE_H

#include "tools/render/report.h"

/* settings->html is the file, "-" is stdout; `old` is what the run is compared with, or NULL. 0, or
 * -1 with the error set. */
int bp_page_write(const char *path, const char *old, const struct bp_report_settings *settings,
                  struct bp_error *error);

/* The JSON report within a page, on `out`. */
int bp_page_read(const char *path, const struct bp_report_settings *settings,
                 struct bp_error *error);

#endif
