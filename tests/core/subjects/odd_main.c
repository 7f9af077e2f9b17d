/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

#include "odd.h"

__asm__(".symver odd_version_v1, odd_version@V1");

static int (*const pointers[])(int) = {odd_ifunc, odd_alias, odd_real};

int main(void) {
    int sum = 0;
    for (int i = 0; i < 20; i++)
        sum += odd_ifunc(i);
    printf("ifunc %d\n", sum);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++)
            sum += pointers[i](k);
    printf("pointers %d same %d\n", sum, pointers[1] == pointers[2]);
    for (int i = 0; i < 30; i++)
        sum += odd_alias(i) + odd_real(i);
    printf("alias %d\n", sum);
    for (int i = 0; i < 7; i++)
        sum += odd_version_v1(i);
    for (int i = 0; i < 11; i++)
        sum += odd_version(i);
    printf("versions %d\n", sum);
    int (*old)(int) = (int (*)(int))dlvsym(RTLD_DEFAULT, "odd_version", "V1");
    int (*new)(int) = (int (*)(int))dlvsym(RTLD_DEFAULT, "odd_version", "V2");
    int (*plain)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "odd_version");
    printf("dlvsym %d %d %d\n", old(1), new (1), plain(1));
    printf("protected %d hook %d\n", odd_protected(9), odd_hook(9));
    return 0;
}
