/* SPDX-License-Identifier: MIT
 *
 * What a file says about tasks: what does not exist, what was running when the process ended, nodes
 * as formats before 1.2 had them, and that a forked child begins without its parent's tasks.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/header.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "tests/unit/builder.h"
#include "tests/unit/test.h"

/* A thread with a root and two nodes, of a process of one second; room for four tasks. */
static struct bp_task *build(struct builder *builder) {
    builder_init(builder);
    size_t threads = builder_chunk(builder, BP_THREADS, BP_NO_THREAD, 1, 1);
    size_t nodes = builder_chunk(builder, BP_NODES, 0, 3, 3);
    struct bp_thread *thread = builder_item(builder, threads, 0);
    thread->state = BP_THREAD_LIVE;
    thread->current = builder_address(builder, threads, 0) + offsetof(struct bp_thread, root);
    for (uint32_t i = 0; i < 3; i++)
        *(struct bp_node *)builder_item(builder, nodes, i) =
            (struct bp_node){.parent = i ? i - 1 : BP_NO_NODE,
                             .func = i ? BUILDER_FUNC + i - 1 : 0,
                             .first = 7 * i,
                             .index = i};
    builder_names(builder);
    size_t details = builder_chunk(builder, BP_TASK_NODES, BP_NO_THREAD, 4, 4);
    for (uint32_t i = 0; i < 4; i++)
        *(struct bp_task_node *)builder_item(builder, details, i) =
            (struct bp_task_node){.node = i < 3 ? i : 99, .calls = i, .self = 10 * i};
    size_t chunk = builder_chunk(builder, BP_TASKS, BP_NO_THREAD, 4, 4);
    struct bp_task *tasks = builder_item(builder, chunk, 0);
    for (uint32_t i = 0; i < 4; i++)
        tasks[i] = (struct bp_task){.node = 1,
                                    .func = BUILDER_FUNC,
                                    .id = 11,
                                    .flags = BP_TASK_DETAILED,
                                    .parent = BP_NO_TASK,
                                    .start = 1000000000,
                                    .end = 1500000000};
    return tasks;
}

static void details_that_do_not_exist(void) {
    struct builder builder;
    struct bp_task *tasks = build(&builder);
    tasks[0].detail_count = 2;
    tasks[1].first_detail = 2; /* its second one names no node */
    tasks[1].detail_count = 2;
    tasks[2].first_detail = UINT32_MAX;
    tasks[2].detail_count = UINT32_MAX;
    tasks[3].detail_count = 1; /* one more than all of them together */
    struct bp_profile *profile = builder_read(&builder);
    CHECK_EQUAL(profile->task_count, 4);
    CHECK_EQUAL(profile->tasks[0].detail_count, 2);
    CHECK_EQUAL(profile->task_nodes[profile->tasks[0].first_detail + 1].self, 10);
    for (uint32_t i = 1; i < 4; i++) {
        CHECK_EQUAL(profile->tasks[i].detail_count, 0);
        CHECK(!(profile->tasks[i].flags & BP_TASK_DETAILED));
    }
    CHECK_TEXT(bp_profile_string(profile, profile->tasks[0].id), "f0");
    CHECK(profile->missing[0] != 0);
    bp_profile_free(profile);
    builder_fini(&builder);
}

static void contexts_that_do_not_exist(void) {
    struct builder builder;
    struct bp_task *tasks = build(&builder);
    tasks[0].parent = 0;
    tasks[1].thread = 5;
    tasks[1].parent = 0;
    tasks[2].node = 3;
    tasks[2].func = 1000;
    tasks[3].end = 1; /* before its start */
    struct bp_profile *profile = builder_read(&builder);
    CHECK_EQUAL(profile->tasks[0].parent, BP_NO_TASK);
    CHECK_EQUAL(profile->tasks[1].thread, BP_NO_THREAD);
    CHECK_EQUAL(profile->tasks[1].node, BP_NO_NODE);
    CHECK_EQUAL(profile->tasks[1].parent, 0);
    CHECK_EQUAL(profile->tasks[2].node, BP_NO_NODE);
    CHECK_EQUAL(profile->tasks[2].func, BP_NO_FUNC);
    CHECK_EQUAL(profile->tasks[3].end, profile->tasks[3].start);
    bp_profile_free(profile);
    builder_fini(&builder);
}

/* The process exited at 2 s; then the same one killed, last seen at 1.7 s. */
static void unfinished(void) {
    struct builder builder;
    struct bp_task *tasks = build(&builder);
    tasks[3].end = 0;
    struct bp_profile *profile = builder_read(&builder);
    CHECK_EQUAL(profile->tasks[3].end, 2000000000);
    CHECK(profile->tasks[3].flags & BP_TASK_UNFINISHED);
    CHECK(!(profile->tasks[2].flags & BP_TASK_UNFINISHED));
    bp_profile_free(profile);
    builder_header(&builder)->state = BP_RUNNING;
    builder_header(&builder)->end = 0;
    builder_header(&builder)->last.ticks = 1700000000;
    profile = builder_read(&builder);
    CHECK_EQUAL(profile->tasks[3].end, 1700000000);
    bp_profile_free(profile);
    builder_fini(&builder);
}

/* The thread is in f1, called by f0, the task, called by the root: what was there before the task
 * began is in the thread's own chunk. */
