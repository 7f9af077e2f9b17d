/* SPDX-License-Identifier: MIT
 *
 * Functions whose calls take from a nanosecond to a millisecond, in ways that sampling might miss.
 */
#ifndef SHORT_H
#define SHORT_H

/* Rounds of a loop that all functions have spent, and the calls that they counted themselves. */
struct short_sums {
    unsigned long rounds, calls;
};

#define SHORT_FUNCTIONS(X)                                                                         \
    X(empty)                                                                                       \
    X(steady)                                                                                      \
    X(bimodal)                                                                                     \
    X(heavy) X(every16) X(every64) X(outer) X(sort) X(deep) X(milli) X(tiny) X(phases) X(turning)
enum short_function {
#define SHORT_NUMBER(name) SHORT_##name,
    SHORT_FUNCTIONS(SHORT_NUMBER) SHORT_COUNT
};

/* The rounds of the comments below are so many of the loop: two thirds of a nanosecond each, where
 * a multiplication takes three cycles. */
#define SHORT_SCALE 6

extern struct short_sums short_sums[SHORT_COUNT];

void short_empty(void);
void short_steady(void);              /* always 60 rounds */
void short_bimodal(void);             /* 20 or 300, by chance */
void short_heavy(void);               /* 20 to 5,000, most of them short */
void short_every16(void);             /* 10, and 500 in each 16th call */
void short_every64(void);             /* 10, and 2,000 in each 64th */
void short_outer(void);               /* 30, and a call of steady */
void short_sort(int (*compare)(int)); /* 40, and a callback that calls steady */
void short_deep(int depth);           /* 50, and itself */
void short_milli(void);               /* 300,000 */
void short_tiny(void);                /* 3 */
void short_phases(void);              /* 20, 200, in turns of 16,384 calls */
void short_turning(void); /* 20, and in each 3,000th call 8,000: too long to be counted */

#endif
