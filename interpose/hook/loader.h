/* SPDX-License-Identifier: MIT */
#ifndef BP_INTERPOSE_HOOK_LOADER_H
#define BP_INTERPOSE_HOOK_LOADER_H

/* Announce the wrappers of dlopen, dlsym, dlvsym and dlclose. `opened` is called when a dlopen has
 * succeeded and its objects are hooked, with no lock held. */
void bp_loader_init(void (*opened)(void));

#endif
