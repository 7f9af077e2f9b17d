/* SPDX-License-Identifier: MIT
 *
 * The functions behind include/battprof.h, and ranges in general. They are called as any function
 * is, so vector registers may be used; errno stays as it was, for no libc call is made that sets
 * it.
 */
#include "interpose/task/range.h"

#include "interpose/ledger/task.h"
#include "interpose/task/rules.h"

#define EXPORT __attribute__((visibility("default")))

/* Whose a range is that is ended by an announcement of its kind. */
#define KEY_TASK 1
#define KEY_PHASE 2

EXPORT void libbattprof_task_begin(const char *id);
EXPORT void libbattprof_task_end(int failed);
EXPORT void libbattprof_phase_begin(const char *name);
EXPORT void libbattprof_phase_end(void);
EXPORT void libbattprof_sample(void);

static struct bp_thread *self(void) {
    if (!bp_process.on)
        return NULL;
    struct bp_thread *thread = bp_thread_self();
    return thread ? thread : bp_thread_adopt();
}

static void begin(uint32_t flags, uint64_t key, const char *id, const char *name) {
    struct bp_thread *thread = self();
    struct bp_task_what what = {.func = BP_NO_FUNC,
                                .flags = flags,
                                .key = key,
                                .id = id ? id : "",
                                .name = name ? name : ""};
    if (thread)
        bp_task_begin(thread, &what);
}

void libbattprof_task_begin(const char *id) {
    begin(BP_TASK_API, KEY_TASK, id, NULL);
}

void libbattprof_task_end(int failed) {
    if (bp_thread_self())
        bp_task_end_range(bp_thread_self(), KEY_TASK, failed);
}

void libbattprof_phase_begin(const char *name) {
    begin(BP_TASK_API | BP_TASK_PHASE, KEY_PHASE, NULL, name);
}

void libbattprof_phase_end(void) {
    if (bp_thread_self())
        bp_task_end_range(bp_thread_self(), KEY_PHASE, 0);
}

void libbattprof_sample(void) {
    if (bp_thread_self())
        bp_task_sample(bp_thread_self());
}

void bp_range_begin(const char *text, uint64_t key) {
    int number = bp_task_role_of(BP_TASK_RANGE, "nvtx", "", text, 1);
    const struct bp_task_role *role = number < 0 ? NULL : bp_task_role((unsigned)number);
    if (role && role->flags & BP_FUNC_TASK)
        begin(BP_TASK_NVTX, key, text, text);
    else if (!role || role->flags & BP_FUNC_PHASE)
        begin(BP_TASK_NVTX | BP_TASK_PHASE, key, NULL, role ? role->phase : text);
    else if (bp_thread_self())
        bp_task_sample(bp_thread_self());
}

void bp_range_end(uint64_t key) {
    if (bp_thread_self() && !bp_task_end_range(bp_thread_self(), key, 0))
        bp_task_end_elsewhere(key);
}
