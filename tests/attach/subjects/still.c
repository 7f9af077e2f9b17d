/* SPDX-License-Identifier: MIT
 *
 * Waits to be killed. Linked statically, or behind a seccomp filter: `still seccomp`.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = 1, .filter = &allow};
    if (argc > 1 && strcmp(argv[1], "seccomp") == 0 &&
        (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)))
        return 1;
    if (write(1, "ready\n", 6) != 6)
        return 1;
    for (;;)
        pause();
}
