/* SPDX-License-Identifier: MIT */
#include "tools/analyze/again.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/terminal/hint.h"
#include "tools/base/text.h"

/* What the profile keeps of how it was made, and the option that says it. */
static const struct {
    const char *variable;
    const char *option;
    const char *prefix; /* of its value */
} kept[] = {
    {"BATTPROF_DSL", "dsl", ""},        {"BATTPROF_PYTHON", "python", ""},
    {"BATTPROF_COUNT", "count", ""},    {"BATTPROF_LINES", "lines", ""},
    {"BATTPROF_SIM", "device", "sim:"},
};

/* An option for each value between commas, unless it is among the new ones already. */
static void add_option(struct bp_text *text, const char *option, const char *prefix,
                       const char *values, const char *others) {
    while (*values) {
        size_t length = strcspn(values, ",");
        char *value = bp_make_text("%s%.*s", prefix, (int)length, values);
        char *quoted = bp_hint_quote(value);
        char *whole = bp_make_text("--%s %s", option, quoted);
        if (length && !strstr(others, whole))
            bp_text_add(text, " %s", whole);
        free(whole);
        free(quoted);
        free(value);
        values += length;
        values += *values == ',';
    }
}

static void add_options(struct bp_text *text, const struct bp_model *model, const char *options) {
    const char *hooks = model->process_count ? model->processes[0].profile->header.hooks : "";
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        add_option(text, kept[i].option, kept[i].prefix, bp_model_variable(model, kept[i].variable),
                   options);
    if (strcmp(hooks, "libdsl*") != 0) /* the usual ones */
        add_option(text, "hook", "", hooks, options);
    if (options[0])
        bp_text_add(text, " %s", options);
}

/* What follows the first words: a cell is started as "python cell.py ARGUMENTS". */
static const char *skip_words(const char *command, int count) {
    for (; count > 0 && *command; count--) {
        command += bp_hint_word(command);
        command += strspn(command, " ");
    }
    return command;
}

char *bp_again_module(const struct bp_function *function) {
    return bp_copy_text(strpbrk(function->module, " ,;:\t'") ? "__main__" : function->module);
}

/* A kernel was started by Jupyter: nobody would type that. In it a cell has no arguments. */
static bool is_kernel(const char *command) {
    return strstr(command, " -m ipykernel_launcher ") != NULL;
}

char *bp_again_run(const struct bp_model *model, const char *options) {
    const char *command = bp_model_again(model);
    bool cell = bp_hint_in_cell();
    struct bp_text text = {0};
    if (strcmp(command, "COMMAND") == 0 || (is_kernel(command) && !cell))
        return NULL;
    bp_text_set(&text, "%s%s", cell ? "%%battprof" : bp_invoked(), cell ? "" : " run");
    add_options(&text, model, options);
    const char *words = cell ? skip_words(command, 2) : command;
    if (words[0] && !is_kernel(command))
        bp_text_add(&text, " -- %s", words);
    return bp_text_take(&text);
}

char *bp_again_sentence(const struct bp_model *model, const char *options) {
    char *command = bp_again_run(model, options);
    char *sentence = command
                         ? bp_make_text(":\n%s", command)
                         : bp_make_text(", run it again%s%s", options[0] ? " with " : "", options);
    free(command);
    return sentence;
}
