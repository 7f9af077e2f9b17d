/* SPDX-License-Identifier: MIT
 *
 * A small DSL whose functions cost different things: arithmetic, memory, many tiny calls.
 */
#pragma once

/* How much turn() and fold() have to do, in per cent of the usual. */
void twice_set(int turn, int fold);

unsigned turn(unsigned seed);
unsigned fold(unsigned seed);
unsigned paint(unsigned seed);
unsigned walk(unsigned seed);
unsigned tiny(unsigned seed);
unsigned count(unsigned seed);
unsigned mirror(unsigned seed);
unsigned solve(unsigned seed);
