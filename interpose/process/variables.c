/* SPDX-License-Identifier: MIT
 *
 * See variables.h. Which part of a larger run the process is, is what those say who start many
 * processes: in variables of the environment, which the profile keeps as they are; reports make
 * ranks of them. Runs before libc's constructors: memory and strings only.
 */
#include "interpose/process/variables.h"

#include <string.h>

#include "interpose/base/put.h"
#include "interpose/ledger/fact.h"

#define PREFIX "BATTPROF"
#define LONGEST_NAME 32

enum kind { SETTING, PATTERN, PROCESS, COMMAND, DEVICE, MODEL };

#define VARIABLE(name, kind, usual, sentence) {#name, kind, usual},
static const struct {
    const char *name;
    enum kind kind;
    const char *usual;
} known[] = {
#include "interpose/process/variables.def"
};

static struct {
    const char *values[BP_VARIABLE_NAMES]; /* in `text`, one behind the other; NULL: unset */
    char unknown[LONGEST_NAME];
    size_t used;
    char text[BP_VARIABLE_NAMES * BP_LONGEST_VARIABLE];
} state;

static const char *const ranks[] = {
    /* MPI: Open MPI, MPICH and Intel MPI, PMIx, MVAPICH */
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "PMIX_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_SIZE",
    "MV2_COMM_WORLD_LOCAL_RANK",
    /* Slurm */
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_NTASKS",
    "SLURM_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
    /* torchrun */
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "WORLD_SIZE",
    "TORCHELASTIC_RUN_ID",
};

/* Asked 2,000 times at each start. */
static int is_name(const char *name, const char *text, size_t length) {
    return *name == *text && strncmp(text, name, length) == 0 && name[length] == '\0';
}

static const char *keep(const char *value) {
    char *kept = state.text + state.used;
    state.used += bp_put_text(kept, BP_LONGEST_VARIABLE, 0, value) + 1;
    return kept;
}

/* BP_VARIABLE_NAMES if it is none of ours. */
static unsigned find(const char *text, size_t length) {
    unsigned i = 0;
    while (i < BP_VARIABLE_NAMES && !is_name(known[i].name, text, length))
        i++;
    return i;
}

void bp_variables_read(char **environment) {
    for (; environment && *environment; environment++) {
        const char *text = *environment;
        size_t length = strcspn(text, "="), prefix = sizeof PREFIX - 1;
        if (strncmp(text, PREFIX, prefix) != 0 || !strchr("=_", text[prefix]) || !text[length])
            continue;
        unsigned i = find(text, length);
        if (i == BP_VARIABLE_NAMES)
            bp_put_part(state.unknown, sizeof state.unknown, 0, text, length);
        else if (!state.values[i] && text[length + 1])
            state.values[i] = keep(text + length + 1);
    }
}

const char *bp_variable_get(enum bp_variable_name name) {
    return state.values[name] ? state.values[name] : known[name].usual;
}

const char *bp_variables_inherited(unsigned *at, const char **value) {
    for (; *at < BP_VARIABLE_NAMES; ++*at)
        if (known[*at].kind <= PATTERN && state.values[*at]) {
            *value = state.values[*at];
            return known[(*at)++].name;
        }
    return NULL;
}

const char *bp_variables_unknown(void) {
    return state.unknown[0] ? state.unknown : NULL;
}

static int is_noted(const char *text, size_t length) {
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (is_name(ranks[i], text, length))
            return 1;
    unsigned ours = find(text, length);
    return ours < BP_VARIABLE_NAMES && (known[ours].kind == PATTERN || known[ours].kind == DEVICE);
}

static void note(const char *text, size_t length) {
    char name[LONGEST_NAME] = "";
    bp_fact_keep(strncat(name, text, length), text + length + 1);
}

void bp_variables_note(char **environment) {
    for (; environment && *environment; environment++) {
        size_t length = strcspn(*environment, "=");
        if ((*environment)[length] && length < LONGEST_NAME && is_noted(*environment, length))
            note(*environment, length);
    }
}
