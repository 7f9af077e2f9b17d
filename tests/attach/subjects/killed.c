/* SPDX-License-Identifier: MIT
 *
 * Preloaded into the command: it is killed when a thread is on loan and waits for its settings.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/uio.h>

ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long here_count,
                          const struct iovec *there, unsigned long there_count,
                          unsigned long flags) {
    (void)pid, (void)here, (void)here_count, (void)there, (void)there_count, (void)flags;
    raise(SIGKILL);
    return -1;
}
