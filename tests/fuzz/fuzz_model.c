/* SPDX-License-Identifier: MIT
 *
 * One input for everything behind the reader: the model and its reports must stand any file
 * that the reader lets pass, and no number in it may overflow a conversion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/report.h"

static void show(const struct bp_model *model) {
    static FILE *nowhere;
    struct bp_report_settings settings;
    bp_report_defaults(&settings);
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    bp_report_all(model, &settings, nowhere);
    bp_report_tree(model, &settings, nowhere);
    bp_report_folded(model, nowhere);
    if (bp_report_json(model, &settings, nowhere))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    struct bp_error error = {0};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct bp_rules *rules = bp_rules_new(NULL, &error);
    struct bp_model *model = bp_model_new(path, rules, &error);
    if (model)
        show(model);
    else if (!bp_error_is_set(&error))
        abort();
    bp_model_free(model);
    bp_rules_free(rules);
    close(fd);
    return 0;
}
