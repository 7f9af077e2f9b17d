/* SPDX-License-Identifier: MIT
 *
 * The reader on files that are right in an unusual way, and on wrong ones. What may not happen at
 * all is left to tests/fuzz; here it is what comes out.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/reader.h"
#include "tests/unit/builder.h"
#include "tests/unit/test.h"

static struct builder builder;
static struct bp_read_error error;

static struct bp_profile *read_it(int *result) {
    struct bp_profile *profile = NULL;
    int fd = builder_open(&builder);
    int got = bp_profile_read_fd(fd, &profile, &error);
    close(fd);
    if (result)
        *result = got;
    else
        CHECK_EQUAL(got, 0);
    return profile;
}

/* One thread with `nodes` nodes in a chain below the root, and room for entries. */
static size_t add_thread(uint32_t nodes, size_t *node_chunk, size_t *entry_chunk) {
    size_t threads = builder_chunk(&builder, BP_THREADS, BP_NO_THREAD, 1, 4);
    *node_chunk = builder_chunk(&builder, BP_NODES, 0, nodes, nodes + 2);
    *entry_chunk = builder_chunk(&builder, BP_ENTRIES, 0, 8, 8);
    struct bp_thread *thread = builder_item(&builder, threads, 0);
    thread->tid = 100;
    thread->state = BP_THREAD_LIVE;
    thread->start = 1000000000;
    thread->root.start = thread->start;
    thread->current = builder_address(&builder, threads, 0) + offsetof(struct bp_thread, root);
    for (uint32_t i = 0; i < nodes; i++) {
        struct bp_node *node = builder_item(&builder, *node_chunk, i);
        node->parent = i ? i - 1 : BP_NO_NODE;
        node->func = i ? BUILDER_FUNC + (i - 1) % BUILDER_FUNCS : 0;
    }
    return threads;
}

static void open_entry(size_t threads, size_t nodes, size_t entries, uint32_t index, uint32_t node,
                       uint64_t parent) {
    struct bp_entry *entry = builder_item(&builder, entries, index);
    struct bp_thread *thread = builder_item(&builder, threads, 0);
    entry->start = 1000000000 + 1000 * (index + 1);
    entry->parent = parent;
    entry->node = builder_address(&builder, nodes, node);
    thread->current = builder_address(&builder, entries, index);
}

static void no_chunks(void) {
    struct bp_profile *profile = read_it(NULL);
    CHECK_EQUAL(profile->thread_count, 0);
    CHECK_TEXT(profile->missing, "");
    CHECK_TEXT(bp_profile_string(profile, 77), "");
    bp_profile_free(profile);
}

static void refuses(void) {
    int result;
    struct bp_header *header = builder_header(&builder);
    header->major = 2;
    CHECK(!read_it(&result));
    CHECK_EQUAL(result, -EPROTO);
    CHECK_TEXT(error.text, "written by battprof format 2, this one reads 1: update battprof");
    header->major = 1;
    header->clock = 9;
    CHECK(!read_it(&result));
    CHECK_EQUAL(result, -EBADMSG);
    header->clock = BP_CLOCK_TSC;
    header->header_size = 4095;
    CHECK(!read_it(&result));
    CHECK_EQUAL(result, -EBADMSG);
    header->header_size = BP_PAGE;
    header->used = 12;
    CHECK(!read_it(&result));
    CHECK_EQUAL(result, -EBADMSG);
    header->magic[0] = 'b';
    CHECK(!read_it(&result));
    CHECK_EQUAL(result, -ENOMSG);
    builder.image.size = 0;
    CHECK(!read_it(&result));
    CHECK_EQUAL(result, -ENOMSG);
    CHECK_TEXT(error.text, "empty file, not a profile");
    CHECK_EQUAL(bp_profile_read("/", NULL, &error), -ENOMSG);
    CHECK_EQUAL(bp_profile_read("/no/such", NULL, &error), -ENOENT);
}

static void longer_items_and_unknown_chunks(void) {
    size_t nodes, entries;
    builder_names(&builder);
    size_t strange = builder_chunk(&builder, BP_REAPED, BP_NO_THREAD, 1, 1);
    builder_head(&builder, strange)->kind = 4711;
    add_thread(2, &nodes, &entries);
    struct bp_chunk *head = builder_head(&builder, nodes);
    struct bp_node copy = *(struct bp_node *)builder_item(&builder, nodes, 1);
    head->item_size += 64;
    copy.self = 42;
    memcpy(builder_item(&builder, nodes, 1), &copy, sizeof(copy));
    struct bp_profile *profile = read_it(NULL);
    CHECK_EQUAL(profile->thread_count, 1);
    CHECK_EQUAL(profile->threads[0].node_count, 2);
    CHECK_EQUAL(profile->threads[0].nodes[1].self, 42);
    CHECK_TEXT(profile->missing, "");
    CHECK_TEXT(bp_profile_string(profile, profile->funcs[BUILDER_FUNC + 1].name), "f1");
    bp_profile_free(profile);
}

