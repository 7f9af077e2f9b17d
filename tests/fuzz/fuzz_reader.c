/* SPDX-License-Identifier: MIT
 *
 * One input for the reader: LLVMFuzzerTestOneInput for libFuzzer (clang -fsanitize=fuzzer, without
 * main.c), and the same for main.c. Beyond not crashing it checks what reader.h promises, for this
 * is what the model relies on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/reader.h"
#include "tests/fuzz/fuzz.h"

static void promise(bool kept, const char *what) {
    if (kept)
        return;
    fprintf(stderr, "the reader broke its promise: %s\n", what);
    abort();
}

static void check_thread(const struct bp_profile *profile, const struct bp_profile_thread *thread) {
    promise(thread->node_count > 0, "a thread has a root");
    promise(thread->nodes[0].parent == BP_NO_NODE, "the root has no parent");
    for (uint32_t i = 0; i < thread->node_count; i++) {
        const struct bp_node *node = &thread->nodes[i];
        promise(i == 0 || node->parent < i, "parents come first");
        promise(node->func < profile->func_count, "functions exist");
        (void)bp_node_calls(node);
    }
    for (uint32_t i = 0; i < thread->open_count; i++)
        promise(thread->open[i].node < thread->node_count, "open calls have a node");
    promise(thread->open_count == 0 || thread->open[thread->open_count - 1].node == 0,
            "the root is the last open call");
    promise(memchr(thread->info.name, 0, sizeof(thread->info.name)), "names end");
}

static void check_samples(const struct bp_profile *profile,
                          const struct bp_profile_thread *thread) {
    for (uint32_t i = 0; i < thread->frame_count; i++) {
        const struct bp_frame *frame = &thread->frames[i];
        promise(frame->parent == BP_NO_FRAME || frame->parent < i, "callers come first");
        promise(frame->kind != BP_FRAME_PYTHON || frame->func < profile->func_count,
                "functions of frames exist");
        promise(frame->kind != BP_FRAME_LEDGER || frame->func < thread->node_count,
                "nodes of frames exist");
        promise(frame->kind <= BP_FRAME_TRUNCATED, "kinds of frames are known");
    }
    for (uint32_t i = 0; i < thread->sample_count; i++) {
        promise(thread->samples[i].node < thread->node_count, "nodes of samples exist");
        promise(thread->samples[i].frame < thread->frame_count, "frames of samples exist");
    }
}

static void check_tasks(const struct bp_profile *profile) {
    uint64_t details = 0;
    for (uint32_t i = 0; i < profile->task_count; i++) {
        const struct bp_task *task = &profile->tasks[i];
        const struct bp_profile_thread *thread = bp_profile_thread_at(profile, task->thread);
        promise(thread || task->thread == BP_NO_THREAD, "tasks have a thread or say so");
        promise(task->node == BP_NO_NODE || (thread && task->node < thread->node_count),
                "tasks have a node or say so");
        promise(task->func == BP_NO_FUNC || task->func < profile->func_count,
                "tasks have a function or say so");
        promise(task->parent == BP_NO_TASK || task->parent < i, "outer tasks come first");
        promise(task->end >= task->start, "tasks end after their start");
        promise(task->detail_count == 0 || task->flags & BP_TASK_DETAILED, "details are announced");
        details += task->detail_count;
        for (uint32_t k = 0; k < task->detail_count; k++)
            promise(thread && profile->task_nodes[task->first_detail + k].node < thread->node_count,
                    "details have a node");
    }
    promise(details <= profile->task_node_count, "no more details than there are");
}

static void check_profile(const struct bp_profile *profile) {
    size_t length = 0;
    promise(profile->func_count > 0, "there is a function");
    for (uint32_t i = 0; i < profile->func_count; i++) {
        const struct bp_func *func = &profile->funcs[i];
        promise(func->object == BP_NO_OBJECT || func->object < profile->object_count,
                "objects exist");
        promise(func->kind <= BP_FUNC_PAUSED, "kinds are known");
        length += strlen(bp_profile_string(profile, func->name));
    }
    for (uint32_t i = 0; i < profile->object_count; i++)
        length += strlen(bp_profile_string(profile, profile->objects[i].path));
    for (uint32_t i = 0; i < profile->thread_count; i++)
        check_thread(profile, &profile->threads[i]);
    for (uint32_t i = 0; i < profile->thread_count; i++)
        check_samples(profile, &profile->threads[i]);
    check_tasks(profile);
    promise(profile->thread_count <= profile->threads_recorded, "no more threads than recorded");
    promise(strlen(profile->header.command) < sizeof(profile->header.command), "texts end");
    promise(length < SIZE_MAX, "strings can be read");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bp_profile *profile;
    struct bp_read_error error;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (bp_profile_read_fd(fd, &profile, &error) == 0) {
        check_profile(profile);
        bp_profile_free(profile);
    } else {
        promise(error.text[0] != 0, "an error says something");
    }
    close(fd);
    return 0;
}
