/* SPDX-License-Identifier: MIT
 *
 * How the time of pools is split among lines, which C function names the interpreter's work, and
 * which source text may be shown.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tools/base/memory.h"
#include "tools/base/source.h"
#include "tools/model/line/internal.h"

enum { EVAL, REPR, MALLOC, COLLECT, VECTORCALL, SORTED, COMPARE, STATIC, EXTENSION, FUNCTIONS };

static struct bp_function functions[FUNCTIONS] = {
    {.name = "_PyEval_EvalFrameDefault", .library = "python3.12"},
    {.name = "PyObject_Repr", .library = "python3.12"},
    {.name = "PyObject_Malloc", .library = "python3.12"},
    {.name = "gc_collect_main", .library = "python3.12"},
    {.name = "PyObject_Vectorcall", .library = "python3.12"},
    {.name = "builtin_sorted", .library = "python3.12"},
    {.name = "tuplerichcompare", .library = "python3.12"},
    {.name = "(interpreter)", .library = "python3.12"},
    {.name = "scan_once", .library = "_json.cpython-312-x86_64-linux-gnu.so"},
};

static struct bp_model model = {.functions = functions, .function_count = FUNCTIONS};

/* The work of a stack below a Python function, from the outermost C function to the leaf. */
static enum bp_line_work work_of(const int *stack, uint32_t count, uint32_t *function) {
    struct bp_line_reading reading = {.model = &model};
    struct bp_frame list[8] = {{.parent = BP_NO_FRAME}};
    struct bp_stack_frame frames[8] = {{BP_NO_FUNCTION, BP_CODE_PYTHON}};
    struct bp_profile_thread thread = {.frames = list};
    for (uint32_t i = 0; i < count; i++) {
        list[i + 1].parent = i;
        frames[i + 1].function = (uint32_t)stack[i];
        frames[i + 1].code = stack[i] == EXTENSION ? BP_CODE_PROGRAM : BP_CODE_INTERPRETER;
    }
    enum bp_line_work kind = bp_work_find(&reading, &thread, frames, count, function);
    free(reading.works);
    return kind;
}

#define WORK_OF(function, ...)                                                                     \
    work_of((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int), function)

static void words_are_what_was_asked_for(void) {
    uint32_t function;
    CHECK(work_of(NULL, 0, &function) == BP_WORK_BYTECODE);
    CHECK(WORK_OF(&function, REPR, MALLOC) == BP_WORK_STRINGS); /* what was asked for */
    CHECK(function == BP_NO_FUNCTION);
    CHECK(WORK_OF(&function, VECTORCALL, STATIC, REPR, STATIC) == BP_WORK_STRINGS);
    CHECK(WORK_OF(&function, REPR, MALLOC, COLLECT, STATIC) == BP_WORK_GC);
    CHECK(WORK_OF(&function, VECTORCALL) == BP_WORK_CALLS);
    CHECK(WORK_OF(&function, STATIC) == BP_WORK_OTHER);
    CHECK(WORK_OF(&function, VECTORCALL, SORTED, STATIC, COMPARE) == BP_WORK_BUILTIN);
    CHECK(function == SORTED);
    CHECK(WORK_OF(&function, VECTORCALL, EXTENSION, REPR) == BP_WORK_EXTENSION);
    CHECK(function == EXTENSION);
}

static void check_label(const struct bp_work *work, const char *expected) {
    char *label = bp_work_label(&model, work);
    CHECK(strcmp(label, expected) == 0);
    free(label);
}

static void labels_name_functions(void) {
    struct bp_work work = {.kind = BP_WORK_BUILTIN, .function = SORTED, .s = 2};
    check_label(&work, "sorted()");
    work = (struct bp_work){.kind = BP_WORK_EXTENSION, .function = EXTENSION};
    check_label(&work, "scan_once in _json");
    work = (struct bp_work){.kind = BP_WORK_STRINGS, .function = BP_NO_FUNCTION, .s = 3};
    check_label(&work, "building strings");
}

