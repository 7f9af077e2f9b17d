/* SPDX-License-Identifier: MIT
 *
 * The functions sampled below a line are the evidence. A line whose own text names a cause needs
 * less of it.
 */
#include "tools/analyze/cause.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/cause_source.h"
#include "tools/base/text.h"
#include "tools/model/pool.h"

/* Part of a line's time from which on a message was wanted, or names are missing. */
#define LOGGED_PART 0.05
#define UNNAMED_PART 0.5
/* Part of a line's time that building strings takes where only that and a call of the logger tell
 * of a message. */
#define MESSAGE_PART 0.3
/* What the line says makes so much less evidence enough. */
#define SAID 0.5

/* Part of a function's time from which on it is mostly one line, whose cause is known. */
#define MOSTLY 0.5
/* The limit where the cause is unknown. */
#define NEARLY_ALL 0.9

const struct bp_cause_about bp_causes[BP_CAUSES] = {
#define CAUSE(id, word, enough, reach, does, change)                                               \
    [BP_CAUSE_##id] = {word, enough, BP_REACH_##reach, does, change},
#define BELOW(...)
#define WORD(...)
#include "tools/model/line/causes.def"
#undef CAUSE
#undef BELOW
#undef WORD
};

enum code { PYTHON, INTERPRETER, NATIVE };

static const struct {
    enum bp_cause cause;
    enum code code;
    const char *module;
    const char *name;
} below[] = {
#define CAUSE(...)
#define BELOW(id, code, module, name) {BP_CAUSE_##id, code, module, name},
#define WORD(...)
#include "tools/model/line/causes.def"
#undef CAUSE
#undef BELOW
#undef WORD
};

static const struct {
    enum bp_cause cause;
    const char *text;
} words[] = {
#define CAUSE(...)
#define BELOW(...)
#define WORD(id, text) {BP_CAUSE_##id, text},
#include "tools/model/line/causes.def"
#undef CAUSE
#undef BELOW
#undef WORD
};

static enum code code_of(const struct bp_function *function) {
    if (function->module[0])
        return PYTHON;
    return bp_stack_code(function->library) == BP_CODE_INTERPRETER ? INTERPRETER : NATIVE;
}

uint32_t bp_cause_mask(const struct bp_model *model, uint32_t number) {
    const struct bp_function *function = &model->functions[number];
    enum code code = code_of(function);
    uint32_t mask = 0;
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++)
        if (below[i].code == code && fnmatch(below[i].name, function->name, 0) == 0 &&
            (!below[i].module || strcmp(below[i].module, function->module) == 0))
            mask |= UINT32_C(1) << below[i].cause;
    return mask;
}

/* logger.info(…), logging.debug(…), self.log.warning(…): a name with "log", and a level. The
 * level's number, BP_LEVELS if there is none. */
static unsigned level_of(const char *text) {
    static const char *const levels[BP_LEVELS] = {".debug(", ".info(",  ".warning(", ".error(",
                                                  ".log(",   ".trace(", ".critical("};
    for (unsigned i = 0; i < BP_LEVELS; i++)
        for (const char *at = strstr(text, levels[i]); at; at = strstr(at + 1, levels[i])) {
            const char *name = at;
            while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
                name--;
            for (; name + 3 <= at; name++)
                if (strncasecmp(name, "log", 3) == 0)
                    return i;
        }
    return BP_LEVELS;
}

/* A word that begins with a letter is one: sort( is not in resort(. */
static bool says(const char *text, enum bp_cause cause) {
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].cause != cause)
            continue;
        for (const char *at = strstr(text, words[i].text); at; at = strstr(at + 1, words[i].text))
            if (at == text || !isalpha((unsigned char)words[i].text[0]) ||
                !(isalnum((unsigned char)at[-1]) || at[-1] == '_'))
                return true;
    }
    return false;
}

bool bp_cause_is_wanted(double logged_s, double wall_s) {
    return logged_s > LOGGED_PART * wall_s;
}

/* A logger was called from the line or, where that is too quick for a sample, said to be; and it
 * did not write. Without the source only strings that are built beside it tell. */
