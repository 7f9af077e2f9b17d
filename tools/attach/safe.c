/* SPDX-License-Identifier: MIT
 *
 * What is not known to be harmless counts as harmful: of the C library only the functions below,
 * which wait for something and hold none of its locks meanwhile. Functions of the program are
 * harmless, those of an allocator are not, and all of it holds for whole stacks: what a signal
 * handler or a callback interrupted is on them, too.
 */
#include "tools/attach/safe.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

/* Sorted, for bsearch. No allocator that is part of the program waits in one of these, but for
 * those of `locks`. */
static const char *const harmless[] = {
    "__clock_nanosleep",
    "__nanosleep",
    "__poll",
    "__read",
    "__select",
    "__write",
    "accept",
    "accept4",
    "clock_nanosleep",
    "epoll_pwait",
    "epoll_wait",
    "fdatasync",
    "flock",
    "fsync",
    "ioctl",
    "msgrcv",
    "msgsnd",
    "nanosleep",
    "pause",
    "poll",
    "ppoll",
    "pread",
    "pread64",
    "preadv",
    "preadv2",
    "preadv64",
    "pselect",
    "pthread_barrier_wait",
    "pthread_cond_clockwait",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_timedjoin_np",
    "pwrite",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "pwritev64",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "sched_yield",
    "select",
    "sem_clockwait",
    "sem_timedwait",
    "sem_wait",
    "send",
    "sendfile",
    "sendfile64",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "sigsuspend",
    "sigtimedwait",
    "sigwait",
    "sigwaitinfo",
    "sleep",
    "splice",
    "syscall",
    "usleep",
    "wait",
    "wait4",
    "waitid",
    "waitpid",
    "write",
    "writev",
};
static const char *const locks[] = {"clock_nanosleep", "nanosleep", "pthread_mutex_lock",
                                    "sched_yield",     "syscall",   "usleep"};

struct stretch {
    uint64_t low, high;
    bool of_locks; /* an allocator may wait here, too */
};

struct bp_safe_calls {
    struct stretch *rows;
    uint32_t count;
    bool own_allocator;                    /* the program itself has a malloc */
    const struct bp_attach_object *object; /* whose functions are looked at */
};

static int compare(const void *key, const void *member) {
    return strcmp(key, *(const char *const *)member);
}

static bool is_among(const char *const *names, size_t count, const char *name) {
    return bsearch(name, names, count, sizeof(names[0]), compare);
}

static void add(struct bp_safe_calls *calls, uint64_t low, uint64_t high, bool of_locks) {
    *BP_APPEND(calls->rows, calls->count) =
        (struct stretch){.low = low, .high = high, .of_locks = of_locks};
}

/* A function that ends in a jump to another, as pthread_join does, is not on the stack any more:
 * the other stands for it. */
static void add_jumps(struct bp_safe_calls *calls, uint64_t low, uint64_t high, bool of_locks) {
    const uint8_t *code = bp_objects_code(calls->object, low, high);
    uint64_t to;
    size_t at = 0;
    while (code && (to = bp_code_next_jump(code, high - low, low, &at)) != 0) {
        uint64_t end = to < low || to >= high ? bp_objects_function_end(calls->object, to) : 0;
        if (end)
            add(calls, to, end, of_locks);
    }
}

static void note(void *context, const char *name, uint64_t low, uint64_t high) {
    struct bp_safe_calls *calls = context;
    if (!is_among(harmless, sizeof(harmless) / sizeof(harmless[0]), name))
        return;
    bool of_locks = is_among(locks, sizeof(locks) / sizeof(locks[0]), name);
    add(calls, low, high, of_locks);
    add_jumps(calls, low, high, of_locks);
}

