/* SPDX-License-Identifier: MIT
 *
 * The rules of a run, as the report chooses them: a file that is given now, else the text that the
 * session kept; and the patterns of the DSL that the processes were started with.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/live/look.h"

#define LONGEST 65536 /* bytes of a rules file */

/* The value of a variable in a file: a new text, "" without. */
static char *variable_of(const struct bp_live_file *file, const char *wanted) {
    char name[64];
    char *value = bp_alloc(1, LONGEST);
    uint32_t count;
    for (uint32_t i = 0; i < file->chunk_count; i++) {
        const struct bp_live_chunk *chunk = &file->chunks[i];
        if (chunk->kind != BP_VARIABLES)
            continue;
        const char *items = bp_live_file_items(file, chunk, sizeof(struct bp_variable), &count);
        for (uint32_t n = 0; items && n < count; n++) {
            const struct bp_variable *variable =
                (const void *)(items + (size_t)n * chunk->item_size);
            bp_live_file_text(file, variable->name, name, sizeof(name));
            if (strcmp(name, wanted) == 0)
                bp_live_file_text(file, variable->value, value, LONGEST);
        }
    }
    return value;
}

void bp_look_choose_rules(struct bp_look *look) {
    struct bp_error error = {0};
    struct bp_rules *kept = NULL;
    if (look->rules || !look->process_count)
        return;
    if (look->has_session && !bp_rules_is_given(look->given)) {
        char *text = variable_of(&look->session, BP_RULES_VARIABLE);
        kept = text[0] ? bp_rules_parse(text, "rules of the run", &error) : NULL;
        bp_error_fini(&error);
        free(text);
    }
    char *dsl = variable_of(&look->processes[0]->file, "BATTPROF_DSL");
    look->rules = bp_rules_join(kept ? kept : look->given, dsl);
    look->functions.rules = look->rules;
    bp_rules_free(kept);
    free(dsl);
}
