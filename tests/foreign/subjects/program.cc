/* SPDX-License-Identifier: MIT */
#include <cstdio>

#include "tests/foreign/subjects/shape.h"

int main() {
    std::vector<double> turns(8000, 0.25);
    double sum = 0;
    for (int i = 0; i < 120; i++)
        sum += shape::Path(i).length(turns);
    std::printf("%g\n", sum);
    return 0;
}
