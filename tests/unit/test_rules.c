/* SPDX-License-Identifier: MIT
 *
 * Which rule wins, and that every kind of mistake in a rules file is one sentence.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tools/rules/rules.h"

static struct bp_error error;

static struct bp_rules *parse(const char *text) {
    char path[] = "/tmp/battprof-rules-XXXXXX";
    int fd = mkstemp(path);
    CHECK_EQUAL(write(fd, text, strlen(text)), strlen(text));
    bp_error_fini(&error);
    struct bp_rules *rules = bp_rules_new(path, &error);
    close(fd);
    unlink(path);
    return rules;
}

static enum bp_category apply(const struct bp_rules *rules, const char *library, const char *symbol,
                              uint32_t kind, const char **group) {
    struct bp_rule_subject subject = {library, symbol, "", "", kind, 0, NULL, false};
    return bp_rules_apply(rules, &subject, group);
}

static void built_in(void) {
    const char *group;
    struct bp_rules *rules = bp_rules_new(NULL, &error);
    CHECK_EQUAL(apply(rules, "libdsl.so", "f", BP_FUNC_CALL, &group), BP_DSL);
    CHECK_EQUAL(apply(rules, "libdsl-2.so.1", "f", BP_FUNC_CALL, &group), BP_DSL);
    CHECK_EQUAL(apply(rules, "libfoo.so", "f", BP_FUNC_CALL, &group), BP_FRAMEWORK);
    CHECK_EQUAL(apply(rules, "libdsl.so", "f", BP_FUNC_WAIT, &group), BP_FRAMEWORK);
    CHECK_EQUAL(apply(rules, "libdsl.so", "f", BP_FUNC_IO, &group), BP_FRAMEWORK);
    CHECK_TEXT(group, "file I/O");
    CHECK_EQUAL(apply(rules, "libdsl.so", "dsl_log_call", BP_FUNC_CALL, &group), BP_FRAMEWORK);
    CHECK_TEXT(group, "logging");
    struct bp_rule_subject python = {"",           "objects", "dsl", "/x/dsl.py",
                                     BP_FUNC_CALL, 0,         NULL,  false};
    CHECK_EQUAL(bp_rules_apply(rules, &python, &group), BP_DSL);
    python.module = "dsltools";
    CHECK_EQUAL(bp_rules_apply(rules, &python, &group), BP_FRAMEWORK);
    python.flags = BP_FUNC_CHOSEN;
    CHECK_EQUAL(bp_rules_apply(rules, &python, &group), BP_DSL);
    bp_rules_free(rules);
}

/* Module or library and function, never a part of a name alone. */
static void groups(void) {
    static const struct {
        struct bp_rule_subject subject;
        const char *group;
    } cases[] = {
        {{"", "Logger._log", "logging", "", BP_FUNC_CALL, 0, NULL, false}, "logging"},
        {{"", "info", "logging.handlers", "", BP_FUNC_CALL, 0, NULL, false}, "logging"},
        {{"", "info", "loggingly", "", BP_FUNC_CALL, 0, NULL, false}, BP_GROUP_OTHER},
        {{"", "union", "dsl", "", BP_FUNC_CALL, 0, NULL, false}, "frozenset operations"},
        {{"", "union", "networks", "", BP_FUNC_CALL, 0, NULL, false}, BP_GROUP_OTHER},
        {{"libdsl.so", "difference_tuple", "", "", BP_FUNC_CALL, 0, NULL, false},
         "tuple operations"},
        {{"libsets.so", "difference", "", "", BP_FUNC_CALL, 0, NULL, false}, BP_GROUP_OTHER},
        {{"", "fill", "dsl", "", BP_FUNC_CALL, 0, NULL, false}, BP_GROUP_DSL},
        {{"run_batt", "cudaMemcpy", "", "", BP_FUNC_CALL, BP_FUNC_CUDA, NULL, false},
         "GPU batch processing"},
        {{"libcublas.so.12", "gemm", "", "", BP_FUNC_CALL, 0, NULL, false}, "GPU batch processing"},
        {{"libcurl.so.4", "transfer", "", "", BP_FUNC_CALL, 0, NULL, false}, BP_GROUP_OTHER},
        {{"libc.so.6", "pthread_mutex_lock", "", "", BP_FUNC_WAIT, 0, NULL, false}, "lock wait"},
        {{"libc.so.6", "nanosleep", "", "", BP_FUNC_WAIT, 0, NULL, false}, "waiting"},
        {{"libc.so.6", "write", "", "", BP_FUNC_IO, 0, NULL, false}, "file I/O"},
        {{"", "_find_and_load", "importlib._bootstrap", "", BP_FUNC_CALL, 0, NULL, false},
         "module import"},
        {{"libpython3.12.so.1.0", "gc_collect_main", "", "", BP_FUNC_CALL, 0, NULL, false},
         "garbage collection"},
        {{"", "run", "threading", "", BP_FUNC_CALL, 0, NULL, false}, BP_GROUP_OTHER},
    };
    struct bp_rules *rules = bp_rules_new(NULL, &error);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *group;
        bp_rules_apply(rules, &cases[i].subject, &group);
        CHECK_TEXT(group, cases[i].group);
    }
    CHECK(bp_group_is_means("file I/O") && bp_group_is_means(BP_GROUP_OTHER));
    CHECK(!bp_group_is_means("logging") && !bp_group_is_means("painting"));
    bp_rules_free(rules);
}

