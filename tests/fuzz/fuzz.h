/* SPDX-License-Identifier: MIT */
#ifndef BP_TESTS_FUZZ_FUZZ_H
#define BP_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
