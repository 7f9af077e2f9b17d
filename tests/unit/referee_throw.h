/* SPDX-License-Identifier: MIT
 *
 * Looks at the stack while exceptions are in flight.
 */
#ifndef BP_TESTS_UNIT_REFEREE_THROW_H
#define BP_TESTS_UNIT_REFEREE_THROW_H

#ifdef __cplusplus
extern "C" {
#endif

#define REFEREE_THROW_LOOKS 9

typedef void referee_look(const char *where);

/* Calls it REFEREE_THROW_LOOKS times; 0 if there was no C++ compiler. */
int referee_throw_all(referee_look *look);

#ifdef __cplusplus
}
#endif
#endif
