/* SPDX-License-Identifier: MIT
 *
 * Between the parts of the advice on transfers: one row of them, and what is known of its copies.
 */
#ifndef BP_TOOLS_ANALYZE_ADVISE_TRANSFER_H
#define BP_TOOLS_ANALYZE_ADVISE_TRANSFER_H

#include "tools/analyze/advise/advise.h"

struct bp_copies {
    struct bp_analysis *analysis;
    const struct bp_model *model;
    const struct bp_model_transfer *transfer;
    const char *caller; /* who causes it, for people */
    double rate;        /* of a second that a thread was in a copy: what it is of the wall */
};

extern const char *const bp_direction_words[]; /* by enum bp_direction, after a verb */

/* Takes the texts. */
void bp_copies_advise(const struct bp_copies *copies, double saves_s, uint64_t bytes, char *what,
                      char *why);

/* Bytes per second of the device's best copy. */
double bp_copies_best_rate(const struct bp_copies *copies);

/* Device time of the copies that are not small, and their part of the wall. */
double bp_copies_large_s(const struct bp_model_transfer *transfer);
double bp_copies_exposed_s(const struct bp_copies *copies);

/* What CUDA itself takes for a copy's call, of small copies where there are any, beside copying and
 * waiting for kernels; and what of such time is of the wall. */
double bp_copies_call_s(const struct bp_copies *copies);
double bp_copies_call_rate(const struct bp_copies *copies);

bool bp_copies_is_pageable(const struct bp_model_transfer *transfer);

/* Another row has large copies the same way, of that kind of memory. */
bool bp_copies_is_alike(const struct bp_copies *copies, const struct bp_model_transfer *other,
                        bool pageable);

/* Part of the wall from which on an experiment is worth its trouble. */
#define BP_WORTH_TRYING 0.05

/* One sort of copies each. */
void bp_copies_small(const struct bp_copies *copies);
void bp_copies_small_calls(const struct bp_copies *copies); /* of copies without records */
void bp_copies_stalled(const struct bp_copies *copies);
void bp_copies_synchronous(const struct bp_copies *copies);

#endif
