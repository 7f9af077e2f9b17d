/* SPDX-License-Identifier: MIT */
#ifndef BP_TESTS_FOREIGN_WORK_H
#define BP_TESTS_FOREIGN_WORK_H

unsigned work_mix(unsigned seed);
unsigned work_check(unsigned seed);

#endif
