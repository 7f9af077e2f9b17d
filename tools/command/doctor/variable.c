/* SPDX-License-Identifier: MIT
 *
 * What is set for battprof in the environment: it holds for `run` and for LD_PRELOAD, and a name
 * with a slip in it has no effect.
 */
#include "tools/command/doctor/doctor.h"

void bp_doctor_variable(const char *value, const struct bp_variable_match *match,
                        struct bp_finding *finding) {
    const struct bp_variable_row *row = match->row;
    if (!row) {
        bp_finding_set(finding, BP_BAD, "is set, but battprof has no such variable");
        if (match->nearest)
            bp_finding_cure(finding, "did you mean %s?", match->nearest);
        return;
    }
    bp_finding_set(finding, BP_GOOD, "'%s' (%s%s%s)", value, row->sentence,
                   row->usual ? "; default " : "", row->usual ? row->usual : "");
}