static void unfinished_details(void) {
    struct builder builder;
    struct bp_task *tasks = build(&builder);
    tasks[3].end = 0;
    tasks[3].flags = BP_TASK_BASED;
    tasks[3].start = 1400000000;
    size_t base = builder_chunk(&builder, BP_TASK_NODES, 0, 3, 3);
    size_t entries = builder_chunk(&builder, BP_ENTRIES, 0, 2, 2);
    size_t threads = BP_PAGE, nodes = BP_PAGE + builder_head(&builder, BP_PAGE)->size;
    struct bp_thread *thread = builder_item(&builder, threads, 0);
    uint64_t root = thread->current;
    for (uint32_t i = 1; i < 3; i++) {
        struct bp_node *node = builder_item(&builder, nodes, i);
        node->self = 500 * i;
        node->histogram[10] = 5 * i;
        *(struct bp_task_node *)builder_item(&builder, base, i) =
            (struct bp_task_node){.node = i, .calls = 4 * i, .self = 400 * i};
    }
    *(struct bp_entry *)builder_item(&builder, entries, 0) =
        (struct bp_entry){.start = 1400000000,
                          .child = 1000,
                          .parent = root,
                          .node = builder_address(&builder, nodes, 1)};
    *(struct bp_entry *)builder_item(&builder, entries, 1) =
        (struct bp_entry){.start = 1900000000,
                          .parent = builder_address(&builder, entries, 0),
                          .node = builder_address(&builder, nodes, 2)};
    thread->current = builder_address(&builder, entries, 1);
    struct bp_profile *profile = builder_read(&builder);
    const struct bp_task *task = &profile->tasks[3];
    CHECK_EQUAL(task->detail_count, 2);
    CHECK(task->flags & BP_TASK_DETAILED);
    const struct bp_task_node *details = &profile->task_nodes[task->first_detail];
    CHECK_EQUAL(details[0].node, 1);
    CHECK_EQUAL(details[0].calls, 1);
    CHECK_EQUAL(details[0].self, 100 + 500000000 - 1000);
    CHECK_EQUAL(details[1].calls, 2);
    CHECK_EQUAL(details[1].self, 200 + 100000000);
    bp_profile_free(profile);
    builder_fini(&builder);
}

/* Nodes of 832 bytes, without the duration of the first call. */
static void shorter_nodes(void) {
    struct builder builder;
    build(&builder);
    struct bp_profile *profile = builder_read(&builder);
    CHECK_EQUAL(profile->threads[0].nodes[2].first, 14);
    bp_profile_free(profile);
    for (size_t at = BP_PAGE; at < builder.image.size; at += builder_head(&builder, at)->size)
        if (builder_head(&builder, at)->kind == BP_NODES) {
            char *items = builder_item(&builder, at, 0);
            for (uint32_t i = 1; i < 3; i++)
                memmove(items + 832 * i, items + sizeof(struct bp_node) * i, 832);
            builder_head(&builder, at)->item_size = 832;
        }
    profile = builder_read(&builder);
    CHECK_TEXT(profile->missing, "");
    CHECK_EQUAL(profile->threads[0].node_count, 3);
    CHECK_EQUAL(profile->threads[0].nodes[2].parent, 1);
    CHECK_EQUAL(profile->threads[0].nodes[2].first, 0);
    bp_profile_free(profile);
    builder_fini(&builder);
}

/* The variables of the environment are the child's too. */
static void past_a_fork(void) {
    struct bp_writer writer = {0};
    char directory[] = "/tmp/battprof-tasks-XXXXXX";
    char parent[64], child[64];
    uint32_t index;
    CHECK(mkdtemp(directory) != NULL);
    snprintf(parent, sizeof(parent), "%s/parent.bp", directory);
    snprintf(child, sizeof(child), "%s/child.bp", directory);
    CHECK_EQUAL(bp_writer_create(&writer, parent), 0);
    builder_begin_header(writer.header);
    struct bp_task *task = bp_writer_item(&writer, BP_TASKS, &index);
    task->id = bp_writer_string(&writer, "1b59e163");
    bp_writer_commit(&writer, BP_TASKS);
    struct bp_variable *variable = bp_writer_item(&writer, BP_VARIABLES, &index);
    variable->name = bp_writer_string(&writer, "RANK");
    bp_writer_commit(&writer, BP_VARIABLES);
    CHECK_EQUAL(bp_writer_before_fork(&writer, 0), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int failed = bp_writer_fork(&writer, child);
        bp_header_publish(writer.header);
        _exit(failed ? 1 : 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    bp_writer_after_fork(&writer);
    CHECK_EQUAL(status, 0);
    struct bp_profile *profile = builder_take(parent);
    CHECK_EQUAL(profile->task_count, 1);
    CHECK_TEXT(bp_profile_string(profile, profile->tasks[0].id), "1b59e163");
    CHECK(profile->tasks[0].flags & BP_TASK_UNFINISHED);
    bp_profile_free(profile);
    profile = builder_take(child);
    CHECK_EQUAL(profile->task_count, 0);
    CHECK_EQUAL(profile->variable_count, 1);
    CHECK_TEXT(bp_profile_string(profile, profile->variables[0].name), "RANK");
    bp_profile_free(profile);
    rmdir(directory);
}

int main(void) {
    RUN(details_that_do_not_exist);
    RUN(contexts_that_do_not_exist);
    RUN(unfinished);
    RUN(unfinished_details);
    RUN(shorter_nodes);
    RUN(past_a_fork);
    return test_result();
}
