/* SPDX-License-Identifier: MIT
 *
 * Reads source lines as text, in no language: what a line is in follows from indentation, what is
 * called from a name and a parenthesis. A doubt is an answer of its own.
 */
#include "tools/analyze/cause_source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/source.h"
#include "tools/base/text.h"

/* Lines of a statement before the one that took the time. */
#define STATEMENT 4
/* Lines of a loop before it. */
#define LOOP 200

static const char *source_line(const struct bp_model *model, const struct bp_spot *spot,
                               uint32_t line) {
    const char *text = bp_sources_line(model->lines.sources, spot->directory, spot->file, line);
    return text ? text : "";
}

/* A line that ends like this is not the end of its statement. */
static bool goes_on(const char *text) {
    return text[0] && strchr("(,[\\", text[strlen(text) - 1]);
}

char *bp_spot_statement(const struct bp_model *model, const struct bp_spot *spot) {
    struct bp_text text = {0};
    uint32_t first = spot->line;
    while (first > 1 && spot->line - first < STATEMENT &&
           goes_on(source_line(model, spot, first - 1)))
        first--;
    for (; first <= spot->line; first++)
        bp_text_add(&text, "%s ", source_line(model, spot, first));
    return bp_text_take(&text);
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *text) {
    size_t length = 0;
    while (is_name(text[length]))
        length++;
    return length;
}

/* A word of the text, from `text` on; NULL if it is not there. */
static const char *find_word(const char *text, const char *word, size_t length) {
    for (const char *at = text; *at;) {
        size_t here = name_length(at);
        if (here == length && strncmp(at, word, length) == 0)
            return at;
        at += here ? here : 1;
    }
    return NULL;
}

static bool is_loop(const char *text) {
    static const char *const heads[] = {"for ", "for(", "while ", "while(", "async for "};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        if (strncmp(text, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

/* The line of the innermost loop that this one is in, by indentation; 0 if it is in none. */
static uint32_t find_loop(const struct bp_model *model, const struct bp_spot *spot) {
    uint32_t within =
        bp_sources_indent(model->lines.sources, spot->directory, spot->file, spot->line);
    for (uint32_t line = spot->line - 1; line > 0 && spot->line - line < LOOP && within; line--) {
        const char *text = source_line(model, spot, line);
        uint32_t indent =
            bp_sources_indent(model->lines.sources, spot->directory, spot->file, line);
        if (!text[0] || indent >= within)
            continue;
        if (is_loop(text))
            return line;
        if (strncmp(text, "def ", 4) == 0)
            return 0;
        within = indent;
    }
    return 0;
}

/* What is sorted: sorted(cells), cells.sort(), qsort(cells, …). */
static const char *sorted_name(const char *text, size_t *length) {
    const char *at = strstr(text, "sort");
    const char *open = at ? strchr(at, '(') : NULL;
    const char *name = open;
    if (open && at > text && at[-1] == '.') {
        for (name = at - 1; name > text && (is_name(name[-1]) || name[-1] == '.');)
            name--;
    } else if (open) {
        name = open + 1 + strspn(open + 1, " &*(");
    }
    *length = name ? name_length(name) : 0;
    return *length ? name : NULL;
}

/* The name is what the loop goes through, or a line of it before this one is about it. */
static bool is_changed(const struct bp_model *model, const struct bp_spot *spot, uint32_t loop,
                       const char *name, size_t length) {
    const char *head = source_line(model, spot, loop);
    const char *found = find_word(head, name, length);
    const char *in = find_word(head, "in", 2);
    if (found && (!in || found < in))
        return true;
    for (uint32_t line = loop + 1; line < spot->line; line++)
        if (find_word(source_line(model, spot, line), name, length))
            return true;
    return false;
}

enum bp_again bp_spot_sorts_again(const struct bp_model *model, const struct bp_spot *spot) {
    size_t length = 0;
    char *text = bp_spot_statement(model, spot);
    const char *name = sorted_name(text, &length);
    uint32_t loop = name ? find_loop(model, spot) : 0;
    enum bp_again again = BP_AGAIN_UNKNOWN;
    if (loop)
        again = is_changed(model, spot, loop, name, length) ? BP_AGAIN_OTHER : BP_AGAIN_SAME;
    free(text);
    return again;
}

/* "shift" of "dsl.shift", "Grid.shift" and "shift". */
static bool is_called(const struct bp_function *function, const char *text) {
    const char *dot = strrchr(function->name, '.');
    const char *last = dot ? dot + 1 : function->name;
    size_t length = strlen(last);
    const char *at = find_word(text, last, length);
    return length && at && at[length] == '(';
}

uint32_t bp_spot_callee(const struct bp_model *model, const struct bp_spot *spot) {
    uint32_t callee = BP_NO_FUNCTION;
    uint32_t found = 0;
    char *text = bp_spot_statement(model, spot);
    for (uint32_t i = 0; i < model->function_count && found < 2; i++) {
        const struct bp_function *function = &model->functions[i];
        if (!function->module[0] || function->calls == 0 || !is_called(function, text))
            continue;
        callee = i;
        found++;
    }
    free(text);
    return found == 1 ? callee : BP_NO_FUNCTION;
}
