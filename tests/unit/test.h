/* SPDX-License-Identifier: MIT
 *
 * A test program is a list of functions without arguments. A failed CHECK prints where and what,
 * and the program goes on; its exit status is 1 if there was any.
 *
 *     static void adds(void) { CHECK_EQUAL(1 + 1, 2); }
 *     int main(void) { RUN(adds); return test_result(); }
 */
#ifndef BP_TESTS_UNIT_TEST_H
#define BP_TESTS_UNIT_TEST_H

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct {
    const char *name;
    int failed;
    int checks;
} test_state;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        test_state.checks++;                                                                       \
        if (!(condition)) {                                                                        \
            test_state.failed++;                                                                   \
            printf("%s:%d: %s: not true: %s\n", __FILE__, __LINE__, test_state.name, #condition);  \
        }                                                                                          \
    } while (0)

#define CHECK_EQUAL(got, want)                                                                     \
    do {                                                                                           \
        long long test_got = (long long)(got), test_want = (long long)(want);                      \
        test_state.checks++;                                                                       \
        if (test_got != test_want) {                                                               \
            test_state.failed++;                                                                   \
            printf("%s:%d: %s: %s is %lld, not %lld\n", __FILE__, __LINE__, test_state.name, #got, \
                   test_got, test_want);                                                           \
        }                                                                                          \
    } while (0)

#define CHECK_NEAR(got, want, tolerance)                                                           \
    do {                                                                                           \
        double test_got = (got), test_want = (want);                                               \
        test_state.checks++;                                                                       \
        if (!(fabs(test_got - test_want) <= (tolerance))) {                                        \
            test_state.failed++;                                                                   \
            printf("%s:%d: %s: %s is %.9g, not %.9g\n", __FILE__, __LINE__, test_state.name, #got, \
                   test_got, test_want);                                                           \
        }                                                                                          \
    } while (0)

#define CHECK_TEXT(got, want)                                                                      \
    do {                                                                                           \
        const char *test_got = (got), *test_want = (want);                                         \
        test_state.checks++;                                                                       \
        if (strcmp(test_got, test_want) != 0) {                                                    \
            test_state.failed++;                                                                   \
            printf("%s:%d: %s: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, test_state.name,   \
                   #got, test_got, test_want);                                                     \
        }                                                                                          \
    } while (0)

#define RUN(function)                                                                              \
    do {                                                                                           \
        test_state.name = #function;                                                               \
        function();                                                                                \
    } while (0)

static inline int test_result(void) {
    printf("%d checks, %d failed\n", test_state.checks, test_state.failed);
    return test_state.failed || !test_state.checks;
}

#endif
