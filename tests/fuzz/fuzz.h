/* SPDX-License-Identifier: MIT */
#ifndef BP_TESTS_FUZZ_FUZZ_H
#define BP_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_PATH 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file without a name that holds the input: its descriptor, and a path to open it by. */
int fuzz_file(const uint8_t *data, size_t size, char path[FUZZ_PATH]);

/* What to make of a profile: a bit each for JSON, texts, lines, forecasts and CSV; then the same
 * without tasks that stand out, and a comparison with itself. */
#define FUZZ_JSON 0x1u
#define FUZZ_VIEWS 0x1fu
#define FUZZ_WITHOUT 0x20u
#define FUZZ_DIFF 0x40u
#define FUZZ_ALL 0x7fu
#define FUZZ_BITS 7

/* Those reports of what is at `path`; stops the process where the model fails without an error. */
void fuzz_report(const char *path, unsigned wanted);

#endif
