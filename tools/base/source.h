/* SPDX-License-Identifier: MIT
 *
 * Source text for reports. A file is shown as far as it is what ran: a regular file that is still
 * where the interpreter or the line table says, and was not changed since the run began. Else there
 * is no text: a wrong line is worse than a number.
 */
#ifndef BP_TOOLS_BASE_SOURCE_H
#define BP_TOOLS_BASE_SOURCE_H

#include <stdint.h>

struct bp_sources;

/* `began_ns`: when the run began, CLOCK_REALTIME; 0 if unknown: then any file is taken. */
struct bp_sources *bp_sources_new(uint64_t began_ns);
void bp_sources_free(struct bp_sources *sources);

/* One line without the spaces around it, borrowed; NULL if it cannot be shown. `directory` is where
 * a relative file name begins; "" is the current directory. */
const char *bp_sources_line(struct bp_sources *sources, const char *directory, const char *file,
                            uint32_t line);

/* Spaces before it, a tab is one; 0 if it cannot be shown. */
uint32_t bp_sources_indent(struct bp_sources *sources, const char *directory, const char *file,
                           uint32_t line);

#endif
