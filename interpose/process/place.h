/* SPDX-License-Identifier: MIT
 *
 * BATTPROF_DIR may name a directory for each rank: %h is the host, %r the rank, %p the process, %j
 * the job, %% a percent sign.
 */
#ifndef BP_INTERPOSE_PROCESS_PLACE_H
#define BP_INTERPOSE_PROCESS_PLACE_H

#include <stddef.h>

/* What is unknown is "none". Letters that would name another directory become '_'. */
void bp_place_expand(char **environment, const char *pattern, char *text, size_t size);

#endif
