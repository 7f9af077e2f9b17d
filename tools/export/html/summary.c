/* SPDX-License-Identifier: MIT
 *
 * The headline with its bar, what to change first, the notes, and what a comparison found.
 */
#include <string.h>

#include "tools/export/html/write.h"
#include "tools/model/owner/split.h"

/* Percent of the wall below which a row is none. */
#define LEAST_PCT 0.05

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(json_t *object, const char *path) {
    return json_number_value(bp_html_find(object, path));
}

static void write_time(json_t *object, const char *path, FILE *out) {
    bp_html_value(bp_html_find(object, path), BP_HTML_TIME, out);
}

static void write_counted(json_t *object, const char *key, const char *one, const char *many,
                          FILE *out) {
    bp_html_value(json_object_get(object, key), BP_HTML_COUNT, out);
    fprintf(out, " %s", number_of(object, key) == 1 ? one : many);
}

static void write_end(json_t *report, FILE *out) {
    const json_t *signal = json_object_get(report, "signal");
    const json_t *status = json_object_get(report, "exit_status");
    if (json_is_true(json_object_get(report, "live")))
        fputs(" · <b>still running</b>", out);
    else if (json_is_integer(signal))
        fprintf(out, " · <b>killed by signal %d</b>", (int)json_integer_value(signal));
    else if (json_is_integer(status))
        fprintf(out, " · exit status %d", (int)json_integer_value(status));
    else
        fputs(" · exit status unknown", out);
}

static void write_device(json_t *report, FILE *out) {
    json_t *device = json_object_get(report, "device");
    if (!json_is_object(device))
        return;
    fprintf(out, "<p class=run>%sdevice ",
            json_is_true(json_object_get(device, "simulated")) ? "simulated " : "");
    bp_html_text(text_of(device, "name"), out);
    if (json_is_number(json_object_get(device, "busy_pct"))) {
        fputs(" · busy ", out);
        bp_html_value(json_object_get(device, "busy_pct"), BP_HTML_PERCENT, out);
    }
    fputs("</p>\n", out);
}

/* Rows of the headline: where nothing was named as the DSL, by whose code it was. */
struct share {
    const char *key;
    const char *title;
    const char *colour; /* a class of page.css */
    bool always;
};

static const struct share categories[] = {{"dsl", "DSL", "dsl", true},
                                          {"framework", "framework", "framework", true},
                                          {"transfer", "transfer", "transfer", true},
                                          {"profiler", "overhead", "profiler", true},
                                          {NULL, NULL, NULL, false}};
/* The script has them once more (OWNERS), for the graph. */
static const char *const split_colours[BP_SPLIT_ROWS] = {
    [BP_SPLIT_YOURS] = "dsl",         [BP_SPLIT_LIBRARIES] = "framework",
    [BP_SPLIT_STANDARD] = "other",    [BP_SPLIT_IMPORT] = "import",
    [BP_SPLIT_WAITING] = "waiting",   [BP_SPLIT_IO] = "io",
    [BP_SPLIT_TRANSFER] = "transfer", [BP_SPLIT_CUDA] = "cuda",
    [BP_SPLIT_KERNELS] = "kernels",   [BP_SPLIT_START] = "start",
    [BP_SPLIT_PROFILER] = "profiler", [BP_SPLIT_PAUSED] = "noise",
    [BP_SPLIT_UNKNOWN] = "noise"};

/* What is seen as a bar is a list to those who cannot see it. */
static void write_bar(json_t *object, const struct share *shares, FILE *out) {
    fputs("<div class=bar aria-hidden=true>", out);
    for (const struct share *share = shares; share->key; share++) {
        double pct = number_of(json_object_get(object, share->key), "pct");
        if (pct > 0)
            fprintf(out, "<span class=\"c-%s\" style=\"flex-grow:%.3f\"></span>", share->colour,
                    pct);
    }
    fputs("</div>\n<ul class=shares>\n", out);
    for (const struct share *share = shares; share->key; share++) {
        json_t *part = json_object_get(object, share->key);
        if (!share->always && !(number_of(part, "pct") > LEAST_PCT))
            continue;
        fprintf(out, "<li><i class=\"c-%s\"></i>%s <b>", share->colour, share->title);
        bp_html_value(json_object_get(part, "pct"), BP_HTML_PERCENT, out);
        fputs("</b> <span>", out);
        write_time(part, "s", out);
        fputs("</span>\n", out);
    }
    fputs("</ul>\n", out);
}

