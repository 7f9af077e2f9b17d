/* SPDX-License-Identifier: MIT
 *
 * The parts of run_batt below its command line: tasks from JSON and generated, candidates, and the
 * C side of the DSL that the language does not reach. Takes the folder of sample tasks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dsl/pipeline.h"
#include "tests/dsl/check.h"

static bool lists_equal(const struct task_list *a, const struct task_list *b, int n) {
    for (int k = 0; k < n; k++) {
        const struct task *x = &a->task[k], *y = &b->task[k];
        if (strcmp(x->id, y->id) || x->train != y->train || x->tests != y->tests)
            return false;
        for (int m = 0; m < x->train + x->tests; m++)
            if (!task_grid_equal(&x->sample[m].input, &y->sample[m].input) ||
                !task_grid_equal(&x->sample[m].output, &y->sample[m].output))
                return false;
    }
    return true;
}

static void test_generation(void) {
    struct task_list all = {0}, again = {0}, few = {0}, other = {0};
    CHECK(!task_list_generate(&all, 0, 20, 1), "generating 20");
    CHECK(!task_list_generate(&again, 0, 20, 1), "generating 20 again");
    CHECK(!task_list_generate(&few, 5, 3, 1), "generating 3 of them");
    CHECK(!task_list_generate(&other, 0, 20, 2), "generating with another seed");
    CHECK(lists_equal(&all, &again, 20), "the same seed gives the same tasks");
    struct task_list part = {.n = 3, .task = all.task + 5};
    CHECK(lists_equal(&part, &few, 3), "a task depends on its number only");
    CHECK(!lists_equal(&all, &other, 20), "another seed gives other tasks");
    for (int k = 0; k < all.n; k++)
        CHECK(strspn(all.task[k].id, "0123456789abcdef") == 8, "id %s", all.task[k].id);
    task_list_fini(&all);
    task_list_fini(&again);
    task_list_fini(&few);
    task_list_fini(&other);
}

static void test_sample_data(const char *folder) {
    struct task_list list = {0};
    char error[TASK_ERROR_MAX] = "";
    CHECK(!task_list_load(&list, folder, error), "%s", error);
    CHECK(list.n >= 3, "%d tasks in %s", list.n, folder);
    for (int k = 0; k < list.n; k++) {
        struct candidate_list candidates;
        CHECK(!candidates_make(&candidates, &list.task[k]), "candidates of %s", list.task[k].id);
        CHECK(candidates.n > 5, "only %d candidates for %s", candidates.n, list.task[k].id);
        candidates_fini(&candidates);
    }
    task_list_fini(&list);
}

static void write_text(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    fputs(text, out);
    fclose(out);
}

static void remove_text(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    unlink(path);
}

/* The competition's layout: all tasks in one file, the tests' outputs in another. */
static void test_challenges(void) {
    char folder[] = "/tmp/dsl_test_XXXXXX", error[TASK_ERROR_MAX] = "";
    struct task_list list = {0};
    CHECK(mkdtemp(folder), "mkdtemp");
    write_text(folder, "a_challenges.json",
               "{\"one\": {\"train\": [{\"input\": [[1]], \"output\": [[2]]}],"
               " \"test\": [{\"input\": [[3, 4]]}]}}");
    CHECK(!task_list_load(&list, folder, error), "%s", error);
    CHECK(list.n == 1 && list.task[0].sample[1].output.height == 0, "a test without output");
    task_list_fini(&list);
    write_text(folder, "a_solutions.json", "{\"one\": [[[5, 6]]]}");
    CHECK(!task_list_load(&list, folder, error), "%s", error);
    CHECK(list.task[0].sample[1].output.width == 2, "the solution goes to its test");
    task_list_fini(&list);
    remove_text(folder, "a_challenges.json");
    remove_text(folder, "a_solutions.json");
    rmdir(folder);
}

static void test_bad_data(void) {
    static const char *const bad[] = {
        "{\"train\": [], \"test\": []}",
        "{\"train\": [{\"input\": [[1]], \"output\": [[10]]}], \"test\": [{\"input\": [[1]]}]}",
        "{\"train\": [{\"input\": [[1], [1, 2]], \"output\": [[1]]}],"
        " \"test\": [{\"input\": [[1]]}]}",
        "{\"train\": [{\"input\": [[1]]}], \"test\": [{\"input\": [[1]]}]}",
        "{\"train\": [{\"input\": \"x\", \"output\": [[1]]}], \"test\": [{\"input\": [[1]]}]}",
        "{\"one\": 3}",
        "[",
    };
    char folder[] = "/tmp/dsl_test_XXXXXX";
    CHECK(mkdtemp(folder), "mkdtemp");
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        struct task_list list = {0};
        char error[TASK_ERROR_MAX] = "";
        write_text(folder, "bad.json", bad[k]);
        CHECK(task_list_load(&list, folder, error) < 0, "accepted: %s", bad[k]);
        CHECK(*error, "no message for %s", bad[k]);
        task_list_fini(&list);
    }
    remove_text(folder, "bad.json");
    rmdir(folder);
}

static void test_values(void) {
    struct dsl_arena *arena = dsl_arena_new();
    const uint8_t cells[] = {1, 1, 2, 0};
    const struct dsl_grid *grid = dsl_grid_new(arena, 2, 2, cells);
    const struct dsl_tuple *set = objects(arena, grid, 1, 0, 0);
    CHECK(set->n == 3 && set->is_set, "%d objects", set->n);
    CHECK(size(arena, set->item[2]) == 2, "the largest object is last in a set");
    CHECK(colorcount(arena, value_grid(grid), 1) == 2, "two cells of colour 1");
    CHECK(color(arena, set->item[2].object) == 1, "colour of an object");
    CHECK(switch_(arena, grid, 1, 2)->cell[2] == 1, "switch");
    CHECK(dsl_connect(arena, (struct dsl_pair){0, 0}, (struct dsl_pair){0, 9})->n == 10, "connect");
    CHECK(equality(arena, value_grid(grid), hmirror(arena, hmirror(arena, value_grid(grid)))),
          "a mirror twice");
    CHECK(!dsl_arena_error(arena), "%s", dsl_arena_error(arena));
    CHECK(!crop(arena, grid, (struct dsl_pair){1, 1}, (struct dsl_pair){2, 1}), "crop outside");
    CHECK(!strcmp(dsl_arena_error(arena), "crop: outside of the grid"), "the first error stays");
    dsl_arena_free(arena);
}

int main(int argc, char **argv) {
    CHECK(argc == 2, "usage: %s FOLDER", argv[0]);
    test_values();
    test_generation();
    test_challenges();
    test_bad_data();
    if (argc == 2)
        test_sample_data(argv[1]);
    return check_status;
}
