/* SPDX-License-Identifier: MIT */
namespace dsl {
unsigned long turn(unsigned long rounds);
}

int main() {
    for (int i = 0; i < 20; i++)
        if (dsl::turn(20000000) == 0)
            return 1;
    return 0;
}