static void several_chunks_of_a_kind(void) {
    size_t nodes, entries;
    builder_names(&builder);
    add_thread(3, &nodes, &entries); /* room for 5 */
    size_t more = builder_chunk(&builder, BP_NODES, 0, 2, 4);
    builder_head(&builder, more)->first = 5;
    for (uint32_t i = 0; i < 2; i++)
        *(struct bp_node *)builder_item(&builder, more, i) =
            (struct bp_node){.parent = 2, .func = BUILDER_FUNC, .self = 7 + i};
    struct bp_profile *profile = read_it(NULL);
    CHECK_EQUAL(profile->threads[0].node_count, 7);
    CHECK_EQUAL(profile->threads[0].nodes[6].self, 8);
    CHECK_EQUAL(profile->threads[0].nodes[6].parent, 2);
    bp_profile_free(profile);
    builder_head(&builder, more)->first = 6; /* beyond what the first has room for */
    profile = read_it(NULL);
    CHECK_EQUAL(profile->threads[0].node_count, 3);
    CHECK(strstr(profile->missing, "damaged"));
    bp_profile_free(profile);
}

static void chunks_in_reverse_order(void) {
    size_t nodes, entries;
    builder_names(&builder);
    size_t more = builder_chunk(&builder, BP_NODES, 0, 1, 1);
    builder_head(&builder, more)->first = 5;
    *(struct bp_node *)builder_item(&builder, more, 0) =
        (struct bp_node){.parent = 2, .func = BUILDER_FUNC, .self = 9};
    add_thread(3, &nodes, &entries);
    struct bp_profile *profile = read_it(NULL);
    CHECK_EQUAL(profile->threads[0].node_count, 6);
    CHECK_EQUAL(profile->threads[0].nodes[5].self, 9);
    CHECK_TEXT(profile->missing, "");
    bp_profile_free(profile);
}

static void open_calls(void) {
    size_t nodes, entries;
    builder_names(&builder);
    size_t threads = add_thread(3, &nodes, &entries);
    uint64_t root = builder_address(&builder, threads, 0) + offsetof(struct bp_thread, root);
    open_entry(threads, nodes, entries, 0, 1, root);
    open_entry(threads, nodes, entries, 1, 2, builder_address(&builder, entries, 0));
    ((struct bp_node *)builder_item(&builder, nodes, 2))->func = BUILDER_FUNC;
    struct bp_profile *profile = read_it(NULL);
    const struct bp_profile_thread *thread = &profile->threads[0];
    CHECK_EQUAL(thread->open_count, 3);
    CHECK_EQUAL(thread->open[0].node, 2);
    CHECK(!thread->open[0].outermost); /* the same function as the next */
    CHECK_EQUAL(thread->open[1].node, 1);
    CHECK(thread->open[1].outermost);
    CHECK_EQUAL(thread->open[2].node, 0);
    CHECK_TEXT(profile->missing, "");
    bp_profile_free(profile);
}

static void last_call_of_a_node(void) {
    size_t nodes, entries;
    builder_names(&builder);
    add_thread(3, &nodes, &entries);
    struct bp_node *node = builder_item(&builder, nodes, 2);
    node->histogram[0] = 1; /* what was pending before the first call */
    node->histogram[7] = 4;
    node->last = 7;
    struct bp_profile *profile = read_it(NULL);
    CHECK_EQUAL(profile->threads[0].nodes[2].histogram[0], 0);
    CHECK_EQUAL(profile->threads[0].nodes[2].histogram[7], 5);
    CHECK_TEXT(profile->missing, "");
    bp_profile_free(profile);
    node->last = BP_BUCKETS;
    profile = read_it(NULL);
    CHECK_EQUAL(profile->threads[0].nodes[2].histogram[7], 4);
    CHECK(strstr(profile->missing, "damaged"));
    bp_profile_free(profile);
}

