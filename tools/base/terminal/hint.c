/* SPDX-License-Identifier: MIT */
#include "tools/base/terminal/hint.h"

#include <stdlib.h>

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/base/variables.h"

bool bp_hint_in_cell(void) {
    const char *value = getenv(bp_variable_rows[BATTPROF_CELL].name);
    return value && value[0];
}

size_t bp_hint_word(const char *text) {
    char quote = 0;
    size_t i = 0;
    for (; text[i] && (quote || text[i] != ' '); i++) {
        if (text[i] == '\\' && quote != '\'' && text[i + 1])
            i++;
        else if (quote ? text[i] == quote : text[i] == '\'' || text[i] == '"')
            quote = quote ? 0 : text[i];
    }
    return i;
}

char *bp_hint_quote(const char *word) {
    char *copy = bp_copy_text(word);
    char *quoted = bp_quote_words((char *[]){copy, NULL});
    free(copy);
    return quoted;
}

char *bp_hint_report(const char *path, const char *options) {
    char *quoted = bp_hint_quote(path);
    char *command = bp_make_text("%s%s report %s%s%s", bp_hint_in_cell() ? "!" : "", bp_invoked(),
                                 options, options[0] ? " " : "", quoted);
    free(quoted);
    return command;
}
