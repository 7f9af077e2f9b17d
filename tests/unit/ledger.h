/* SPDX-License-Identifier: MIT
 *
 * A ledger in a test: a profile that has no name any more, and the time stamp counter.
 */
#ifndef BP_TESTS_UNIT_LEDGER_H
#define BP_TESTS_UNIT_LEDGER_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/ledger/thread.h"

static inline void begin_ledger(void) {
    char path[] = "/tmp/battprof-test-ledger-XXXXXX";
    int fd = mkstemp(path);
    close(fd);
    unlink(path);
    memset(&bp_process, 0, sizeof bp_process);
    if (bp_writer_create(&bp_process.writer, path))
        abort();
    unlink(path);
    bp_process.clock = BP_CLOCK_TSC;
    bp_process.pid = getpid();
    bp_process.on = 1;
}

#endif
