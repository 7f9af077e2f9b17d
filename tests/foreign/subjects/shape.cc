/* SPDX-License-Identifier: MIT
 *
 * The library of a C++ program: names with a class and arguments.
 */
#include "tests/foreign/subjects/shape.h"

namespace shape {

double Path::length(const std::vector<double> &turns) const {
    double sum = scale_;
    for (int i = 0; i < 400; i++)
        for (double turn : turns)
            sum = sum * 0.999 + turn;
    return sum;
}

} // namespace shape
