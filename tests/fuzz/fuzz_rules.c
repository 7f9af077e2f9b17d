/* SPDX-License-Identifier: MIT
 *
 * One input for the rules that a user writes: JSON. What is accepted is applied.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/rules/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH];
    const char *group;
    struct bp_error error = {0};
    struct bp_rule_subject subject = {"libdsl.so", "objects", "dsl", "/work/dsl.py",
                                      0,           0,         NULL,  false};
    int fd = fuzz_file(data, size, path);
    struct bp_rules *rules = bp_rules_new(path, &error);
    if (!rules && !bp_error_is_set(&error))
        abort();
    bp_error_fini(&error);
    if (rules && (bp_rules_apply(rules, &subject, &group) >= BP_CATEGORIES || !group[0] ||
                  !bp_rules_tasks(rules)))
        abort();
    bp_rules_free(rules);
    close(fd);
    return 0;
}
