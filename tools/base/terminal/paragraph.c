/* SPDX-License-Identifier: MIT
 *
 * Paragraphs of a page (page.h): sentences are broken where a line is full, commands only so that a
 * shell takes their lines for one.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/page.h"
#include "tools/base/terminal/hint.h"
#include "tools/base/text.h"

static bool is_unit(const char *word, size_t length) {
    static const char *const words[] = {"%",  "s", "ms",   "µs",   "us",  "ns",  "kB", "MB",
                                        "GB", "B", "GB/s", "MB/s", "KiB", "MiB", "GiB"};
    while (length > 0 && strchr(",;:.)", word[length - 1]))
        length--;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return true;
    return false;
}

/* A word, and with a number its unit: a line does not end between the two. */
static size_t piece_length(const char *text) {
    size_t length = strcspn(text, " \n");
    if (length == 0 || text[length] != ' ' || !isdigit((unsigned char)text[length - 1]))
        return length;
    size_t next = strcspn(text + length + 1, " \n");
    return is_unit(text + length + 1, next) ? length + 1 + next : length;
}

/* Sentences come as the model made them, for JSON too. Names keep their letters. */
static void make_plain(char *word) {
    static const char *const letters[][2] = {{"µs", "us"}, {"…", ".."}, {"±", "+-"}};
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        for (char *at = word; (at = strstr(at, letters[i][0]));) {
            size_t from = strlen(letters[i][0]), to = strlen(letters[i][1]);
            memcpy(at, letters[i][1], to);
            memmove(at + to, at + from, strlen(at + from) + 1);
        }
}

/* On this line or the next one; the column after it. `indent` is -1 for the first of a paragraph.
 */
static int print_word(const struct bp_page *page, const char *word, int column, int indent) {
    int columns = bp_page_columns(word);
    if (indent >= 0 && column > indent && column + 1 + columns > page->width) {
        fprintf(page->out, "\n%*s", indent, "");
        column = indent;
    } else if (indent >= 0) {
        fputc(' ', page->out);
        column++;
    }
    fputs(word, page->out);
    return column + columns;
}

void bp_page_command(const struct bp_page *page, const char *command, int column, int indent) {
    bool begun = false;
    while (*command) {
        size_t length = bp_hint_word(command);
        char *word = bp_make_text("%.*s", (int)length, command);
        int columns = bp_page_columns(word);
        int mark = command[length] ? 2 : 0; /* for what goes on behind it */
        if (begun && column + 1 + columns + mark > page->width) {
            fprintf(page->out, " \\\n%*s", indent, "");
            column = indent;
        } else if (begun) {
            fputc(' ', page->out);
            column++;
        }
        fputs(word, page->out);
        free(word);
        begun = true;
        column += columns;
        command += length;
        command += strspn(command, " ");
    }
    fputc('\n', page->out);
}

/* What follows the command after another line break is a sentence again. */
static void print_command(const struct bp_page *page, const char *text, int indent) {
    size_t length = strcspn(text, "\n");
    char *command = bp_make_text("%.*s", (int)length, text);
    fprintf(page->out, "%*s", indent, "");
    bp_page_command(page, command, indent, indent + 2);
    free(command);
    if (text[length]) {
        char *rest = bp_make_text("%*s%s", indent, "", text + length + 1);
        bp_page_wrap(page, rest, indent);
        free(rest);
    }
}

void bp_page_wrap(const struct bp_page *page, const char *text, int indent) {
    int lead = (int)strspn(text, " ");
    int column = fprintf(page->out, "%*s", lead, "");
    bool begun = false;
    text += lead;
    while (*text && *text != '\n') {
        size_t length = piece_length(text);
        char *word = bp_make_text("%.*s", (int)length, text);
        if (!page->utf8)
            make_plain(word);
        column = print_word(page, word, column, begun ? indent : -1);
        free(word);
        begun = true;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', page->out);
    if (*text)
        print_command(page, text + 1, indent);
}

void bp_page_say(const struct bp_page *page, int indent, const char *format, ...) {
    struct bp_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    bp_text_add_list(&text, format, arguments);
    va_end(arguments);
    bp_page_wrap(page, bp_text_get(&text), indent);
    bp_text_fini(&text);
}
