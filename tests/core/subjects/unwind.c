/* SPDX-License-Identifier: MIT
 *
 * The named frames of backtrace(3) and _Unwind_Backtrace below nested hooked calls. Frames of the
 * profiler itself are left out of the output; all others must be there, in the same order.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#include "work.h"

void show(void *arg);
void from_handler(int sig);
void raiser(void *arg);
int middle(void);

static void name_frame(void *address) {
    Dl_info info;
    if (!dladdr(address, &info) || strstr(info.dli_fname, "libbattprof"))
        return;
    const char *file = strrchr(info.dli_fname, '/');
    printf("  %s %s\n", file ? file + 1 : info.dli_fname, info.dli_sname ? info.dli_sname : "?");
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg) {
    ++*(int *)arg;
    name_frame((void *)(_Unwind_GetIP(context) - 1));
    return _URC_NO_REASON;
}

void show(void *arg) {
    void *frames[64];
    int count = backtrace(frames, 64), steps = 0;
    printf("backtrace %s\n", (const char *)arg);
    for (int i = 0; i < count; i++)
        name_frame((char *)frames[i] - 1);
    printf("_Unwind_Backtrace\n");
    _Unwind_Backtrace(step, &steps);
    printf("main reached %d\n", steps > 3);
}

void from_handler(int sig) {
    (void)sig;
    work_call(show, "from a handler");
}

void raiser(void *arg) {
    raise(*(int *)arg);
}

int middle(void) {
    int sig = SIGUSR1;
    work_nest(3, show, "nested");
    for (int depth = 1; depth <= 12; depth++) /* many stubs in one place of the stack */
        work_chain(depth, show, "chained");
    signal(SIGUSR1, from_handler);
    work_nest(2, raiser, &sig);
    return 0;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    show("plain");
    int sum = middle();
    printf("end %d\n", sum);
    return 0;
}
