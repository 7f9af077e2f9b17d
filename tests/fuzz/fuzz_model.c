/* SPDX-License-Identifier: MIT
 *
 * One input for the model and its reports: a profile. With FUZZ_ONE in the environment each input
 * is shown in one way, which its contents choose: more inputs in the same time.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static unsigned choose(const uint8_t *data, size_t size) {
    uint32_t sum = 0;
    if (!getenv("FUZZ_ONE"))
        return FUZZ_ALL;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    return 1u << (sum >> 8) % FUZZ_BITS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path);
    fuzz_report(path, choose(data, size));
    close(fd);
    return 0;
}
