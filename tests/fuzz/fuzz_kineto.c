/* SPDX-License-Identifier: MIT
 *
 * One input for the importer of PyTorch's traces: JSON, whole or not. What it makes of it must be a
 * profile that can be reported.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH];
    char output[] = "/dev/shm/fuzz.XXXXXX";
    struct bp_error error = {0};
    struct bp_trace trace;
    int fd = fuzz_file(data, size, path);
    bp_trace_init(&trace);
    int result = bp_import_kineto(&trace, path, &error);
    if (result == 0) {
        close(mkstemp(output));
        result = bp_trace_write(&trace, path, output, &error);
        if (result == 0)
            fuzz_report(output, FUZZ_JSON);
        unlink(output);
    }
    if (result && !bp_error_is_set(&error))
        abort();
    bp_error_fini(&error);
    bp_trace_fini(&trace);
    close(fd);
    return 0;
}
