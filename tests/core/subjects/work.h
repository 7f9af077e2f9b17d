/* SPDX-License-Identifier: MIT
 *
 * libdslwork.so: the hooked library of nearly every subject. Its calls to its own exports go
 * through the PLT. libplainwork.so is the same source under a name that is not hooked by default.
 */
#ifndef E2E_WORK_H
#define E2E_WORK_H

#include <setjmp.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int work_binary(int, int);
typedef void work_callback(void *);

int work_add(int a, int b);
int work_sub(int a, int b);
void work_empty(void);
int work_compare(const void *a, const void *b); /* of ints, for qsort */
work_binary *work_address(void);                /* &work_add as the library sees it */
void work_call(work_callback *f, void *arg);    /* calls back */
void work_nest(int depth, work_callback *f, void *arg);
void work_chain(int depth, work_callback *f, void *arg); /* each jumps to the next, then to f */
long work_depth(long levels);                            /* recursion through the PLT */
int work_even(long n);
int work_odd(long n);
int work_tail(int a, int b); /* jumps to work_add */
void work_longjmp(jmp_buf where, int value);
void work_errno(int value);
long work_block(int fd);        /* read of one byte */
void work_busy(double seconds); /* of wall time, running */
void work_sleep(double seconds);
void work_forever(void);

static inline double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void spin_until(double end) {
    while (now_s() < end)
        for (volatile int i = 0; i < 500; i++)
            ;
}

#ifdef __cplusplus
}
#endif
#endif