static bool is_message(const struct bp_spot *spot, const char *text) {
    if (bp_cause_is_wanted(spot->evidence_s[BP_CAUSE_LOGGED], spot->wall_s))
        return false;
    if (text[strspn(text, " ")])
        return level_of(text) < BP_LEVELS;
    return spot->evidence_s[BP_CAUSE_MESSAGE] > 0 &&
           spot->evidence_s[BP_CAUSE_TEXT] > MESSAGE_PART * spot->wall_s;
}

static bool is_certain(const struct bp_spot *spot, const char *text, enum bp_cause cause) {
    bool said = says(text, cause);
    if (said && spot->unnamed_s > UNNAMED_PART * spot->wall_s)
        return true;
    return spot->evidence_s[cause] > bp_causes[cause].enough * (said ? SAID : 1) * spot->wall_s;
}

/* Sorting is the work of many functions. It is done again where the same is sorted in each round of
 * a loop; or where a function does little else, which may be called with the same. */
static bool is_again(const struct bp_model *model, const struct bp_spot *spot) {
    enum bp_again again = bp_spot_sorts_again(model, spot);
    if (again != BP_AGAIN_UNKNOWN)
        return again == BP_AGAIN_SAME;
    return spot->wall_s > MOSTLY * bp_model_spots_wall(model, spot->function);
}

unsigned bp_spot_level(const struct bp_model *model, const struct bp_spot *spot) {
    char *text = bp_spot_statement(model, spot);
    unsigned level = level_of(text);
    free(text);
    return level;
}

static enum bp_cause cause_of(const struct bp_model *model, const struct bp_spot *spot,
                              const char *text) {
    if (is_message(spot, text))
        return BP_CAUSE_MESSAGE;
    for (unsigned cause = BP_CAUSE_MESSAGE + 1; cause < BP_CAUSES; cause++)
        if (is_certain(spot, text, (enum bp_cause)cause) &&
            (cause != BP_CAUSE_SORT || is_again(model, spot)))
            return (enum bp_cause)cause;
    return BP_CAUSES;
}

enum bp_cause bp_spot_cause(const struct bp_model *model, const struct bp_spot *spot) {
    char *text = bp_spot_statement(model, spot);
    enum bp_cause cause = cause_of(model, spot, text);
    free(text);
    return cause;
}

static bool is_most(const struct bp_model *model, const struct bp_main_line *line,
                    uint64_t samples) {
    if (samples < BP_POOL_LEAST || !(line->wall_s > MOSTLY * line->whole_s))
        return false;
    return line->wall_s > NEARLY_ALL * line->whole_s ||
           bp_spot_cause(model, line->spot) < BP_CAUSES;
}

/* The largest line so far, and its samples. */
struct search {
    struct bp_main_line line;
    uint64_t samples;
};

static double look_at(struct search *search, const struct bp_spot *spot, double wall_s,
                      uint64_t samples) {
    if (!search->line.spot || wall_s > search->line.wall_s) {
        search->line.spot = spot;
        search->line.wall_s = wall_s;
        search->samples = samples;
    }
    return wall_s;
}

/* Two views: lines of its text, with what they call of others; and lines at which its own time is,
 * whoever's they are. */
struct bp_main_line bp_model_main_line(const struct bp_model *model, uint32_t function) {
    struct search search = {0};
    double text_s = 0;
    double own_s = 0;
    for (uint32_t i = 0; i < model->lines.spot_count; i++) {
        const struct bp_spot *spot = &model->lines.spots[i];
        if (spot->function == function)
            text_s += look_at(&search, spot, spot->wall_s, spot->samples);
    }
    for (uint32_t i = 0; i < model->lines.share_count; i++) {
        const struct bp_spot_share *share = &model->lines.shares[i];
        if (share->function == function)
            own_s +=
                look_at(&search, &model->lines.spots[share->spot], share->wall_s, share->samples);
    }
    search.line.whole_s = fmax(text_s, own_s);
    if (!search.line.spot || !is_most(model, &search.line, search.samples))
        search.line.spot = NULL;
    return search.line;
}
