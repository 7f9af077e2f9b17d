/* SPDX-License-Identifier: MIT
 *
 * The checks of `battprof doctor`. Each looks at one thing and fills in a finding; none changes
 * anything that outlives it.
 */
#ifndef BP_TOOLS_COMMAND_DOCTOR_DOCTOR_H
#define BP_TOOLS_COMMAND_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "tools/base/error.h"
#include "tools/base/variables.h"
#include "tools/symbols/elf_probe.h"

enum bp_mark {
    BP_GOOD,   /* ok */
    BP_ABSENT, /* --: not there, and what is missing because of it */
    BP_BAD     /* !!: wrong, with the cure */
};

struct bp_finding {
    enum bp_mark mark;
    struct bp_text text; /* what is there and what works because of it */
    struct bp_text cure; /* how to fix it; empty if there is nothing to fix */
};

typedef void bp_doctor_check(struct bp_finding *finding);

/* host.c */
bp_doctor_check bp_doctor_architecture;
bp_doctor_check bp_doctor_clock;
bp_doctor_check bp_doctor_container;
bp_doctor_check bp_doctor_kernel;
bp_doctor_check bp_doctor_perf_event;
bp_doctor_check bp_doctor_permissions;
bp_doctor_check bp_doctor_ptrace;
bp_doctor_check bp_doctor_sampling;
bp_doctor_check bp_doctor_shadow_stack;

/* glibc.c */
bp_doctor_check bp_doctor_glibc;

/* target.c */
bp_doctor_check bp_doctor_library;
bp_doctor_check bp_doctor_output;
bp_doctor_check bp_doctor_preload;

/* task.c: about a command, and whether the calls of a task's function (as in run --task)
 * will be seen in it. `command` ends with NULL. */
void bp_doctor_program(const struct bp_probe *probe, struct bp_finding *finding);
void bp_doctor_task(const char *rule, const struct bp_probe *probe, char **command,
                    struct bp_finding *finding);

/* task_native.c, or task_unknown.c in a build without libdw: the same for functions of native
 * objects. `where` is a glob of their names, "" for any. */
void bp_doctor_native_task(const char *where, const char *function, const struct bp_probe *probe,
                           struct bp_finding *finding);

/* variable.c: about one of the environment's variables that begin as ours do. */
void bp_doctor_variable(const char *value, const struct bp_variable_match *match,
                        struct bp_finding *finding);

/* runtime.c */
bp_doctor_check bp_doctor_cuda_driver;
bp_doctor_check bp_doctor_cupti;
bp_doctor_check bp_doctor_python;

/* pipe.c: what a command prints on stdout and, if wanted, stderr; its words end with NULL. No shell
 * is between. A new text, NULL if it cannot be run or fails. */
char *bp_doctor_read(const char *const *words, bool errors);

/* attach.c: the words behind `doctor attach`. The exit status. */
int bp_doctor_attach(int count, char **words, struct bp_error *error);

void bp_doctor_print(const char *name, const struct bp_finding *finding);
void bp_finding_set(struct bp_finding *finding, enum bp_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void bp_finding_cure(struct bp_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
