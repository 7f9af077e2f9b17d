/* SPDX-License-Identifier: MIT */
#ifndef BP_TESTS_SPIN_H
#define BP_TESTS_SPIN_H

#define SPINS 8

unsigned spin0(unsigned seed, unsigned rounds);
unsigned spin1(unsigned seed, unsigned rounds);
unsigned spin2(unsigned seed, unsigned rounds);
unsigned spin3(unsigned seed, unsigned rounds);
unsigned spin4(unsigned seed, unsigned rounds);
unsigned spin5(unsigned seed, unsigned rounds);
unsigned spin6(unsigned seed, unsigned rounds);
unsigned spin7(unsigned seed, unsigned rounds);

#endif
