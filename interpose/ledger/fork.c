/* SPDX-License-Identifier: MIT
 *
 * The ledger across fork. What the child finds in its file is profile/writer_fork.c's; here is what
 * the forking thread has in private memory, which the kernel clears in the child (bp_local), and
 * what its open calls become: the parent's, of which only the time from now on is ours. Everything
 * happens with the process lock held; built without vector registers, as thread.c.
 */
#include <errno.h>
#include <stddef.h>

#include "interpose/ledger/jump.h"
#include "interpose/ledger/pause.h"
#include "interpose/ledger/task.h"
#include "profile/clock.h"

#define FEW 1536 /* bytes that take no system call: for 300 functions */

/* All of bp_local but its edges, which are found again, and of `open` what functions there are. */
static struct {
    uint64_t *memory; /* bp_local from `map` on, then `open` */
    uint64_t size;
    uint64_t few[FEW / sizeof(uint64_t)];
} snapshot;

#define REST offsetof(struct bp_local, map)
#define REST_SIZE (sizeof(struct bp_local) - REST)

static struct bp_local *own_local(void) {
    return bp_self ? (struct bp_local *)bp_self->local : NULL;
}

static void copy_words(void *to, const void *from, uint64_t size) {
    for (uint64_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

/* Bytes of `open` that can be other than zero, in whole words. */
static uint64_t open_size(void) {
    return (uint64_t)(bp_process.functions + 1) / 2 * sizeof(uint64_t);
}

static int keep_local(const struct bp_local *local) {
    snapshot.size = REST_SIZE + open_size();
    snapshot.memory = snapshot.size > FEW ? bp_pages_new(snapshot.size) : snapshot.few;
    if (!snapshot.memory)
        return -ENOMEM;
    copy_words(snapshot.memory, (const char *)local + REST, REST_SIZE);
    copy_words((char *)snapshot.memory + REST_SIZE, local->open, open_size());
    return 0;
}

static void put_back(struct bp_local *local) {
    copy_words((char *)local + REST, snapshot.memory, REST_SIZE);
    copy_words(local->open, (char *)snapshot.memory + REST_SIZE, open_size());
}

int bp_thread_before_fork(void) {
    int error = bp_writer_before_fork(&bp_process.writer, bp_self ? bp_self->index : BP_NO_THREAD);
    if (error == 0 && bp_self)
        error = keep_local(own_local());
    return error;
}

void bp_thread_after_fork_parent(void) {
    bp_writer_after_fork(&bp_process.writer);
    if (snapshot.memory && snapshot.memory != snapshot.few)
        bp_pages_free(snapshot.memory, snapshot.size);
    snapshot.memory = NULL;
}

/* The alias of a child that forks again is for another entry soon: back to what it stands for. */
static uint64_t behind_alias(struct bp_thread *thread, uint64_t entry) {
    return entry == (uint64_t)&thread->alias
               ? (uint64_t)((struct bp_local *)thread->local)->inherited
               : entry;
}

/* The parent counts the calls that are open; here only their time from now on is ours. */
static void inherit(struct bp_thread *thread, uint64_t now) {
    struct bp_entry *innermost = bp_jump_forget(
        (struct bp_entry *)behind_alias(thread, (uint64_t)bp_thread_innermost(thread)));
    for (struct bp_entry *e = innermost; e != &thread->root; e = (struct bp_entry *)e->parent) {
        e->sp |= BP_ENTRY_INHERITED;
        e->start = now;
        e->child = 0;
        if (bp_light_edge(e) && !bp_light_is(e))
            bp_light_missed(thread, bp_light_edge(e));
        if (bp_light_is(e))
            bp_light_keep(bp_light_edge(e));
        else
            e->source = 0; /* its library's records are the parent's */
        e->parent = (uint64_t)bp_jump_forget((struct bp_entry *)behind_alias(thread, e->parent));
    }
    bp_thread_open_root(thread, (struct bp_node *)thread->root.node, now);
    bp_thread_uncover(thread, innermost);
}

void bp_thread_after_fork_child(void) {
    struct bp_thread *thread = bp_self;
    uint64_t now = bp_clock_now(bp_process.clock);
    if (thread) {
        put_back(own_local());
        own_local()->light_random = 0; /* or all children time the same calls, wrong together */
        own_local()->cpu_before = own_local()->queued_before = 0; /* its clocks begin anew */
    }
    bp_thread_after_fork_parent();
    bp_process.dead = NULL;
    bp_process.threads = thread ? 1 : 0;
    bp_task_after_fork(thread);
    bp_pause_after_fork(now);
    if (!thread)
        return;
    inherit(thread, now);
    thread->paused_v = 0;
    bp_pause_thread_begin(thread, now);
    thread->tid = (int32_t)BP_SYS0(SYS_gettid);
    thread->lives = 1;
    thread->lifetime = thread->cpu_ns = thread->runqueue_ns = 0;
    thread->v = thread->idle = thread->wait_entry = 0;
    thread->in_tree = 0;
    bp_wall_join(thread, now);
}
