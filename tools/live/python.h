/* SPDX-License-Identifier: MIT
 *
 * Python frames of a thread of another process, read from its memory as the kernel shows it to
 * those who may trace it. The thread is stopped, or waits in a system call: else its frames change
 * while they are read. CPython 3.8 to 3.15 with a GIL.
 */
#ifndef BP_TOOLS_LIVE_PYTHON_H
#define BP_TOOLS_LIVE_PYTHON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bp_layout;
struct bp_python_places;

struct bp_python {
    pid_t pid;
    uint64_t runtime; /* address of _PyRuntime; 0: the process has no Python, or `problem` */
    const struct bp_layout *layout;
    const struct bp_python_places *places;
    const char *problem; /* why the frames of its Python cannot be read; NULL */
};

struct bp_python_frame {
    char text[640]; /* "Grid.solve (/home/me/grid.py:12)" */
    bool entry;     /* C code called the interpreter for this one */
};

/* A file that the process has mapped, `base` as in its symbols: is it the interpreter? */
void bp_python_look(struct bp_python *python, const char *path, uint64_t base);

/* The pointer of a thread that lies on its stack, which is all of a mapping; 0: it has none of a
 * Python thread. The main thread's is elsewhere. */
uint64_t bp_python_pointer(const struct bp_python *python, uint64_t low, uint64_t high);

/* Innermost first; how many there are. `pointer` is the thread's own (fs_base); 0: unknown. */
uint32_t bp_python_read(const struct bp_python *python, pid_t tid, uint64_t pointer,
                        struct bp_python_frame *frames, uint32_t most);

#endif