static void call_opened_before_fork(void) {
    size_t nodes, entries;
    builder_names(&builder);
    size_t threads = add_thread(3, &nodes, &entries);
    uint64_t address = builder_address(&builder, threads, 0);
    open_entry(threads, nodes, entries, 0, 1, address + offsetof(struct bp_thread, root));
    struct bp_entry *entry = builder_item(&builder, entries, 0);
    entry->sp = BP_ENTRY_INHERITED;
    struct bp_thread *thread = builder_item(&builder, threads, 0);
    thread->alias = *entry;
    thread->alias.child = 5;
    thread->current = address + offsetof(struct bp_thread, alias);
    struct bp_profile *profile = read_it(NULL);
    CHECK_EQUAL(profile->threads[0].open_count, 2);
    CHECK_EQUAL(profile->threads[0].open[0].child, 5);
    CHECK_EQUAL(profile->threads[0].open[0].flags, BP_ENTRY_INHERITED);
    bp_profile_free(profile);
}

static void endless_chain(void) {
    size_t nodes, entries;
    builder_names(&builder);
    size_t threads = add_thread(2, &nodes, &entries);
    open_entry(threads, nodes, entries, 0, 1, builder_address(&builder, entries, 1));
    open_entry(threads, nodes, entries, 1, 1, builder_address(&builder, entries, 0));
    struct bp_profile *profile = read_it(NULL);
    CHECK(profile->threads[0].open_count <= 10);
    CHECK(strstr(profile->missing, "1 of 1 threads"));
    bp_profile_free(profile);
}

static void impossible_parents(void) {
    size_t nodes, entries;
    builder_names(&builder);
    add_thread(4, &nodes, &entries);
    ((struct bp_node *)builder_item(&builder, nodes, 1))->parent = 3;
    ((struct bp_node *)builder_item(&builder, nodes, 2))->parent = 2;
    ((struct bp_node *)builder_item(&builder, nodes, 3))->func = 1000;
    struct bp_profile *profile = read_it(NULL);
    const struct bp_node *checked = profile->threads[0].nodes;
    CHECK_EQUAL(checked[1].parent, 0);
    CHECK_EQUAL(checked[2].parent, 0);
    CHECK_TEXT(bp_profile_string(profile, profile->funcs[checked[3].func].name), "(unknown)");
    CHECK(strstr(profile->missing, "3 items"));
    bp_profile_free(profile);
}

static void cut_at_every_page(void) {
    size_t nodes, entries;
    add_thread(4, &nodes, &entries);
    builder_names(&builder);
    size_t whole = builder.image.size;
    for (size_t size = BP_PAGE; size < whole; size += BP_PAGE / 2) {
        builder.image.size = size;
        struct bp_profile *profile = read_it(NULL);
        char want[64];
        snprintf(want, sizeof(want), "truncated at %zu of %zu bytes", size, whole);
        CHECK(strncmp(profile->missing, want, strlen(want)) == 0);
        bp_profile_free(profile);
    }
}

static void threads_of_the_parent_are_unused(void) {
    builder_names(&builder);
    size_t threads = builder_chunk(&builder, BP_THREADS, BP_NO_THREAD, 1, 4);
    ((struct bp_thread *)builder_item(&builder, threads, 0))->tid = 55;
    struct bp_profile *profile = read_it(NULL);
    CHECK_EQUAL(profile->threads_recorded, 0);
    CHECK_TEXT(profile->missing, "");
    bp_profile_free(profile);
}

static void buckets(void) {
    for (unsigned i = 6; i < BP_BUCKETS - 1; i++) {
        CHECK_EQUAL(bp_bucket(bp_bucket_low(i)), i);
        CHECK_EQUAL(bp_bucket(bp_bucket_low(i + 1) - 1), i);
    }
    CHECK_EQUAL(bp_bucket(UINT64_MAX), BP_BUCKETS - 1);
    for (uint64_t ticks = 0; ticks < 8; ticks++)
        CHECK(bp_bucket(ticks) >= 2 && bp_bucket(ticks) < 6);
}

static void with_builder(const char *name, void (*test)(void)) {
    test_state.name = name;
    builder_init(&builder);
    test();
    builder_fini(&builder);
}

#define BUILD_AND_RUN(test) with_builder(#test, test)

int main(void) {
    BUILD_AND_RUN(no_chunks);
    BUILD_AND_RUN(refuses);
    BUILD_AND_RUN(longer_items_and_unknown_chunks);
    BUILD_AND_RUN(several_chunks_of_a_kind);
    BUILD_AND_RUN(chunks_in_reverse_order);
    BUILD_AND_RUN(open_calls);
    BUILD_AND_RUN(last_call_of_a_node);
    BUILD_AND_RUN(call_opened_before_fork);
    BUILD_AND_RUN(endless_chain);
    BUILD_AND_RUN(impossible_parents);
    BUILD_AND_RUN(cut_at_every_page);
    BUILD_AND_RUN(threads_of_the_parent_are_unused);
    RUN(buckets);
    return test_result();
}
