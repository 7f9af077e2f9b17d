/* SPDX-License-Identifier: MIT */
#ifndef CAUSES_NATIVE_H
#define CAUSES_NATIVE_H

/* A picture of `rows` lines of text; both return a number that depends on all of it. */
long shift(char *picture, int rows, int by);
long tally(const char *picture, int rows);

#endif
