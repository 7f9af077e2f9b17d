/* SPDX-License-Identifier: MIT
 *
 * Python functions in the ledger. CPython is recognised by its exports, in the executable or in a
 * library; nothing is switched on in it before a chosen module is imported.
 */
#ifndef BP_INTERPOSE_PYTHON_PYTHON_H
#define BP_INTERPOSE_PYTHON_PYTHON_H

#include <stdint.h>

/* Settings: BATTPROF_DSL, BATTPROF_PYTHON and BATTPROF_PYTHON_ALL, NULL where they are not set.
 * `found` is called once, when CPython is there, with the place of its _PyRuntime, which its GIL is
 * in. */
void bp_python_init(const char *dsl, const char *globs, const char *all,
                    void (*found)(uint64_t low, uint64_t size));

/* Recording stops or starts, with bp_pause_lock held; also in a handler. What needs the GIL is
 * left: of a stop to the functions themselves, of a start to bp_python_catch_up. */
void bp_python_switch(int paused);

/* What a start has left, now if the calling thread holds the GIL, else soon. Not in a handler. */
void bp_python_catch_up(void);

/* In a handler that interrupted `pc`. */
void bp_python_tick(uint64_t pc);

/* Objects were loaded: see whether CPython is among them. Cheap once it is found. */
void bp_python_look(void);

#endif
