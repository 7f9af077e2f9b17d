/* SPDX-License-Identifier: MIT
 *
 * Stands for task_native.c in a build without libelf, which reads the symbols of a program.
 */
#include "tools/command/doctor/doctor.h"

void bp_doctor_native_task(const char *where, const char *function, const struct bp_probe *probe,
                           struct bp_finding *finding) {
    (void)where;
    (void)probe;
    bp_finding_set(finding, BP_ABSENT,
                   "unknown whether calls of %s will be seen: this battprof is built without libdw",
                   function);
}
