/* SPDX-License-Identifier: MIT
 *
 * The objects of the process and their slots. A scan finds objects that came or went, decides what
 * of them is hooked, and points every slot that leads to a hooked function to its stub, also in
 * RELRO pages, which are read-only again afterwards.
 */
#ifndef BP_INTERPOSE_HOOK_OBJECT_H
#define BP_INTERPOSE_HOOK_OBJECT_H

#include "interpose/hook/elf.h"

/* Find what came and went, and patch what is new. An object that another thread's dlopen is still
 * relocating must not be touched: `opened` is the dynamic section of the object whose dlopen has
 * just returned, which with all it needs is complete; `opening` counts the calls of dlopen under
 * way, and if there are none all objects are. Both NULL at the start. */
void bp_object_scan(const void *opened, const int *opening);

/* Have `came` called for each new object, and `went` for one that was unloaded, by the address that
 * it began at: with the hook lock held. Before the first scan. */
void bp_object_watch(void (*came)(const struct bp_elf *elf), void (*went)(uint64_t low));

/* Find what went. */
void bp_object_scan_closed(void);

/* Call `pin` once for every hooked object that came late, with no lock held. */
void bp_object_pin(void (*pin)(const char *path));

/* Around a call of dlclose: 1 and -1. */
void bp_object_closing(int change);

/* Leads the slots of all objects past our stubs, while recording is paused, or to them again. 0 if
 * an object is just being unloaded: then nothing is done. */
int bp_object_switch(int paused);

/* The object that holds an address; 0 if there is none. */
int bp_object_at(uint64_t address, struct bp_elf *elf);

/* The default version of a function, wherever in the C or C++ runtime it is. */
void *bp_object_runtime_function(const char *name);

#endif
