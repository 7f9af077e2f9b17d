/* SPDX-License-Identifier: MIT */
#include "tools/export/html/write.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tools/base/page.h"
#include "tools/base/statistics.h"

/* Characters of a name in a table; the JSON within the page has all of them. */
#define LONGEST 160

/* A larger one says no more: the old value was next to nothing. */
#define MOST_FACTOR 100.0

/* One character of UTF-8 and its length; jansson accepts no other text, but texts may come from
 * elsewhere: a byte that begins none is a character of its own. */
static uint32_t read_character(const char *text, int *length) {
    unsigned char c = (unsigned char)text[0];
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    uint32_t character = more == 3 ? c & 7 : more == 2 ? c & 15 : more == 1 ? c & 31 : c;
    *length = 1;
    for (int i = 1; i <= more; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0xfffd;
        character = character << 6 | (text[i] & 0x3f);
        *length = i + 1;
    }
    return more || c < 0x80 ? character : 0xfffd;
}

/* Seen by nobody, or reordering what stands around it. */
static bool is_hidden(uint32_t c) {
    static const uint32_t ranges[][2] = {{0, 0x1f},        {0x7f, 0x9f},      {0xad, 0xad},
                                         {0x61c, 0x61c},   {0x180e, 0x180e},  {0x200b, 0x200f},
                                         {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfeff, 0xfeff},
                                         {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

static void write_character(const char *text, int length, uint32_t c, FILE *out) {
    if (c == '&')
        fputs("&amp;", out);
    else if (c == '<')
        fputs("&lt;", out);
    else if (c == '>')
        fputs("&gt;", out);
    else if (c == '"')
        fputs("&quot;", out);
    else if (c == '\'')
        fputs("&#39;", out);
    else if (c == 0xfffd)
        fputs("\xef\xbf\xbd", out);
    else if (is_hidden(c))
        fprintf(out, "\xe2\x9f\xa8U+%04X\xe2\x9f\xa9", c);
    else
        fwrite(text, 1, (size_t)length, out);
}

static void write_text(const char *text, uint32_t most, FILE *out) {
    int length;
    for (uint32_t count = 0; *text && count < most; count++, text += length) {
        uint32_t c = read_character(text, &length);
        write_character(text, length, c, out);
    }
    if (*text)
        fputs("…", out);
}

void bp_html_text(const char *text, FILE *out) {
    write_text(text, LONGEST, out);
}

void bp_html_sentence(const char *text, FILE *out) {
    write_text(text, UINT32_MAX, out);
}

static void write_number(double value, enum bp_html_unit unit, FILE *out) {
    static const struct bp_page page = {.utf8 = true};
    char text[32];
    switch (unit) {
    case BP_HTML_TIME:
        fputs(bp_page_time(&page, value, text), out);
        break;
    case BP_HTML_CHANGE:
        fprintf(out, "%s%s",
                value < 0   ? "−"
                : value > 0 ? "+"
                            : "",
                bp_page_time(&page, fabs(value), text));
        break;
    case BP_HTML_COUNT:
        fputs(bp_page_count(bp_whole(value), text), out);
        break;
    case BP_HTML_BYTES:
        fputs(bp_page_bytes(value, text), out);
        break;
    case BP_HTML_PERCENT:
        fprintf(out, "%.1f %%", value);
        break;
    case BP_HTML_FACTOR:
        fprintf(out, value > MOST_FACTOR ? "> %.0f" : "%.3g", fmin(value, MOST_FACTOR));
        break;
    default:
        fprintf(out, "%.4g", value);
    }
}

void bp_html_value(const json_t *value, enum bp_html_unit unit, FILE *out) {
    if (json_is_string(value))
        bp_html_text(json_string_value(value), out);
    else if (json_is_number(value) && unit == BP_HTML_WORD)
        fprintf(out, "%.15g", json_number_value(value));
    else if (json_is_number(value))
        write_number(json_number_value(value), unit, out);
    else if (json_is_true(value))
        fputs("yes", out);
}

json_t *bp_html_find(json_t *root, const char *path) {
    char key[64];
    for (size_t length; root && *path; path += length + (path[length] == '.')) {
        length = strcspn(path, ".");
        if (length >= sizeof(key))
            return NULL;
        memcpy(key, path, length);
        key[length] = 0;
        root = json_object_get(root, key);
    }
    return root;
}
