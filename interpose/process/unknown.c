/* SPDX-License-Identifier: MIT
 *
 * All that the library is on a machine whose CPU interpose/arch does not know.
 */
#include "interpose/base/log.h"

__attribute__((constructor)) static void construct(void) {
    bp_log_init();
    bp_log("this machine is not x86-64: the program runs unprofiled");
}
