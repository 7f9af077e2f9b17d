/* SPDX-License-Identifier: MIT
 *
 * Advice on lines whose time has a cause that a user can remove (causes.def). What it saves is the
 * line's time with all that it calls of others: as if the line were not there.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "tools/analyze/advise/advise.h"
#include "tools/analyze/cause.h"
#include "tools/analyze/cause_source.h"
#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/text.h"
#include "tools/model/pool.h"

/* Part of the wall below which lines, alone or together, are no advice. */
#define LEAST_ADVICE 0.01
/* Lines that are named. */
#define NAMED 3
/* Samples of a line below which one like it may have none. */
#define FEW 4

/* Lines that share an advice. */
struct finding {
    enum bp_cause cause;
    const struct bp_spot *spots[NAMED];
    uint32_t count;
    uint64_t samples;
    uint64_t fewest; /* of a line; with few, others like it had none */
    double wall_s;
};

struct findings {
    struct finding *list;
    uint32_t count;
};

static bool shares(const struct finding *finding, enum bp_cause cause, const struct bp_spot *spot) {
    if (finding->cause != cause || bp_causes[cause].reach == BP_REACH_LINE)
        return false;
    return bp_causes[cause].reach == BP_REACH_RUN || finding->spots[0]->function == spot->function;
}

static struct finding *find(struct findings *findings, enum bp_cause cause,
                            const struct bp_spot *spot) {
    for (uint32_t i = 0; i < findings->count; i++)
        if (shares(&findings->list[i], cause, spot))
            return &findings->list[i];
    struct finding *fresh = BP_APPEND(findings->list, findings->count);
    fresh->cause = cause;
    return fresh;
}

/* What a line does besides freeing stays. */
static void add(struct findings *findings, enum bp_cause cause, const struct bp_spot *spot) {
    struct finding *finding = find(findings, cause, spot);
    if (finding->count < NAMED)
        finding->spots[finding->count] = spot;
    finding->fewest = finding->count ? MIN(finding->fewest, spot->samples) : spot->samples;
    finding->count++;
    finding->samples += spot->samples;
    finding->wall_s += cause == BP_CAUSE_FREE ? spot->evidence_s[cause] : spot->wall_s;
}

/* "dsl.py:7", "dsl.py:7, dsl.py:13 and dsl.py:19", "…, dsl.py:19 and 37 more" */
static void add_lines(struct bp_text *text, const struct finding *finding) {
    uint32_t named = finding->count < NAMED ? finding->count : NAMED;
    for (uint32_t i = 0; i < named; i++)
        bp_text_add(text, "%s%s:%u",
                    i == 0                    ? ""
                    : i + 1 == finding->count ? " and "
                                              : ", ",
                    bp_base_name(finding->spots[i]->file), finding->spots[i]->line);
    if (finding->count > named)
        bp_text_add(text, " and %u more", finding->count - named);
}

/* ", 96 % of dsl.index"; of several functions nothing. */
static void add_function(struct bp_text *text, const struct bp_model *model,
                         const struct finding *finding) {
    uint32_t function = finding->spots[0]->function;
    double whole_s = bp_model_spots_wall(model, function);
    for (uint32_t i = 1; i < finding->count && i < NAMED; i++)
        if (finding->spots[i]->function != function)
            return;
    bp_text_add(text, ", %s of %s", BP_SHARE(finding->wall_s, whole_s),
                bp_advise_name(model, function));
}

/* Whose objects the line frees; BP_NO_FUNCTION if that is unknown, or it is about something else.
 */
static uint32_t callee_of(const struct bp_model *model, const struct finding *finding) {
    return finding->cause == BP_CAUSE_FREE ? bp_spot_callee(model, finding->spots[0])
                                           : BP_NO_FUNCTION;
}

/* Locals are freed when their function has ended, in the time of its caller. */
static void add_cause(struct bp_text *text, const struct bp_model *model,
                      const struct finding *finding) {
    uint32_t callee = callee_of(model, finding);
    bp_text_add(text, "%s", bp_causes[finding->cause].does);
    if (callee != BP_NO_FUNCTION)
        bp_text_add(text, "%s, whose locals they were", bp_advise_name(model, callee));
    else if (finding->cause == BP_CAUSE_FREE)
        bp_text_add(text, "the functions called here");
}