/* One line, with so many samples in each of two pools. */
static void put(struct bp_line_reading *reading, uint32_t line, uint64_t first, uint64_t second) {
    struct bp_line_key key = {REPR, 0, line};
    uint32_t number = bp_keys_put(&reading->line_table, &key, sizeof(key));
    *BP_PLACE(reading->lines, number) = key;
    for (uint32_t kind = BP_ITEM_SELF; kind <= BP_ITEM_TOTAL; kind++) {
        struct bp_line_item item = {.kind = kind, .subject = number, .function = BP_NO_FUNCTION};
        uint32_t place = bp_keys_put(&reading->item_table, &item, sizeof(item));
        *BP_PLACE(reading->items, place) = item;
        for (uint32_t pool = 0; pool < 2; pool++) {
            uint64_t count = pool ? second : first;
            uint32_t cell_key[2] = {place, pool};
            uint32_t cell = bp_keys_put(&reading->cell_table, cell_key, sizeof(cell_key));
            *BP_PLACE(reading->cells, cell) =
                (struct bp_line_cell){place, pool, count, 0.004 * (double)count};
        }
    }
}

/* 10 s, of which 2 s were off the CPU, in 100 samples; a wait of 50 s with 10 samples. */
static void pools_are_split(void) {
    static const char *files[] = {"a.py"};
    static const char *directories[] = {""};
    struct bp_pool list[] = {
        {.function = REPR,
         .samples = 100,
         .weight = 0.4,
         .self_s = 10,
         .wall_s = 5,
         .blocked_s = 2},
        {.function = MALLOC, .samples = 10, .weight = 0.04, .self_s = 50, .wall_s = 0},
    };
    struct bp_pools pools = {.pools = list, .count = 2};
    struct bp_line_reading reading = {.model = &model};
    bp_keys_put(&reading.file_table, "a.py", 4);
    *BP_PLACE(reading.files, 0) = files[0];
    *BP_PLACE(reading.directories, 0) = directories[0];
    functions[MALLOC].kind = BP_FUNC_WAIT;
    put(&reading, 6, 75, 10);
    put(&reading, 9, 25, 0);
    bp_line_finish(&reading, &pools);
    functions[MALLOC].kind = 0;
    const struct bp_function_lines *of = bp_model_lines(&model, REPR);
    CHECK(of->count == 2);
    const struct bp_source_line *first = &of->lines[0], *second = &of->lines[1];
    CHECK(first->line == 6 && second->line == 9);
    CHECK_TEXT(first->file, "a.py");
    CHECK(fabs(first->self_s - 6.04) < 1e-9 && fabs(second->self_s - 2) < 1e-9);
    CHECK(fabs(of->self_s - 8.04) < 1e-9);
    CHECK(fabs(second->self_wall_s - 1) < 1e-9);
    CHECK(first->self_samples == 85 && second->total_samples == 25);
    double p = 26.0 / 102;
    CHECK(fabs(second->self_error_s - 1.96 * 8 * sqrt(p * (1 - p) / 100)) < 0.01);
    CHECK(bp_model_lines(&model, FUNCTIONS + 7)->count == 0);
    bp_model_free_lines(&model);
}

static const char *show(uint64_t began_ns, const char *path, uint32_t line, char *text,
                        size_t size) {
    struct bp_sources *sources = bp_sources_new(began_ns);
    const char *source = bp_sources_line(sources, "/tmp", path, line);
    snprintf(text, size, "%s", source ? source : "(none)");
    bp_sources_free(sources);
    return text;
}

static void changed_sources_are_not_shown(void) {
    char path[] = "/tmp/battprof-lines-XXXXXX";
    char text[100];
    int fd = mkstemp(path);
    uint64_t now_ns = (uint64_t)time(NULL) * 1000000000u;
    CHECK(fd >= 0 && write(fd, "first\n\n  a\tb\033[1m \n", 18) == 18);
    CHECK(strcmp(show(now_ns + 5000000000u, path, 1, text, sizeof(text)), "first") == 0);
    CHECK(strcmp(show(now_ns + 5000000000u, path + 5, 1, text, sizeof(text)), "first") == 0);
    CHECK(strcmp(show(0, path, 3, text, sizeof(text)), "a b [1m") == 0);
    CHECK(strcmp(show(0, path, 2, text, sizeof(text)), "(none)") == 0);
    CHECK(strcmp(show(0, path, 9, text, sizeof(text)), "(none)") == 0);
    CHECK(strcmp(show(now_ns - 5000000000u, path, 1, text, sizeof(text)), "(none)") == 0);
    CHECK(strcmp(show(0, "<string>", 1, text, sizeof(text)), "(none)") == 0);
    close(fd);
    unlink(path);
}

int main(void) {
    RUN(words_are_what_was_asked_for);
    RUN(labels_name_functions);
    RUN(pools_are_split);
    RUN(changed_sources_are_not_shown);
    return test_result();
}
