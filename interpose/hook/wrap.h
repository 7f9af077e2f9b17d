/* SPDX-License-Identifier: MIT
 *
 * A C function of ours in front of one of the C or C++ runtime, or of a source's libraries: slots
 * lead to `wrapper`, which calls the original through *real. *real stays NULL where the target has
 * no such function.
 */
#ifndef BP_INTERPOSE_HOOK_WRAP_H
#define BP_INTERPOSE_HOOK_WRAP_H

struct bp_wrap {
    const char *name;
    void *wrapper;
    void **real;
    int paused; /* what it is there for can wait while recording is paused: slots lead past it */
};

/* clang-format off */
#define BP_WRAP(name) {#name, (void *)wrap_##name, (void **)&real.name, 0}
#define BP_WRAP_UNLESS_PAUSED(name) {#name, (void *)wrap_##name, (void **)&real.name, 1}
/* clang-format on */

#endif
