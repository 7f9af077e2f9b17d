/* SPDX-License-Identifier: MIT
 *
 * Runs once, in the constructor of the first process of a tree: its children write to the directory
 * that it made, or they would not find the wall page. Values come from the environment of a
 * launcher and may be any text: none of them may leave the directory that the pattern names.
 */
#include "interpose/process/place.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "profile/sys.h"

struct output {
    char *text;
    size_t size;
    size_t length;
};

static void add_letter(struct output *output, char letter) {
    if (output->length + 1 < output->size)
        output->text[output->length++] = letter;
}

static void add_value(struct output *output, const char *value) {
    if (!value || !value[0])
        value = "none";
    for (const char *c = value; *c; c++) {
        int plain = *c > ' ' && *c < 0x7f && *c != '/' && *c != '%';
        int leads_up = *c == '.' && c == value;
        add_letter(output, plain && !leads_up ? *c : '_');
    }
}

static void add_number(struct output *output, unsigned number) {
    if (number >= 10)
        add_number(output, number / 10);
    add_letter(output, (char)('0' + number % 10));
}

/* The value of the first variable that has one. */
static const char *first_of(char **environment, const char *const *names) {
    for (; *names; names++) {
        size_t length = strlen(*names);
        for (char **text = environment; text && *text; text++)
            if (strncmp(*text, *names, length) == 0 && (*text)[length] == '=' &&
                (*text)[length + 1])
                return *text + length + 1;
    }
    return NULL;
}

static void add_host(struct output *output) {
    struct utsname names;
    if (BP_SYS1(SYS_uname, &names) == 0)
        add_value(output, names.nodename);
    else
        add_value(output, NULL);
}

void bp_place_expand(char **environment, const char *pattern, char *text, size_t size) {
    /* The nearest one first, as the report reads them (tools/model/role.c). */
    static const char *const ranks[] = {
        "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "RANK",
        "SLURM_PROCID",         NULL};
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID",           "LSB_JOBID",
                                       "JOB_ID",       "TORCHELASTIC_RUN_ID", NULL};
    struct output output = {text, size, 0};
    for (const char *c = pattern; *c; c++) {
        char next = *c == '%' ? c[1] : 0;
        if (next == 'h')
            add_host(&output);
        else if (next == 'r')
            add_value(&output, first_of(environment, ranks));
        else if (next == 'j')
            add_value(&output, first_of(environment, jobs));
        else if (next == 'p')
            add_number(&output, (unsigned)BP_SYS0(SYS_getpid));
        else
            add_letter(&output, *c);
        c += next == 'h' || next == 'r' || next == 'j' || next == 'p' || next == '%';
    }
    text[output.length] = '\0';
}
