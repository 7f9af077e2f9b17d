/* SPDX-License-Identifier: MIT */
#ifndef BP_INTERPOSE_LOADER_H
#define BP_INTERPOSE_LOADER_H

/* Announce the wrappers of dlopen, dlsym, dlvsym and dlclose. */
void bp_loader_init(void);

#endif