/* One line comes first; of many that share a cause, the cause and how many they are. */
static char *make_what(const struct bp_model *model, const struct finding *finding) {
    struct bp_text text = {0};
    bool one = finding->count == 1;
    if (!one) {
        add_cause(&text, model, finding);
        bp_text_add(&text, ", on %s%u lines: together ", finding->fewest < FEW ? "at least " : "",
                    finding->count);
    }
    add_lines(&text, finding);
    bp_text_add(&text, " take%s %s of the wall", one ? "s" : "",
                BP_SHARE(finding->wall_s, model->wall.total_s));
    add_function(&text, model, finding);
    if (one) {
        bp_text_add(&text, ": ");
        add_cause(&text, model, finding);
    }
    return bp_text_take(&text);
}

static void advise(struct bp_analysis *analysis, const struct finding *finding) {
    const struct bp_model *model = analysis->model;
    const struct bp_cause_about *about = &bp_causes[finding->cause];
    const struct bp_spot *first = finding->spots[0];
    if (finding->samples < BP_POOL_LEAST || !(finding->wall_s > LEAST_ADVICE * model->wall.total_s))
        return;
    struct bp_advice *advice =
        bp_advise(analysis, first->function, finding->wall_s, 0, make_what(model, finding),
                  bp_make_text("%s", about->change));
    if (!advice)
        return;
    uint32_t callee = callee_of(model, finding);
    if (callee != BP_NO_FUNCTION) /* a task's locals, too, are freed when it has ended */
        advice->in_tasks = bp_function_in_tasks(&model->functions[callee]);
    advice->cause = about->word;
    advice->file = first->file;
    advice->line = first->line;
}

/* Lines with few samples that call loggers, by level. */
struct level {
    double wall_s;
    double logged_s;
};

static bool is_small(const struct bp_spot *spot) {
    return spot->samples < BP_POOL_LEAST;
}

static void read_levels(const struct bp_model *model, struct level levels[BP_LEVELS + 1]) {
    for (uint32_t i = 0; i < model->lines.spot_count; i++) {
        const struct bp_spot *spot = &model->lines.spots[i];
        if (!is_small(spot))
            continue;
        struct level *level = &levels[bp_spot_level(model, spot)];
        level->wall_s += spot->wall_s;
        level->logged_s += spot->evidence_s[BP_CAUSE_LOGGED];
    }
}

/* That no sample of a line is below a logger that writes says little where there are few samples:
 * what lines of this level do together, it does. */
static bool is_wanted(const struct bp_model *model, const struct bp_spot *spot,
                      const struct level levels[BP_LEVELS + 1]) {
    unsigned number = is_small(spot) ? bp_spot_level(model, spot) : BP_LEVELS;
    return number < BP_LEVELS && bp_cause_is_wanted(levels[number].logged_s, levels[number].wall_s);
}

/* Lines of a habit count however small they are; of others each is an advice of its own. */
static bool is_counted(const struct bp_model *model, enum bp_cause cause,
                       const struct bp_spot *spot) {
    return cause < BP_CAUSES && (bp_causes[cause].reach != BP_REACH_LINE ||
                                 spot->wall_s > LEAST_ADVICE * model->wall.total_s);
}

void bp_advise_lines(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    struct findings findings = {0};
    struct level levels[BP_LEVELS + 1] = {{0}};
    read_levels(model, levels);
    for (uint32_t i = 0; i < model->lines.spot_count; i++) {
        const struct bp_spot *spot = &model->lines.spots[i];
        enum bp_cause cause = bp_spot_cause(model, spot);
        if (is_counted(model, cause, spot) &&
            !(cause == BP_CAUSE_MESSAGE && is_wanted(model, spot, levels)))
            add(&findings, cause, spot);
    }
    for (uint32_t i = 0; i < findings.count; i++)
        advise(analysis, &findings.list[i]);
    free(findings.list);
}

bool bp_advise_has_cause(const struct bp_analysis *analysis, uint32_t function) {
    const struct bp_model *model = analysis->model;
    uint32_t mask = bp_cause_mask(model, function);
    for (uint32_t i = 0; i < analysis->advice_count; i++)
        for (unsigned cause = 0; analysis->advice[i].cause && cause < BP_CAUSES; cause++)
            if (mask >> cause & 1 && strcmp(bp_causes[cause].word, analysis->advice[i].cause) == 0)
                return true;
    return false;
}
