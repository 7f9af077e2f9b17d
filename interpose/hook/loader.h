/* SPDX-License-Identifier: MIT
 *
 * dlopen, dlsym and dlclose, wrapped: what they bring is hooked before anybody calls it.
 */
#ifndef BP_INTERPOSE_HOOK_LOADER_H
#define BP_INTERPOSE_HOOK_LOADER_H

/* Announce the wrappers of dlopen, dlsym, dlvsym and dlclose. `opened` is called when a dlopen has
 * succeeded and its objects are hooked, with no lock held. */
void bp_loader_init(void (*opened)(void));

#endif
