/* SPDX-License-Identifier: MIT
 *
 * Units, columns and wrapping of the text report; and the table that numbers keys.
 */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "tools/base/columns.h"
#include "tools/base/keys.h"

static char *output;
static size_t output_size;

static struct bp_page page_new(bool utf8) {
    struct bp_page page = {
        .out = open_memstream(&output, &output_size), .width = BP_PAGE_WIDTH, .utf8 = utf8};
    return page;
}

static void page_done(struct bp_page *page, const char *want) {
    fclose(page->out);
    CHECK_TEXT(output, want);
    free(output);
}

static void times(void) {
    char text[32];
    struct bp_page utf8 = {.utf8 = true};
    struct bp_page ascii = {.utf8 = false};
    CHECK_TEXT(bp_page_time(&utf8, 0, text), "0");
    CHECK_TEXT(bp_page_time(&utf8, 1.23456, text), "1.23 s");
    CHECK_TEXT(bp_page_time(&utf8, 12345, text), "12345 s");
    CHECK_TEXT(bp_page_time(&utf8, 0.9996, text), "1.00 s");
    CHECK_TEXT(bp_page_time(&utf8, 0.0999, text), "99.9 ms");
    CHECK_TEXT(bp_page_time(&utf8, 0.00005, text), "50.0 µs");
    CHECK_TEXT(bp_page_time(&ascii, 0.00005, text), "50.0 us");
    CHECK_TEXT(bp_page_time(&utf8, 21e-9, text), "21 ns");
    CHECK_TEXT(bp_page_time(&utf8, -1, text), "-");
    CHECK_TEXT(bp_page_time(&utf8, (double)NAN, text), "0");
}

static void counts(void) {
    char text[32];
    CHECK_TEXT(bp_page_count(0, text), "0");
    CHECK_TEXT(bp_page_count(999, text), "999");
    CHECK_TEXT(bp_page_count(1000, text), "1,000");
    CHECK_TEXT(bp_page_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
    CHECK_TEXT(bp_page_ratio(1.5, text), "1.5");
    CHECK_TEXT(bp_page_ratio(999.4, text), "999");
    CHECK_TEXT(bp_page_ratio(999.6, text), "1,000");
    CHECK_TEXT(bp_page_ratio(24123, text), "24,100");
    CHECK_TEXT(bp_page_ratio(1234567890, text), "1,230,000,000");
    CHECK_TEXT(bp_page_ratio(1.0 / 0.0, text), "inf");
    CHECK_TEXT(bp_page_share(1, 3, text), "33.3 %");
    CHECK_TEXT(bp_page_share(1, 0, text), "");
}

static void cells(void) {
    struct bp_page page = page_new(true);
    bp_page_left(&page, "µs", 4);
    bp_page_right(&page, "abc", 5);
    bp_page_left(&page, "abcdefgh", 5);
    page_done(&page, "µs    abcabcd…");
    page = page_new(false);
    bp_page_left(&page, "abcdefgh", 5);
    bp_page_bar(&page, 0.5, 4, 0);
    bp_page_bar(&page, 7, 4, 0);
    bp_page_bar(&page, -1, 2, 0);
    page_done(&page, "abc..##  ####  ");
}

static void wide_cells(void) {
    struct bp_page page = page_new(true);
    CHECK_EQUAL(bp_page_columns("漢字 kana ｶﾅ"), 12);
    CHECK_EQUAL(bp_page_columns("\xff\xe2("), 3);
    bp_page_left(&page, "漢字漢字", 5);
    bp_page_left(&page, "漢字漢字", 6);
    bp_page_right(&page, "漢字", 5);
    page_done(&page, "漢字…漢字…  漢字");
}

static void columns(void) {
    struct row {
        uint64_t count;
        double s;
    } row = {1234, 0.5};
    const struct bp_column columns[] = {
        BP_LABEL(4),
        BP_COLUMN("count", 7, bp_cell_count, struct row, count),
        BP_COLUMN("gone", 0, bp_cell_time, struct row, s),
        BP_COLUMN("time", 7, bp_cell_time, struct row, s),
        BP_COLUMN("part", 8, bp_cell_share, struct row, s),
        BP_LAST_COLUMN,
    };
    struct bp_page page = page_new(false);
    page.whole = 2;
    bp_columns_title(&page, "T", columns);
    bp_columns_row(&page, columns, " ", "a", &row);
    bp_columns_row(&page, columns, "* ", "bcd", &row);
    bp_columns_whole_row(&page, columns, "* ", "c", &row);
    bp_columns_whole_row(&page, columns, "* ", "bcd", &row);
    bp_columns_more(&page, "  ", 3, 3);
    bp_columns_more(&page, "  ", 3, 1);
    bp_columns_more_by(&page, "", 3, 1, " rows", "--all");
    bp_columns_more_by(&page, "", 3, 1, "", "");
    page_done(&page, "\nT     count   time    part\n"
                     " a    1,234 500 ms  25.0 %\n"
                     "* ..  1,234 500 ms  25.0 %\n"
                     "* c   1,234 500 ms  25.0 %\n"
                     "* bcd\n"
                     "      1,234 500 ms  25.0 %\n"
                     "  and 2 more: --top 3\n"
                     "and 2 more rows: --all\n"
                     "and 2 more\n");
}

static void wraps(void) {
    struct bp_page page = page_new(false);
    bp_page_wrap(
        &page, "note: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb ccccc",
        6);
    page_done(&page, "note: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
                     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n      ccccc\n");
    page = page_new(false);
    bp_page_wrap(&page, "7.0 of 9.5 µs, a, …; ± 3 by naïve", 2);
    page_done(&page, "7.0 of 9.5 us, a, ..; +- 3 by naïve\n");
    page = page_new(true);
    bp_page_wrap(&page, "7.0 of 9.5 µs, …", 2);
    page_done(&page, "7.0 of 9.5 µs, …\n");
}

static void table(void) {
    struct bp_keys keys = {0};
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++)
            CHECK_EQUAL(bp_keys_put(&keys, &i, sizeof(i)), i);
    CHECK_EQUAL(keys.count, 5000);
    CHECK_EQUAL(bp_keys_put(&keys, "", 0), 5000);
    CHECK_EQUAL(bp_keys_get(&keys, "nothing", 7), BP_KEYS_NONE);
    bp_keys_fini(&keys);
    CHECK_EQUAL(bp_keys_get(&keys, "nothing", 7), BP_KEYS_NONE);
}

int main(void) {
    RUN(times);
    RUN(counts);
    RUN(cells);
    RUN(wide_cells);
    RUN(columns);
    RUN(wraps);
    RUN(table);
    return test_result();
}
