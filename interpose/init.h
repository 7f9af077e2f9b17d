/* SPDX-License-Identifier: MIT */
#ifndef BP_INTERPOSE_INIT_H
#define BP_INTERPOSE_INIT_H

/* The value that an environment variable of ours had at start; NULL if unset or empty. */
const char *bp_config_variable(const char *name);

#endif
