/* SPDX-License-Identifier: MIT
 *
 * Sampled stacks through the reader: as written, with indices that lead nowhere, from a file that
 * has none, and past a fork.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/header.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "tests/unit/builder.h"
#include "tests/unit/test.h"

/* Two threads of three nodes each. */
static void build(struct builder *builder) {
    builder_init(builder);
    size_t threads = builder_chunk(builder, BP_THREADS, BP_NO_THREAD, 2, 2);
    for (uint32_t t = 0; t < 2; t++) {
        size_t nodes = builder_chunk(builder, BP_NODES, t, 3, 3);
        ((struct bp_thread *)builder_item(builder, threads, t))->state = BP_THREAD_ENDED;
        for (uint32_t i = 0; i < 3; i++)
            *(struct bp_node *)builder_item(builder, nodes, i) = (struct bp_node){
                .parent = i ? i - 1 : BP_NO_NODE, .func = i ? BUILDER_FUNC + i - 1 : 0};
    }
    builder_names(builder);
}

static void as_written(void) {
    struct builder builder;
    build(&builder);
    size_t frames = builder_chunk(&builder, BP_FRAMES, 1, 3, 8);
    size_t samples = builder_chunk(&builder, BP_SAMPLES, 1, 2, 4);
    size_t sampler = builder_chunk(&builder, BP_SAMPLER, BP_NO_THREAD, 1, 1);
    struct bp_frame *frame = builder_item(&builder, frames, 0);
    frame[0] = (struct bp_frame){.parent = BP_NO_FRAME, .address = 0x1000};
    frame[1] = (struct bp_frame){.parent = 0, .kind = BP_FRAME_LEDGER, .func = 2};
    frame[2] = (struct bp_frame){
        .parent = 1, .kind = BP_FRAME_PYTHON, .func = BUILDER_FUNC + 7, .line = 12};
    struct bp_sample *sample = builder_item(&builder, samples, 0);
    sample[0] = (struct bp_sample){.node = 2, .frame = 2, .count = 5, .weight = 20000000};
    sample[1] = (struct bp_sample){.node = 0, .frame = 0, .kind = BP_SAMPLE_COPY, .weight = 4096};
    struct bp_sampler *item = builder_item(&builder, sampler, 0);
    *item = (struct bp_sampler){.state = BP_SAMPLER_ON, .rate = 200, .taken = 5};
    memset(item->reason, 'x', sizeof(item->reason));
    struct bp_profile *profile = builder_read(&builder);
    CHECK_TEXT(profile->missing, "");
    CHECK_EQUAL(profile->threads[0].frame_count, 0);
    CHECK_EQUAL(profile->threads[0].sample_count, 0);
    const struct bp_profile_thread *thread = &profile->threads[1];
    CHECK_EQUAL(thread->frame_count, 3);
    CHECK_EQUAL(thread->sample_count, 2);
    CHECK_EQUAL(thread->frames[2].func, BUILDER_FUNC + 7);
    CHECK_EQUAL(thread->frames[2].line, 12);
    CHECK_EQUAL(thread->samples[0].count, 5);
    CHECK_EQUAL(thread->samples[1].kind, BP_SAMPLE_COPY);
    CHECK_EQUAL(profile->sampler->rate, 200);
    CHECK_EQUAL(strlen(profile->sampler->reason), sizeof(profile->sampler->reason) - 1);
    bp_profile_free(profile);
    builder_fini(&builder);
}

/* Formats 1.4 and 1.5 had copies that only their samples counted: they are missing, and said so. */
static void kinds_that_are_gone(void) {
    struct builder builder;
    build(&builder);
    *(struct bp_frame *)builder_item(&builder, builder_chunk(&builder, BP_FRAMES, 1, 1, 1), 0) =
        (struct bp_frame){.parent = BP_NO_FRAME, .address = 0x1000};
    size_t samples = builder_chunk(&builder, BP_SAMPLES, 1, 2, 2);
    struct bp_sample *sample = builder_item(&builder, samples, 0);
    sample[0] = (struct bp_sample){.node = 1, .kind = BP_SAMPLE_COPY, .count = 3};
    sample[1] = (struct bp_sample){.node = 1, .kind = BP_SAMPLE_KINDS, .count = 10};
    struct bp_profile *profile = builder_read(&builder);
    CHECK_EQUAL(profile->threads[1].sample_count, 1);
    CHECK_EQUAL(profile->threads[1].samples[0].count, 3);
    CHECK(strstr(profile->missing, "1 items make no sense"));
    bp_profile_free(profile);
    builder_fini(&builder);
}

