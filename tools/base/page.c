/* SPDX-License-Identifier: MIT
 *
 * Units first, then columns of text that may be wide or without width, then sentences wrapped to
 * the page.
 */
#include "tools/base/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Columns that a page fits itself to. */
#define NARROWEST 60
#define WIDEST 200

/* From the environment and not from setlocale: the locale's data is missing in many containers, and
 * then everything would look like ASCII. */
static bool has_utf8(void) {
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* COLUMNS or the terminal, within reason; the usual width if neither says. */
static int find_width(FILE *out) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int width = columns ? atoi(columns) : 0;
    if (width <= 0 && isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width <= 0)
        return BP_PAGE_WIDTH;
    return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

static struct {
    const FILE *memory;
    FILE *out;
} stand_in;

void bp_page_stand_in(FILE *memory, FILE *out) {
    stand_in.memory = memory;
    stand_in.out = out;
}

void bp_page_init(struct bp_page *page, FILE *out) {
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    page->out = out;
    if (out == stand_in.memory)
        out = stand_in.out;
    page->width = find_width(out);
    page->whole = 0;
    page->utf8 = has_utf8();
    page->colour = isatty(fileno(out)) && !(no_colour && no_colour[0]) &&
                   !(terminal && strcmp(terminal, "dumb") == 0);
}

void bp_page_colour(const struct bp_page *page, int colour) {
    if (page->colour)
        fprintf(page->out, "\033[%dm", colour);
}

static const struct {
    double size;
    const char *name;
} units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};

/* Three digits, as far as there are; none of nanoseconds. */
static int unit_of(double s, int *decimals) {
    int i = 0;
    while (i < 3 && s < 0.9995 * units[i].size)
        i++;
    double value = s / units[i].size;
    *decimals = i == 3 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return i;
}

const char *bp_page_time(const struct bp_page *page, double s, char text[32]) {
    int decimals;
    if (!(s >= 0.5e-9))
        return s < -0.5e-9 ? strcpy(text, "-") : strcpy(text, "0");
    int i = unit_of(s, &decimals);
    const char *name = i == 2 && !page->utf8 ? "us" : units[i].name;
    snprintf(text, 32, "%.*f %s", decimals, s / units[i].size, name);
    return text;
}

const char *bp_sentence_time(double s, char text[32]) {
    const struct bp_page page = {.utf8 = true};
    return bp_page_time(&page, s, text);
}

const char *bp_page_estimate(const struct bp_page *page, double s, double error_s, char text[64]) {
    char value[32];
    char error[24];
    int decimals;
    bp_page_time(page, s, value);
    int i = unit_of(s, &decimals);
    snprintf(error, sizeof(error), "%.*f", decimals, error_s / units[i].size);
    bool shows = strspn(error, "0.") < strlen(error) && s >= 0.5e-9;
    const char *sign = !shows ? "" : page->utf8 ? " ± " : " +-";
    int before = BP_PAGE_VALUE - bp_page_columns(value);
    int after = BP_PAGE_ESTIMATE - BP_PAGE_VALUE - bp_page_columns(sign);
    snprintf(text, 64, "%*s%s%s%-*s", before > 0 ? before : 0, "", value, sign, after,
             shows ? error : "");
    return text;
}

const char *bp_page_bound(const struct bp_page *page, double s, double error_s, char text[32]) {
    char most[32];
    if (s >= error_s || error_s < 0.5e-9)
        return bp_page_time(page, s, text);
    snprintf(text, 32, "< %.20s", bp_page_time(page, s + error_s, most));
    return text;
}

const char *bp_page_bytes(double bytes, char text[32]) {
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int unit = 0;
    while (bytes >= 999.5 && unit < 5) {
        bytes /= 1000;
        unit++;
    }
    int digits = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
    snprintf(text, 32, "%.*f %s", digits, bytes, names[unit]);
    return text;
}

const char *bp_page_count(uint64_t count, char text[32]) {
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    char *to = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return text;
}

const char *bp_page_ratio(double ratio, char text[32]) {
    double unit = 1;
    if (!(ratio >= 999.5 && ratio < 1e15)) {
        snprintf(text, 32, "%.3g", ratio);
        return text;
    }
    while (ratio / unit >= 999.5)
        unit *= 10;
    return bp_page_count((uint64_t)(round(ratio / unit) * unit), text);
}

const char *bp_page_share(double part, double whole, char text[32]) {
    text[0] = 0;
    if (whole > 0)
        snprintf(text, 32, "%.1f %%", 100 * part / whole);
    return text;
}

static bool is_continuation(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* East Asian characters and pictures. wcwidth(3) knows them in some locales only. */
static bool is_wide(uint32_t character) {
    static const uint32_t ranges[][2] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
        {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
        {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (character >= ranges[i][0] && character <= ranges[i][1])
            return true;
    return false;
}

int bp_page_columns_at(const char *text) {
    uint32_t character = 0;
    if (is_continuation(text[0]))
        return 0;
    if ((text[0] & 0xf0) == 0xe0)
        character = text[0] & 0x0f;
    else if ((text[0] & 0xf8) == 0xf0)
        character = text[0] & 0x07;
    else
        return 1;
    while (is_continuation(*++text))
        character = character << 6 | (*text & 0x3f);
    return is_wide(character) ? 2 : 1;
}

int bp_page_columns(const char *text) {
    int columns = 0;
    for (; *text; text++)
        columns += bp_page_columns_at(text);
    return columns;
}

static void pad(const struct bp_page *page, int columns) {
    fprintf(page->out, "%*s", columns > 0 ? columns : 0, "");
}

/* Returns how many were used: a wide character may not fit. */
static int print_columns(const struct bp_page *page, const char *text, int columns) {
    int used = 0;
    for (; *text && used + bp_page_columns_at(text) <= columns; text++) {
        used += bp_page_columns_at(text);
        fputc(*text, page->out);
    }
    return used;
}

static int print_cut(const struct bp_page *page, const char *text, int width) {
    int columns = bp_page_columns(text);
    int mark = page->utf8 ? 1 : 2;
    if (columns <= width) {
        fputs(text, page->out);
        return columns;
    }
    int used = print_columns(page, text, width - mark);
    fputs(page->utf8 ? "…" : "..", page->out);
    return used + mark;
}

void bp_page_left(const struct bp_page *page, const char *text, int width) {
    pad(page, width - print_cut(page, text, width));
}

void bp_page_right(const struct bp_page *page, const char *text, int width) {
    pad(page, width - bp_page_columns(text));
    print_cut(page, text, width);
}

/* Eighths of a column where the font has them. */
static int print_bar(const struct bp_page *page, double part, int width, int colour) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(part > 0))
        part = 0;
    if (part > 1)
        part = 1;
    int steps = (int)(part * width * (page->utf8 ? 8 : 1) + 0.5);
    int full = page->utf8 ? steps / 8 : steps;
    bp_page_colour(page, colour);
    for (int i = 0; i < full; i++)
        fputs(page->utf8 ? "█" : "#", page->out);
    int rest = page->utf8 ? steps % 8 : 0;
    fputs(eighths[rest], page->out);
    bp_page_colour(page, 0);
    return full + (rest > 0);
}

void bp_page_bar(const struct bp_page *page, double part, int width, int colour) {
    pad(page, width - print_bar(page, part, width, colour));
}

void bp_page_bar_alone(const struct bp_page *page, double part, int width, int colour) {
    print_bar(page, part, width, colour);
}

void bp_page_heading(const struct bp_page *page, const char *text) {
    bp_page_colour(page, 1);
    fputs(text, page->out);
    bp_page_colour(page, 0);
}
