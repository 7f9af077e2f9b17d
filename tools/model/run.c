/* SPDX-License-Identifier: MIT
 *
 * What the processes of a run say about it together.
 */
#include "tools/model/run.h"

#include <string.h>

#include "tools/model/model.h"

#define LONGEST_AGAIN 900 /* bytes of a command in a hint; the profile cuts one of 1,024 */

/* Share of the wall that is unknown from which on the rest tells nothing. */
#define LOST_PART 0.5

/* A session has quoted its words; what a process knows of its own are words without marks. */
const char *bp_model_whole_command(const struct bp_model *model) {
    bool known =
        model->session_count > 0 || !strpbrk(model->run.command, "\"'\\$`;&|<>()*?[]{}~#!");
    bool whole = strlen(model->run.command) + 1 < sizeof(((struct bp_header *)0)->command);
    return known && whole && model->run.command[0] && !strchr(model->run.command, '\n')
               ? model->run.command
               : "COMMAND";
}

const char *bp_model_again(const struct bp_model *model) {
    const char *command = bp_model_whole_command(model);
    return strlen(command) < LONGEST_AGAIN ? command : "COMMAND";
}

static const struct bp_header *find_lost(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++)
        if (model->processes[i].profile->header.flags & BP_LOST_DISK)
            return &model->processes[i].profile->header;
    return NULL;
}

const struct bp_header *bp_model_lost(const struct bp_model *model) {
    bool unknown =
        model->thread_count == 0 || model->wall.unsplit_s > LOST_PART * model->wall.total_s;
    return unknown ? find_lost(model) : NULL;
}

const char *bp_model_variable(const struct bp_model *model, const char *name) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const char *value = bp_profile_variable(model->processes[i].profile, name);
        if (value[0])
            return value;
    }
    return "";
}
