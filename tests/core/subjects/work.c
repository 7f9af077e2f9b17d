/* SPDX-License-Identifier: MIT
 *
 * See work.h. LEAVE comes before the last statement where the function does not return from it.
 */
#ifndef COUNT_LIBRARY
#    define COUNT_LIBRARY "libdslwork.so"
#    define COUNT_FIRST 0
#endif
#include "count.h"
#include "work.h"

#include <errno.h>

/* gcc calls a function that calls itself directly; under another name it goes through the PLT. */
void nest_again(int depth, work_callback *f, void *arg) __asm__("work_nest");
void chain_again(int depth, work_callback *f, void *arg) __asm__("work_chain");
long depth_again(long levels) __asm__("work_depth");

enum {
    ADD,
    SUB,
    EMPTY,
    COMPARE,
    ADDRESS,
    CALL,
    NEST,
    DEPTH,
    EVEN,
    ODD,
    TAIL,
    JUMP,
    ERRNO,
    BLOCK,
    BUSY,
    SLEEP,
    FOREVER,
    CHAIN
};

int work_add(int a, int b) {
    ENTER(ADD);
    LEAVE(ADD);
    return a + b;
}

int work_sub(int a, int b) {
    ENTER(SUB);
    LEAVE(SUB);
    return a - b;
}

void work_empty(void) {
    ENTER(EMPTY);
    LEAVE(EMPTY);
}

int work_compare(const void *a, const void *b) {
    ENTER(COMPARE);
    int x = *(const int *)a, y = *(const int *)b;
    LEAVE(COMPARE);
    return (x > y) - (x < y);
}

work_binary *work_address(void) {
    ENTER(ADDRESS);
    LEAVE(ADDRESS);
    return work_add;
}

void work_call(work_callback *f, void *arg) {
    ENTER(CALL);
    f(arg);
    LEAVE(CALL);
}

void work_nest(int depth, work_callback *f, void *arg) {
    ENTER(NEST);
    if (depth > 1)
        nest_again(depth - 1, f, arg);
    else
        f(arg);
    LEAVE(NEST);
}

void work_chain(int depth, work_callback *f, void *arg) {
    ENTER(CHAIN);
    LEAVE(CHAIN);
    if (depth > 1)
        chain_again(depth - 1, f, arg);
    else
        f(arg);
}

long work_depth(long levels) {
    ENTER(DEPTH);
    long below = levels > 1 ? depth_again(levels - 1) : 0;
    LEAVE(DEPTH);
    return below + 1;
}

int work_even(long n) {
    ENTER(EVEN);
    int yes = n == 0 ? 1 : work_odd(n - 1);
    LEAVE(EVEN);
    return yes;
}

int work_odd(long n) {
    ENTER(ODD);
    int yes = n == 0 ? 0 : work_even(n - 1);
    LEAVE(ODD);
    return yes;
}

int work_tail(int a, int b) {
    ENTER(TAIL);
    LEAVE(TAIL);
    return work_add(a + 1, b);
}

void work_longjmp(jmp_buf where, int value) {
    ENTER(JUMP);
    longjmp(where, value);
}

void work_errno(int value) {
    ENTER(ERRNO);
    LEAVE(ERRNO);
    errno = value;
}

long work_block(int fd) {
    char c;
    ENTER(BLOCK);
    long got = read(fd, &c, 1);
    LEAVE(BLOCK);
    return got;
}

void work_busy(double seconds) {
    ENTER(BUSY);
    spin_until(now_s() + seconds);
    LEAVE(BUSY);
}

void work_sleep(double seconds) {
    ENTER(SLEEP);
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
    LEAVE(SLEEP);
}

void work_forever(void) {
    ENTER(FOREVER);
    for (volatile int i = 0;; i++)
        ;
}
