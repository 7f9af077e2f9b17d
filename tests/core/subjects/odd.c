/* SPDX-License-Identifier: MIT
 *
 * See odd.h. The two versions count as odd_version_1 and odd_version_2: the case compares them
 * with the two rows that the report has for one name.
 */
#define COUNT_LIBRARY "libdslodd.so"
#define COUNT_FIRST 32
#include "count.h"
#include "odd.h"

enum { IFUNC, REAL, VERSION_1, VERSION_2, PROTECTED };

static int ifunc_plain(int x) {
    count_enter(IFUNC, "odd_ifunc");
    count_leave(IFUNC);
    return x * 2;
}

static int ifunc_never(int x) {
    return -x;
}

static int (*resolve_ifunc(void))(int) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse2") ? ifunc_plain : ifunc_never;
}

int odd_ifunc(int x) __attribute__((ifunc("resolve_ifunc")));

int odd_real(int x) {
    ENTER(REAL);
    LEAVE(REAL);
    return x + 3;
}

int odd_alias(int x) __attribute__((weak, alias("odd_real")));

int odd_version_old(int x);
int odd_version_new(int x);
__asm__(".symver odd_version_old, odd_version@V1");
__asm__(".symver odd_version_new, odd_version@@V2");

int odd_version_old(int x) {
    count_enter(VERSION_1, "odd_version_1");
    count_leave(VERSION_1);
    return x + 100;
}

int odd_version_new(int x) {
    count_enter(VERSION_2, "odd_version_2");
    count_leave(VERSION_2);
    return x + 200;
}

__attribute__((visibility("protected"))) int odd_protected(int x) {
    ENTER(PROTECTED);
    LEAVE(PROTECTED);
    return x ^ 5;
}

static int hook(int x) {
    return x + 1;
}
int (*odd_hook)(int) = hook;
