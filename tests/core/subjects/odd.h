/* SPDX-License-Identifier: MIT
 *
 * libdslodd.so: symbols of the less usual kinds.
 */
#ifndef E2E_ODD_H
#define E2E_ODD_H

int odd_ifunc(int x); /* STT_GNU_IFUNC */
int odd_real(int x);
int odd_alias(int x);        /* weak alias of odd_real: one address, two names */
int odd_version(int x);      /* odd_version@@V2 is this; odd_version@V1 differs */
int odd_version_v1(int x);   /* for a program's own .symver */
int odd_protected(int x);    /* STV_PROTECTED */
extern int (*odd_hook)(int); /* data, not a function: must not be touched */

#endif