struct bp_safe_calls *bp_safe_calls_new(const struct bp_objects *objects) {
    struct bp_safe_calls *calls = bp_alloc(1, sizeof(*calls));
    for (uint32_t i = 0; i < objects->count; i++) {
        calls->object = &objects->rows[i];
        if (objects->rows[i].role == BP_OBJECT_C_LIBRARY)
            bp_objects_visit(&objects->rows[i], note, calls);
        calls->own_allocator |=
            objects->rows[i].role == BP_OBJECT_ALLOCATOR && objects->rows[i].main;
    }
    return calls;
}

void bp_safe_calls_free(struct bp_safe_calls *calls) {
    if (calls)
        free(calls->rows);
    free(calls);
}

static const struct stretch *find(const struct bp_safe_calls *calls, uint64_t pc) {
    for (uint32_t i = 0; i < calls->count; i++)
        if (pc >= calls->rows[i].low && pc < calls->rows[i].high)
            return &calls->rows[i];
    return NULL;
}

/* Where a thread or the program begins: the frames of the C library beyond are two at most, that
 * which called the program's function and that which was before. */
#define BEGINNING 2
#define START 64 /* bytes of _start, at most */

static bool is_start(const struct bp_attach_frame *frame) {
    return frame->object && frame->object->main && frame->pc >= frame->object->entry &&
           frame->pc - frame->object->entry < START;
}

static bool is_library(const struct bp_attach_frame *frame) {
    return frame->object && frame->object->role == BP_OBJECT_C_LIBRARY && !frame->trampoline;
}

/* How many of the outermost frames are a beginning; 0 if the stack does not look so. */
static uint32_t beginning_of(const struct bp_frames *frames) {
    uint32_t first = frames->count;
    first -= first > 0 && is_start(&frames->rows[first - 1]);
    uint32_t end = first;
    while (first > 0 && is_library(&frames->rows[first - 1]))
        first--;
    return end > first && end - first <= BEGINNING && first > 0 ? frames->count - first : 0;
}

/* Frames of the C library up to the function that was called from outside, which decides. */
static const char *check_library(const struct bp_safe_calls *calls, const struct bp_frames *frames,
                                 uint32_t *at, uint32_t end, bool *of_locks) {
    uint32_t last = *at;
    while (last + 1 < end && is_library(&frames->rows[last + 1]))
        last++;
    for (uint32_t i = *at; i < last; i++) { /* one that is harmless may be called by another */
        const struct stretch *inner = find(calls, frames->rows[i].pc - !frames->rows[i].exact);
        *of_locks |= inner && inner->of_locks;
    }
    const struct stretch *called = find(calls, frames->rows[last].pc - !frames->rows[last].exact);
    *at = last;
    if (!called)
        return "it is in the C library";
    *of_locks |= called->of_locks;
    return NULL;
}

/* Checks a frame that is not the C library's. */
static const char *check_other(const struct bp_safe_calls *calls,
                               const struct bp_attach_frame *frame, bool may_allocate) {
    if (frame->trampoline)
        return NULL;
    if (!frame->object)
        return "it is in code of no file";
    if (frame->object->role == BP_OBJECT_LOADER)
        return "it is in the dynamic loader";
    if (frame->object->role == BP_OBJECT_ALLOCATOR && !frame->object->main)
        return "it is in an allocator of its own";
    return calls->own_allocator && frame->object->main && may_allocate
               ? "it may be in an allocator of its own"
               : NULL;
}

const char *bp_safe_refusal(const struct bp_safe_calls *calls, const struct bp_objects *objects,
                            const struct bp_frames *frames) {
    const char *refusal = NULL;
    bool may_allocate = !frames->count || !is_library(&frames->rows[0]);
    uint32_t beginning = beginning_of(frames);
    (void)objects;
    if (!frames->whole)
        return "its stack cannot be followed to the end";
    if (!beginning)
        return "its stack begins in a way that battprof does not know";
    uint32_t end = frames->count - beginning;
    for (uint32_t i = 0; i < end && !refusal; i++)
        refusal = is_library(&frames->rows[i])
                      ? check_library(calls, frames, &i, end, &may_allocate)
                      : check_other(calls, &frames->rows[i], may_allocate);
    return refusal;
}