static void tasks(void) {
    struct bp_rules *rules = parse("{\"tasks\": [\"batt(task_id)\", \"nvtx:task *\"], "
                                   "\"phases\": {\"data loading\": [\"load_*\", \"libx.so:get\"]}, "
                                   "\"samples\": [\"run_sample\"]}");
    CHECK(rules);
    CHECK_TEXT(bp_rules_tasks(rules), "task=batt(task_id);task=nvtx:task *;sample=run_sample;"
                                      "phase=data loading=load_*;phase=data loading=libx.so:get");
    bp_rules_free(rules);
    static const char *const wrong[] = {
        "{\"tasks\": [\"batt(7)\"]}",
        "{\"tasks\": [\"batt(\"]}",
        "{\"tasks\": [\"\"]}",
        "{\"tasks\": [\"a;b\"]}",
        "{\"tasks\": [3]}",
        "{\"tasks\": \"batt\"}",
        "{\"samples\": [\"f(1)\"]}",
        "{\"phases\": {\"\": [\"f\"]}}",
        "{\"tasks\": [\":f\"]}",
        "{\"phases\": {\"a\": \"f\"}}",
        "{\"tusks\": []}",
        "{\"tasks\": [\"f(1)x\"]}",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK(!parse(wrong[i]));
        CHECK(error.text && error.text[0] && error.status == BP_FAILED);
    }
}

static void first_match_wins(void) {
    const char *group;
    struct bp_rules *rules = parse("{\"rules\": ["
                                   "{\"symbol\": \"log_*\", \"group\": \"logging\"},"
                                   "{\"library\": \"libdsl*\", \"symbol\": \"log_*\","
                                   " \"category\": \"framework\", \"group\": \"other\"},"
                                   "{\"library\": \"libfoo*\", \"category\": \"dsl\"}]}");
    CHECK(rules);
    CHECK_EQUAL(apply(rules, "libdsl.so", "log_x", BP_FUNC_CALL, &group), BP_FRAMEWORK);
    CHECK_TEXT(group, "logging");
    CHECK_EQUAL(apply(rules, "libdsl.so", "paint", BP_FUNC_CALL, &group), BP_DSL);
    CHECK_TEXT(group, BP_GROUP_DSL);
    CHECK_EQUAL(apply(rules, "libfoo.so", "x", BP_FUNC_WAIT, &group), BP_DSL);
    bp_rules_free(rules);
}

