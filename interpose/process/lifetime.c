/* SPDX-License-Identifier: MIT
 *
 * See lifetime.h. The functions that begin and end threads and unwind stacks are ours in the
 * target's slots, each in front of the real one.
 */
#include "interpose/process/lifetime.h"

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "interpose/hook/hook.h"
#include "interpose/hook/object.h"

#define UNLIMITED_STACK (UINT64_C(1) << 30)
#define BOXES 64
#define INLINE_KEYS                                                                                \
    32 /* glibc has room for their values in each thread; for others it allocates                  \
        */

/* What a new thread needs to know before it runs the target's function. */
struct box {
    void *(*start)(void *);
    void *argument;
    uint64_t stack_size;
    uint64_t taken;
};

struct boxes {
    struct box boxes[BOXES];
    struct boxes *next;
};

static struct {
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *(*__cxa_begin_catch)(void *);
    void (*__cxa_throw)(void *, void *, void (*)(void *));
    void (*__cxa_rethrow)(void);
    void (*pthread_exit)(void *);
    void (*longjmp)(struct __jmp_buf_tag *, int);
    void (*siglongjmp)(struct __jmp_buf_tag *, int);
    void (*_longjmp)(struct __jmp_buf_tag *, int);
    void (*__longjmp_chk)(struct __jmp_buf_tag *, int);
    int (*pthread_key_create)(pthread_key_t *, void (*)(void *));
    int (*pthread_setspecific)(pthread_key_t, const void *);
    int (*pthread_attr_getstacksize)(const pthread_attr_t *, size_t *);
} real;

static struct {
    struct boxes boxes;
    uint64_t default_stack;
    pthread_key_t key;
    int has_key;
} state;

/* As libc found it when the program started: later changes of the limit are not for threads. */
static uint64_t default_stack(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UNLIMITED_STACK;
    return limit.rlim_cur;
}

/* Those after `boxes`, made if there are none; NULL without memory. */
static struct boxes *more_boxes(struct boxes *boxes) {
    struct boxes *next = __atomic_load_n(&boxes->next, __ATOMIC_ACQUIRE), *made;
    if (next || !(made = bp_pages_new(sizeof *made)))
        return next;
    if (__atomic_compare_exchange_n(&boxes->next, &next, made, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return made;
    bp_pages_free(made, sizeof *made);
    return next;
}

/* Without a lock, for which signals would have to be blocked. */
static struct box *take_box(void) {
    for (struct boxes *boxes = &state.boxes; boxes; boxes = more_boxes(boxes))
        for (struct box *box = boxes->boxes; box < boxes->boxes + BOXES; box++)
            if (!__atomic_load_n(&box->taken, __ATOMIC_RELAXED) &&
                !__atomic_exchange_n(&box->taken, 1, __ATOMIC_ACQUIRE))
                return box;
    return NULL;
}

static void give_box(struct box *box) {
    __atomic_store_n(&box->taken, 0, __ATOMIC_RELEASE);
}

/* The destructors of other keys may call hooked functions: end in the last round. */
static void key_destructor(void *argument) {
    struct bp_thread *thread = argument;
    struct bp_local *local = (struct bp_local *)thread->local;
    if (++local->key_rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        real.pthread_setspecific(state.key, thread);
    else
        bp_thread_end(thread);
}

static void arm(struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    if (state.has_key && !local->key_set)
        local->key_set = real.pthread_setspecific(state.key, thread) == 0;
}

int bp_lifetime_arms_anywhere(void) {
    return state.has_key && state.key < INLINE_KEYS;
}

static void *thread_start(void *argument) {
    struct box box = *(struct box *)argument;
    give_box(argument);
    uint64_t high = bp_arch_stack_top();
    struct bp_thread *thread = bp_thread_begin(high - box.stack_size, high, 0);
    if (thread)
        arm(thread);
    return box.start(box.argument);
}

static int wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                               void *(*start)(void *), void *argument) {
    struct box *box = bp_process.on ? take_box() : NULL;
    if (!box)
        return real.pthread_create(thread, attributes, start, argument);
    size_t size = 0;
    if (attributes && real.pthread_attr_getstacksize)
        real.pthread_attr_getstacksize(attributes, &size);
    box->start = start;
    box->argument = argument;
    box->stack_size = size ? size : state.default_stack;
    int error = real.pthread_create(thread, attributes, thread_start, box);
    if (error)
        give_box(box);
    return error;
}

/* What is thrown is known by its catch alone, and by then the frames are gone. */
static void wrap___cxa_throw(void *exception, void *type, void (*destroy)(void *)) {
    bp_thread_unwinds(0);
    real.__cxa_throw(exception, type, destroy);
}

static void wrap___cxa_rethrow(void) {
    bp_thread_unwinds(0);
    real.__cxa_rethrow();
}

/* Whatever is open then was left; of calls without an entry nobody knows when the thread has ended.
 */
static void wrap_pthread_exit(void *result) {
    bp_thread_exits();
    real.pthread_exit(result);
}

/* The frames between the throw and this catch are gone. */
static void *wrap___cxa_begin_catch(void *exception) {
    bp_thread_unwound(bp_arch_sp_of_caller(__builtin_frame_address(0)));
    return real.__cxa_begin_catch(exception);
}

static void leave_for(const struct __jmp_buf_tag *target) {
    uint64_t sp = bp_arch_jump_sp(target);
    bp_thread_unwinds(sp);
    bp_thread_unwound(sp);
}

static void wrap_longjmp(struct __jmp_buf_tag *target, int value) {
    leave_for(target);
    real.longjmp(target, value);
}

static void wrap__longjmp(struct __jmp_buf_tag *target, int value) {
    leave_for(target);
    real._longjmp(target, value);
}

static void wrap_siglongjmp(struct __jmp_buf_tag *target, int value) {
    leave_for(target);
    real.siglongjmp(target, value);
}

static void wrap___longjmp_chk(struct __jmp_buf_tag *target, int value) {
    leave_for(target);
    real.__longjmp_chk(target, value);
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(pthread_create), BP_WRAP(__cxa_begin_catch), BP_WRAP(__cxa_throw),
    BP_WRAP(__cxa_rethrow),  BP_WRAP(longjmp),           BP_WRAP(_longjmp),
    BP_WRAP(siglongjmp),     BP_WRAP(__longjmp_chk),     BP_WRAP(pthread_exit),
};

void bp_lifetime_init(void) {
    bp_hook_wraps(wraps, sizeof wraps / sizeof *wraps);
}

/* The key comes late, so that the low numbers stay the target's. */
void bp_lifetime_start(void) {
    state.default_stack = default_stack();
    real.pthread_key_create = bp_object_runtime_function("pthread_key_create");
    real.pthread_setspecific = bp_object_runtime_function("pthread_setspecific");
    real.pthread_attr_getstacksize = bp_object_runtime_function("pthread_attr_getstacksize");
    if (real.pthread_key_create && real.pthread_setspecific)
        state.has_key = real.pthread_key_create(&state.key, key_destructor) == 0;
    bp_process.arm = arm;
    if (bp_self)
        arm(bp_self);
}
