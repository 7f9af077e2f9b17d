/* SPDX-License-Identifier: MIT
 *
 * What a forked child finds at the addresses of its parent's file, whatever the parent writes there
 * from the snapshot on: with a file that the parent makes alone, and with one so large that the
 * child completes it; with a file and without.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/header.h"
#include "profile/writer.h"
#include "tests/unit/builder.h"
#include "tests/unit/test.h"

struct parts {
    struct bp_node *nodes; /* of thread 0, which forks */
    struct bp_entry *own, *other;
    struct bp_thread *threads;
    const char *text;
    uint32_t count; /* of nodes */
};

static void fill(struct bp_writer *writer, struct parts *parts, uint32_t count) {
    struct bp_chunk *threads = bp_writer_chunk(writer, BP_THREADS, BP_NO_THREAD, 0, 2);
    struct bp_chunk *nodes = bp_writer_chunk(writer, BP_NODES, 0, 0, count);
    struct bp_chunk *others = bp_writer_chunk(writer, BP_NODES, 1, 0, 4);
    struct bp_chunk *own = bp_writer_chunk(writer, BP_ENTRIES, 0, 0, 63);
    struct bp_chunk *other = bp_writer_chunk(writer, BP_ENTRIES, 1, 0, 63);
    uint32_t at = bp_writer_string(writer, "kept");
    *parts = (struct parts){bp_chunk_items(nodes),
                            bp_chunk_items(own),
                            bp_chunk_items(other),
                            bp_chunk_items(threads),
                            (char *)bp_chunk_items(writer->open[BP_STRINGS]) + at,
                            count};
    writer->open[BP_THREADS] = threads;
    for (uint32_t i = 0; i < count; i++)
        parts->nodes[i] = (struct bp_node){.parent = i - 1, .func = i, .index = i, .self = 7};
    nodes->count = count;
    others->count = 4;
    threads->count = 2;
    own->count = own->capacity;
    other->count = other->capacity;
    parts->own[62].ret = parts->other[62].ret = parts->threads[0].v = parts->threads[1].v = 42;
}

/* What its threads may write after a fork, before the child has moved. */
static void disturb(struct parts *parts) {
    parts->own[62].ret = parts->other[62].ret = parts->threads[0].v = 43;
    parts->nodes[parts->count - 1].self = 8;
}

static int is_right(const struct parts *parts) {
    const struct bp_node *last = &parts->nodes[parts->count - 1];
    return parts->own[62].ret == 42 && parts->other[62].ret == 42 && parts->threads[0].v == 42 &&
           last->parent == parts->count - 2 && last->func == parts->count - 1 && last->self == 0 &&
           last->min == UINT64_MAX && strcmp(parts->text, "kept") == 0;
}

/* 0: the child is right, and what it writes does not reach the parent. */
static int run_child(struct bp_writer *writer, struct parts *parts, const char *path) {
    int error = path ? bp_writer_fork(writer, path) : bp_writer_detach(writer, -28);
    int chunks = 0;
    for (struct bp_chunk *c = writer->chunks; c; c = (struct bp_chunk *)c->links[0])
        chunks++;
    int right = is_right(parts);
    parts->own[62].ret = parts->other[62].ret = parts->nodes[0].self = 99;
    bp_writer_after_fork(writer);
    bp_header_publish(writer->header);
    return error ? 1 : chunks != 4 ? 2 : !right ? 3 : 0; /* threads, nodes, entries, strings */
}

static void fork_with(uint32_t nodes, int has_file) {
    struct bp_writer writer = {0};
    struct parts parts;
    char path[] = "/tmp/battprof-forked-XXXXXX", child[sizeof path + 6];
    close(mkstemp(path));
    snprintf(child, sizeof child, "%s-child", path);
    unlink(path);
    CHECK_EQUAL(bp_writer_create(&writer, path), 0);
    builder_begin_header(writer.header);
    fill(&writer, &parts, nodes);
    for (int i = 0; i < 2; i++) { /* the second time in the memory of the first */
        parts.own[62].ret = parts.other[62].ret = parts.threads[0].v = 42;
        parts.nodes[nodes - 1].self = 7;
        CHECK_EQUAL(bp_writer_before_fork(&writer, 0), 0);
        disturb(&parts);
        pid_t pid = fork();
        if (pid == 0)
            _exit(run_child(&writer, &parts, has_file ? child : NULL));
        int status = -1;
        waitpid(pid, &status, 0);
        bp_writer_after_fork(&writer);
        CHECK_EQUAL(status, 0);
        CHECK_EQUAL(parts.own[62].ret, 43);
        CHECK_EQUAL(parts.nodes[nodes - 1].self, 8);
        CHECK_EQUAL(parts.nodes[0].self, 7);
        unlink(child);
    }
    unlink(path);
}

static void small_file(void) {
    fork_with(8, 1);
}

static void large_file(void) {
    fork_with(1000, 1);
}

static void without_a_file(void) {
    fork_with(8, 0);
    fork_with(1000, 0);
}

int main(void) {
    RUN(small_file);
    RUN(large_file);
    RUN(without_a_file);
    return test_result();
}