static void indices_that_lead_nowhere(void) {
    struct builder builder;
    build(&builder);
    size_t frames = builder_chunk(&builder, BP_FRAMES, 0, 6, 6);
    size_t samples = builder_chunk(&builder, BP_SAMPLES, 0, 3, 3);
    struct bp_frame *frame = builder_item(&builder, frames, 0);
    frame[0] = (struct bp_frame){.parent = 0}; /* its own caller */
    frame[1] = (struct bp_frame){.parent = 5};
    frame[2] = (struct bp_frame){.parent = 1, .kind = BP_FRAME_LEDGER, .func = 3};
    frame[3] = (struct bp_frame){.parent = 2, .kind = BP_FRAME_PYTHON, .func = UINT32_MAX};
    frame[4] = (struct bp_frame){.parent = 3, .kind = 99};
    frame[5] = (struct bp_frame){.parent = 4, .kind = BP_FRAME_TRUNCATED, .func = BP_TRUNCATIONS};
    struct bp_sample *sample = builder_item(&builder, samples, 0);
    sample[0] = (struct bp_sample){.node = 3, .frame = 0, .count = 1};
    sample[1] = (struct bp_sample){.node = 0, .frame = 6, .count = 1};
    sample[2] = (struct bp_sample){.node = 1, .frame = 5, .count = 9};
    struct bp_profile *profile = builder_read(&builder);
    const struct bp_profile_thread *thread = &profile->threads[0];
    CHECK_EQUAL(thread->frame_count, 6);
    CHECK_EQUAL(thread->frames[0].parent, BP_NO_FRAME);
    CHECK_EQUAL(thread->frames[1].parent, BP_NO_FRAME);
    for (uint32_t i = 2; i < 6; i++) {
        CHECK_EQUAL(thread->frames[i].parent, i - 1);
        CHECK_EQUAL(thread->frames[i].kind, BP_FRAME_TRUNCATED);
        CHECK_EQUAL(thread->frames[i].func, BP_TRUNCATED_WALK);
    }
    CHECK_EQUAL(thread->sample_count, 1);
    CHECK_EQUAL(thread->samples[0].count, 9);
    CHECK(profile->missing[0] != 0);
    CHECK(!profile->sampler);
    bp_profile_free(profile);
    builder_fini(&builder);
}

/* The child's file has its functions, what the sampler says of itself, and none of the parent's
 * samples. */
static void past_a_fork(void) {
    struct bp_writer writer = {0};
    char path[] = "/tmp/battprof-samples-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    unlink(path);
    CHECK_EQUAL(bp_writer_create(&writer, path), 0);
    builder_begin_header(writer.header);
    bp_writer_chunk(&writer, BP_FRAMES, 0, 0, 8)->count = 3;
    bp_writer_chunk(&writer, BP_SAMPLES, 0, 0, 8)->count = 2;
    uint32_t index;
    CHECK(bp_writer_item(&writer, BP_SAMPLER, &index) != NULL);
    bp_writer_commit(&writer, BP_SAMPLER);
    bp_writer_string(&writer, "kept");
    unlink(path);
    CHECK_EQUAL(bp_writer_before_fork(&writer, 0), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int failed = bp_writer_fork(&writer, path);
        bp_header_publish(writer.header);
        int count = 0;
        for (struct bp_chunk *c = writer.chunks; c; c = (struct bp_chunk *)c->links[0])
            count++;
        _exit(failed || count != 2 || !writer.open[BP_SAMPLER]);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    bp_writer_after_fork(&writer);
    CHECK_EQUAL(status, 0);
    unlink(path);
}

int main(void) {
    RUN(as_written);
    RUN(kinds_that_are_gone);
    RUN(indices_that_lead_nowhere);
    RUN(past_a_fork);
    return test_result();
}
