/* SPDX-License-Identifier: MIT
 *
 * --brief, and the end of `run` on a terminal that the report does not fit: the split of the wall
 * and what to change first, so that the answer is what remains on the screen.
 */
#include <stdlib.h>

#include "tools/base/terminal/hint.h"
#include "tools/render/text/internal.h"

/* Lines; a terminal has 24, and the prompt and the last lines of the target are on it, too. */
#define MOST_LINES 20
#define MOST_ADVICE 3

/* As much of it as there may be room for. The first piece of advice is the answer: it stays. */
struct amount {
    uint32_t advice;
    bool why;
    bool choice; /* what was taken as the user's code, and how to name it */
};

static void print_advice(const struct bp_page *page, const struct bp_analysis *analysis,
                         struct amount amount) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < analysis->advice_count && shown < amount.advice; i++) {
        const struct bp_advice *advice = &analysis->advice[i];
        if (bp_advice_is_warning(advice))
            continue;
        if (shown++ == 0) {
            fputc('\n', page->out);
            bp_page_heading(page, "What to change first\n");
        }
        bp_report_one_advice(page, advice, amount.why);
    }
}

/* The first of them decides whether the rest can be believed; where a pattern of --dsl found
 * nothing, the split above is not what was asked for. */
static void print_warning(const struct bp_page *page, const struct bp_analysis *analysis) {
    bool warned = analysis->advice_count > 0 && bp_advice_is_warning(&analysis->advice[0]);
    if (warned || analysis->unmatched)
        fputc('\n', page->out);
    if (analysis->unmatched)
        bp_page_say(page, 2, "! %s", analysis->unmatched);
    if (warned)
        bp_page_say(page, 2, "! %s", analysis->advice[0].what);
}

static void print(const struct bp_page *page, const struct bp_analysis *analysis,
                  struct amount amount) {
    char *command = bp_hint_report(analysis->model->run.path, "");
    bp_report_headline(page, analysis->model);
    bp_report_categories(page, analysis->model);
    if (amount.choice)
        bp_report_choice(page, analysis->model);
    print_warning(page, analysis);
    print_advice(page, analysis, amount);
    fputs("\nall of it: ", page->out);
    bp_page_command(page, command, 11, 2);
    free(command);
}

/* How many lines that would be. */
static uint32_t count_lines(const struct bp_page *page, const struct bp_analysis *analysis,
                            struct amount amount) {
    struct bp_page copy = *page;
    char *text = NULL;
    size_t size = 0;
    uint32_t lines = 0;
    copy.out = open_memstream(&text, &size);
    if (!copy.out)
        return 0;
    print(&copy, analysis, amount);
    fclose(copy.out);
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

/* false: nothing is left that could be given up. */
static bool give_up(struct amount *amount) {
    if (amount->advice > 1 && !amount->why)
        amount->advice--;
    else if (amount->why)
        amount->why = false;
    else if (amount->choice)
        amount->choice = false;
    else
        return false;
    return true;
}

int bp_report_brief(const struct bp_analysis *analysis, FILE *out) {
    struct bp_page page;
    struct amount amount = {MOST_ADVICE, true, true};
    bp_page_init(&page, out);
    page.whole = analysis->model->wall.total_s;
    while (count_lines(&page, analysis, amount) > MOST_LINES && give_up(&amount))
        ;
    print(&page, analysis, amount);
    return 0;
}
