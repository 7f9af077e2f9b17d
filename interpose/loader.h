/* SPDX-License-Identifier: MIT */
#ifndef BP_INTERPOSE_LOADER_H
#define BP_INTERPOSE_LOADER_H

/* Announce the wrappers of dlopen, dlsym, dlvsym and dlclose. */
void bp_loader_init(void);

/* Keep a hooked object loaded for good. Outside the scan: it calls the dynamic linker. */
void bp_loader_pin(const char *path);

#endif