static void write_split(json_t *object, FILE *out) {
    struct share shares[BP_SPLIT_ROWS + 1] = {0};
    for (int i = 0; i < BP_SPLIT_ROWS; i++)
        shares[i] = (struct share){bp_split_key((enum bp_split_row)i),
                                   bp_split_name((enum bp_split_row)i), split_colours[i], false};
    write_bar(object, shares, out);
}

static void write_choice(json_t *choice, FILE *out) {
    if (!text_of(choice, "yours")[0])
        return;
    fputs("<p class=run>your code: ", out);
    bp_html_text(text_of(choice, "yours"), out);
    if (text_of(choice, "command")[0]) {
        fputs("; to time every call: <code>", out);
        bp_html_text(text_of(choice, "command"), out);
        fputs("</code>", out);
    }
    fputs("</p>\n", out);
}

void bp_html_summary(json_t *report, FILE *out) {
    fputs("<header>\n<h1>", out);
    bp_html_text(text_of(report, "command"), out);
    fputs("</h1>\n<p class=run>wall <b>", out);
    write_time(report, "wall_s", out);
    fputs("</b> · ", out);
    write_counted(report, "processes", "process", "processes", out);
    fputs(", ", out);
    write_counted(report, "threads", "thread", "threads", out);
    write_end(report, out);
    fputs("</p>\n", out);
    write_device(report, out);
    json_t *choice = json_object_get(report, "choice");
    if (json_is_object(choice)) {
        write_split(json_object_get(report, "split"), out);
        write_choice(choice, out);
    } else {
        write_bar(json_object_get(report, "categories"), categories, out);
    }
    fputs("</header>\n", out);
}

void bp_html_advice(json_t *report, FILE *out) {
    json_t *list = json_object_get(report, "advice");
    size_t i;
    json_t *advice;
    fputs("<section id=advice data-view=Advice>\n<h2>What to change first</h2>\n", out);
    if (json_array_size(list) == 0)
        fputs("<p class=about>Nothing stands out.</p>\n", out);
    else
        fputs("<ol class=advice>\n", out);
    json_array_foreach(list, i, advice) {
        fprintf(out, "<li class=\"l-%s\">", text_of(advice, "level"));
        if (number_of(advice, "saves_s") > 0) {
            fputs("<b>up to ", out);
            write_time(advice, "saves_s", out);
            fputs("</b> ", out);
        }
        bp_html_sentence(text_of(advice, "what"), out);
        fputs("<p>", out);
        bp_html_sentence(text_of(advice, "why"), out);
        fputs("</p></li>\n", out);
    }
    fputs(json_array_size(list) ? "</ol>\n</section>\n" : "</section>\n", out);
}

static void write_list(json_t *list, FILE *out) {
    size_t i;
    json_t *note;
    fputs("<ul class=notes>\n", out);
    json_array_foreach(list, i, note) {
        fputs("<li>", out);
        bp_html_sentence(json_string_value(note) ? json_string_value(note) : "", out);
        fputc('\n', out);
    }
    fputs("</ul>\n", out);
}

void bp_html_notes(json_t *report, FILE *out) {
    json_t *list = json_object_get(report, "notes");
    if (json_array_size(list) == 0)
        return;
    fputs("<section id=notes data-view=Notes>\n<h2>Notes</h2>\n", out);
    write_list(list, out);
    fputs("</section>\n", out);
}

void bp_html_diff(json_t *diff, FILE *out) {
    json_t *headline = json_object_get(diff, "headline");
    if (!diff)
        return;
    bool certain = json_is_true(json_object_get(headline, "certain"));
    fputs("<section id=comparison data-view=Comparison>\n<h2>Compared with ", out);
    bp_html_text(text_of(json_object_get(diff, "old"), "path"), out);
    fputs("</h2>\n<p class=run>wall ", out);
    write_time(headline, "old_s", out);
    fputs(" → <b>", out);
    write_time(headline, "new_s", out);
    fprintf(out, "</b>, a factor of %.3g, between %.3g and %.3g in 95 of 100 cases%s</p>\n",
            number_of(headline, "factor"), number_of(headline, "low"), number_of(headline, "high"),
            certain ? "" : ": <b>within what chance does</b>");
    if (json_array_size(json_object_get(diff, "differences")) == 0)
        fputs("<p class=about>No function differs beyond chance.</p>\n", out);
    if (json_array_size(json_object_get(diff, "notes")))
        write_list(json_object_get(diff, "notes"), out);
    fputs("</section>\n", out);
}