/* What is the user's own: by a file, by what the run was given, and which of them decides. */
static void own(void) {
    const char *group;
    struct bp_rules *rules = bp_rules_new(NULL, &error);
    struct bp_rules *run = bp_rules_join(rules, "mypkg,libfoo:sym*");
    struct bp_rule_subject python = {.library = "", .symbol = "f", .module = "mypkg.a", .file = ""};
    struct bp_rule_subject other = {.library = "", .symbol = "f", .module = "dsl", .file = ""};
    python.kind = other.kind = BP_FUNC_CALL;
    CHECK_EQUAL(bp_rules_apply(rules, &python, &group), BP_FRAMEWORK);
    CHECK_EQUAL(bp_rules_apply(run, &python, &group), BP_DSL);
    CHECK_TEXT(group, BP_GROUP_DSL);
    CHECK_EQUAL(bp_rules_apply(rules, &other, &group), BP_DSL);
    CHECK_EQUAL(bp_rules_apply(run, &other, &group), BP_FRAMEWORK); /* others were named */
    CHECK_EQUAL(apply(run, "libfoo.so.1", "symbol", BP_FUNC_CALL, &group), BP_DSL);
    CHECK_EQUAL(apply(run, "libfoo.so.1", "symbol", BP_FUNC_WAIT, &group), BP_FRAMEWORK);
    CHECK_EQUAL(apply(run, "libfoo.so.1", "other", BP_FUNC_CALL, &group), BP_FRAMEWORK);
    CHECK_EQUAL(apply(run, "libfoo.so.1", "(own code)", BP_FUNC_ROOT, &group), BP_FRAMEWORK);
    CHECK_TEXT(bp_rules_dsl(run), "mypkg,libfoo:sym*");
    struct bp_rules *file = parse("{\"dsl\": [\"mypkg.b\"]}");
    CHECK(bp_rules_is_given(file));
    struct bp_rules *decided = bp_rules_join(file, "mypkg");
    python.flags = BP_FUNC_CHOSEN;
    CHECK_EQUAL(bp_rules_apply(decided, &python, &group), BP_FRAMEWORK);
    python.module = "mypkg.b";
    CHECK_EQUAL(bp_rules_apply(decided, &python, &group), BP_DSL);
    char *text = bp_rules_print(file);
    struct bp_rules *again = bp_rules_parse(text, "kept", &error);
    CHECK_TEXT(bp_rules_dsl(again), "mypkg.b");
    free(text);
    bp_rules_free(again);
    bp_rules_free(decided);
    bp_rules_free(file);
    bp_rules_free(run);
    bp_rules_free(rules);
}

static void mistakes(void) {
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"", "line 1: not JSON"},
        {"{\"rules\": [\n{]}", "line 2: not JSON"},
        {"[]", "no list of rules"},
        {"{\"rules\": {}}", "no list of rules"},
        {"{\"rule\": []}", "unknown key \"rule\""},
        {"{\"dsl\": \"mypkg\"}", "dsl is a list"},
        {"{\"dsl\": [5]}", "write modules, files"},
        {"{\"dsl\": [\"a,b\"]}", "write modules, files"},
        {"{\"dsl\": [\"\"]}", "write modules, files"},
        {"{\"rules\": [5]}", "rule 1 is not an object"},
        {"{\"rules\": [{\"librari\": \"x\"}]}", "did you mean \"library\"?"},
        {"{\"rules\": [{\"zzzzzzzzz\": \"x\"}]}", "a rule has the keys library, symbol"},
        {"{\"rules\": [{\"library\": 5}]}", "must be a text"},
        {"{\"rules\": [{\"library\": \"x\", \"category\": \"Dsl\"}]}",
         "allowed are dsl, framework"},
        {"{\"rules\": [{\"category\": \"dsl\"}]}", "matches everything"},
        {"{\"rules\": [{\"library\": \"x\"}]}", "says nothing"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bp_rules *rules = parse(cases[i].text);
        CHECK(!rules);
        CHECK_EQUAL(error.status, BP_FAILED);
        if (!strstr(error.text, cases[i].says))
            CHECK_TEXT(error.text, cases[i].says);
    }
    CHECK(!bp_rules_new("/no/such", &error));
}

int main(void) {
    RUN(built_in);
    RUN(groups);
    RUN(first_match_wins);
    RUN(tasks);
    RUN(own);
    RUN(mistakes);
    return test_result();
}
