/* SPDX-License-Identifier: MIT
 *
 * Between the parts of the advice on transfers: one row of them, and what is known of its copies.
 */
#ifndef BP_TOOLS_ADVISE_TRANSFER_H
#define BP_TOOLS_ADVISE_TRANSFER_H

#include "tools/advise.h"

struct bp_finding {
    struct bp_model *model;
    const struct bp_model_transfer *transfer;
    const char *caller; /* who causes it, for people */
    double rate;        /* of a second that a thread was in a copy: what it is of the wall */
};

extern const char *const bp_direction_words[]; /* by enum bp_direction, after a verb */

/* Takes the texts. */
void bp_finding_advise(const struct bp_finding *finding, double saves_s, uint64_t bytes, char *what,
                       char *why);

/* Bytes per second of the device's best copy. */
double bp_finding_best_rate(const struct bp_finding *finding);

/* Device time of the copies that are not small, and their part of the wall. */
double bp_finding_large_s(const struct bp_model_transfer *transfer);
double bp_finding_exposed_s(const struct bp_finding *finding);

/* What CUDA itself takes for a copy's call, of small copies where there are any, beside copying and
 * waiting for kernels; and what of such time is of the wall. */
double bp_finding_call_s(const struct bp_finding *finding);
double bp_finding_call_rate(const struct bp_finding *finding);

bool bp_finding_is_pageable(const struct bp_model_transfer *transfer);

/* Another row has large copies the same way, of that kind of memory. */
bool bp_finding_is_alike(const struct bp_finding *finding, const struct bp_model_transfer *other,
                         bool pageable);

/* Part of the wall from which on an experiment is worth its trouble. */
#define BP_WORTH_TRYING 0.05

/* One sort of finding each. */
void bp_finding_small_copies(const struct bp_finding *finding);
void bp_finding_small_calls(const struct bp_finding *finding); /* of copies without records */
void bp_finding_synchronous_copies(const struct bp_finding *finding);

#endif
