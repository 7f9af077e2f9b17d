// SPDX-License-Identifier: MIT
//
// See leaf.h. LEAVE comes before the last statement where the function does not return from it.
#define COUNT_LIBRARY "libdslleaf.so"
#define COUNT_FIRST 160
#include "leaf.h"
#include "count.h"
#include "work.h"

enum { PLAIN, DIRECT, HELPER, DEEP, THROW, TAIL, WRAP, CATCH, CALL, BUSY };

static const int levels = 40;

void leaf_plain(int) {
    ENTER(PLAIN);
    LEAVE(PLAIN);
}

void leaf_direct(int asked) {
    ENTER(DIRECT);
    if (asked)
        work_add(asked, 1);
    LEAVE(DIRECT);
}

__attribute__((noinline)) static int help(int asked) {
    return work_add(asked, 2) + work_sub(asked, 2);
}

void leaf_helper(int asked) {
    ENTER(HELPER);
    if (asked)
        help(asked);
    LEAVE(HELPER);
}

__attribute__((noinline)) static int descend(int level, int asked) {
    volatile char room[64] = {(char)level};
    int got = level ? descend(level - 1, asked) : work_add(asked, 3);
    return got + room[0];
}

void leaf_deep(int asked) {
    ENTER(DEEP);
    if (asked)
        descend(levels, asked);
    LEAVE(DEEP);
}

void leaf_throw(int asked) {
    ENTER(THROW);
    if (asked)
        throw asked;
    LEAVE(THROW);
}

void leaf_tail(int asked) {
    ENTER(TAIL);
    LEAVE(TAIL);
    if (asked)
        work_empty();
}

void leaf_wrap(int asked) {
    ENTER(WRAP);
    LEAVE(WRAP);
    leaf_plain(asked);
}

void leaf_catch(int from, int to, int when) {
    ENTER(CATCH);
    for (int i = from; i < to; i++) {
        try {
            leaf_throw(i == when);
        } catch (int) {
        }
    }
    LEAVE(CATCH);
}

void leaf_call(leaf_callback *f, void *arg) {
    ENTER(CALL);
    if (f)
        f(arg);
    LEAVE(CALL);
}

void leaf_busy(double seconds) {
    ENTER(BUSY);
    if (seconds > 0)
        spin_until(now_s() + seconds);
    LEAVE(BUSY);
}
