/* SPDX-License-Identifier: MIT
 *
 * A library in C++ whose time is in a function that nobody exports.
 */
namespace {

template <typename Number> __attribute__((noinline)) Number spin(Number rounds) {
    volatile Number sum = 0;
    for (Number i = 0; i < rounds; i++)
        sum = sum + i % 7;
    return sum;
}

} /* namespace */

namespace dsl {

unsigned long turn(unsigned long rounds) {
    return spin<unsigned long>(rounds) + 1;
}

} /* namespace dsl */
