/* SPDX-License-Identifier: MIT
 *
 * Which part of a larger run the process is, as those who start many processes say it: in variables
 * of the environment. They are copied into the profile as they are; reports make ranks of them.
 * What was asked to be measured, and on which simulated device, is told the same way.
 */
#include "interpose/variables.h"

#include <string.h>

#include "interpose/thread.h"

static const char *const wanted[] = {
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
    "BATTPROF_PYTHON",
    "BATTPROF_TASKS",
    "BATTPROF_COUNT",
    "BATTPROF_SIM",
};

static int is_wanted(const char *text, size_t length) {
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strlen(wanted[i]) == length && strncmp(text, wanted[i], length) == 0)
            return 1;
    return 0;
}

static void note(const char *text, size_t length) {
    char name[32] = "";
    uint32_t index;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_writer *writer = &bp_process.writer;
    uint32_t value = bp_writer_string(writer, text + length + 1);
    uint32_t key = bp_writer_string(writer, strncat(name, text, length));
    struct bp_variable *variable = bp_writer_item(writer, BP_VARIABLES, &index);
    if (variable) {
        *variable = (struct bp_variable){key, value};
        bp_writer_commit(writer, BP_VARIABLES);
    }
    bp_unlock(&bp_process.lock, mask);
}

void bp_variables_note(char **environment) {
    for (; environment && *environment; environment++) {
        size_t length = strcspn(*environment, "=");
        if ((*environment)[length] && length < 32 && is_wanted(*environment, length))
            note(*environment, length);
    }
}
