/* SPDX-License-Identifier: MIT
 *
 * Whose code a function is, by where its file lies: part of tools/model/model.h, which includes it.
 * The user's own are the script, cells of a notebook, Python files that are not installed, the
 * program and what lies beside it or below the folders that the run was started in. A folder of
 * packages or of the system is a library wherever it lies.
 */
#ifndef BP_TOOLS_MODEL_OWNER_OWNER_H
#define BP_TOOLS_MODEL_OWNER_OWNER_H

#include <stdbool.h>
#include <stdint.h>

enum bp_owner {
    BP_OWNER_UNKNOWN, /* nothing tells: code that was not sampled, or a trace without files */
    BP_OWNER_USER,
    BP_OWNER_LIBRARY, /* installed packages, libraries and programs of the system */
    BP_OWNER_STANDARD /* Python's standard library, the interpreter, libc */
};

struct bp_function;
struct bp_model;

/* Could a function be the user's, by where its file lies? Known before owners are set. */
bool bp_owner_may_be_user(const struct bp_function *function);
/* Sets the owner of all functions. */
void bp_model_find_owners(struct bp_model *model);

#endif
