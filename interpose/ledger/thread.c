/* SPDX-License-Identifier: MIT
 *
 * How calls are opened and closed in C: what the stubs leave to it (first calls, deep stacks, tail
 * calls, coroutines), and what sources and Python open by hand. A call's time is settled in its
 * node. The order below is that of a call's life; left.c has calls that end in other ways.
 */
#include "interpose/ledger/thread.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/ledger/call.h"
#include "interpose/ledger/entry.h"
#include "interpose/ledger/jump.h"
#include "interpose/ledger/left.h"
#include "interpose/ledger/light.h"
#include "interpose/ledger/pause.h"

#define FLAGS UINT64_C(7) /* of bp_entry.sp */

struct bp_process bp_process;
__thread struct bp_thread *bp_self;
struct bp_stub bp_stubs[BP_STUBS];
struct bp_guest bp_guests[BP_GUESTS];
uint32_t bp_generation = 1;
int bp_signals_held;

static uint32_t always = 1; /* until there is a page for it */
uint32_t *bp_alive = &always;

static void count_returned(struct bp_node *node, uint64_t duration) {
    /* The stub trusts that nothing longer than min + span reaches its histogram. */
    uint64_t capped = duration >> 48 ? (UINT64_C(1) << 48) - 1 : duration;
    node->histogram[bp_bucket(duration)]++;
    if (node->min == UINT64_MAX) {
        node->min = node->first = capped;
        node->span = 0;
    } else if (capped < node->min) {
        node->span += node->min - capped;
        node->min = capped;
    } else if (capped - node->min > node->span) {
        node->span = capped - node->min;
    }
}

/* The duration of a call until now: at least what is known of it. That is all there is of one that
 * is only counted, and more than the clock says of one that closes at a stop that it saw late. */
static uint64_t duration_of(const struct bp_entry *entry, uint64_t now) {
    uint64_t start = bp_light_is_untimed(entry) ? now : entry->start;
    uint64_t duration = now > start ? now - start : 0;
    return duration > entry->child ? duration : entry->child;
}

/* How often the function is still open without this call. A counted call's entry is claimed by that
 * number, so it stays until the stub has given the entry back. */
static uint32_t close_one(struct bp_thread *thread, const struct bp_entry *entry) {
    uint32_t *open = &bp_thread_local(thread)->open[bp_call_node(entry)->func];
    uint32_t others = *open - (*open > 0);
    if (!bp_light_is(entry))
        *open = others;
    return others;
}

uint64_t bp_call_settle(struct bp_thread *thread, struct bp_entry *entry, uint64_t now) {
    struct bp_node *node = bp_call_node(entry);
    uint64_t duration = duration_of(entry, now);
    *(close_one(thread, entry) ? &node->inner : &node->total) += duration;
    node->self += duration > entry->child ? duration - entry->child : 0;
    bp_call_parent(entry)->child += duration;
    if (thread->wait_entry == (uint64_t)entry)
        bp_wall_resume(thread, bp_pause_is_on() ? bp_process_now() : now);
    return duration;
}

/* An entry opened before fork must not take the stub's fast way out, which would count a call that
 * the parent process counts. An alias in its place makes the comparison there fail. */
void bp_thread_uncover(struct bp_thread *thread, struct bp_entry *entry) {
    if (entry != &thread->root && entry != &thread->alias && entry->sp & BP_ENTRY_INHERITED) {
        bp_thread_local(thread)->inherited = entry;
        thread->alias = *entry;
        thread->alias.ret = 0;    /* the guest does not take it for its own */
        thread->alias.source = 0; /* nor light.c */
        entry = &thread->alias;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->current, (uint64_t)entry, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void bp_call_tell_left(struct bp_thread *thread, struct bp_entry *entry, uint64_t now,
                       const uint64_t *result) {
    uint32_t kind = (uint32_t)entry->source;
    entry->source = 0;
    bp_guests[BP_STUB_SOURCE_OF(kind) - 1].leave(thread, entry, BP_STUB_TAG(kind), now, result);
}

/* Whether a descriptor is a file's; asked only if it is at position 0, where an eventfd always is.
 */
static int is_file(int fd) {
    struct statx status = {.stx_mode = 0};
    BP_SYS6(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status, 0);
    return S_ISREG(status.stx_mode) || S_ISDIR(status.stx_mode) || S_ISBLK(status.stx_mode);
}

/* read(2) and its kind: on a file it is I/O, on anything else waiting for somebody. lseek and not
 * fstat: after an fstat the next write must renew the file's times (1.3 µs more on Linux 6.18 with
 * ext4, measured). */
static struct bp_stub *stub_by_descriptor(struct bp_stub *stub, uint64_t fd) {
    long position = BP_SYS3(SYS_lseek, (int)fd, 0, SEEK_CUR);
    return position > 0 || (position == 0 && is_file((int)fd)) ? stub : stub + 1;
}

/* Open a call of `stub` at `sp`, nested in what is open there. */
static struct bp_entry *open_call(struct bp_thread *thread, struct bp_stub *stub, uint64_t sp) {
    if (sp && bp_jump_may_run(thread, sp))
        bp_jump_settle(thread, sp);
    struct bp_entry *parent = bp_thread_innermost(thread);
    if (sp && !bp_jump_is(parent) && (parent->sp <= sp || parent->sp & BP_ENTRY_CLOSED))
        parent = bp_left_settle_at(thread, sp, bp_process_now());
    struct bp_edge *edge = bp_edge_get(thread, parent->node, stub);
    struct bp_entry *entry = edge ? bp_entry_take(thread) : NULL;
    if (!entry)
        return NULL;
    bp_edge_remember(thread, edge);
    struct bp_node *node = (struct bp_node *)edge->node;
    entry->parent = (uint64_t)parent;
    entry->node = (uint64_t)node;
    entry->child = 0;
    entry->sp = sp ? sp : bp_jump_place(parent) - 8;
    bp_light_opened(thread, edge, entry);
    entry->start = bp_process_now();
    bp_thread_local(thread)->open[node->func]++;
    bp_thread_uncover(thread, entry);
    thread->jumped = 0;
    if (BP_STUB_KIND(stub->kind) == BP_STUB_WAIT)
        bp_wall_wait(thread, entry, entry->start);
    return entry;
}

static void tell_entered(struct bp_thread *thread, struct bp_entry *entry, uint32_t kind,
                         const struct bp_registers *registers) {
    bp_guests[BP_STUB_SOURCE_OF(kind) - 1].enter(thread, entry, BP_STUB_TAG(kind), registers);
    entry->source = kind;
    entry->start = bp_process_now();
}

static int is_of_source(const struct bp_stub *stub) {
    return BP_STUB_KIND(stub->kind) == BP_STUB_SOURCE;
}

struct bp_entry *bp_thread_enter(struct bp_stub *stub, struct bp_registers *registers) {
    struct bp_thread *thread = bp_thread_self();
    if (!thread && !(thread = bp_thread_adopt()))
        return NULL;
    struct bp_entry *entry = NULL;
    if (!bp_pause_enter(thread)) {
        if (stub->kind == BP_STUB_IO_FD)
            stub = stub_by_descriptor(stub, bp_arch_argument(registers, 0));
        entry = open_call(thread, stub, (uint64_t)&registers->ret);
        if (entry && is_of_source(stub))
            tell_entered(thread, entry, stub->kind, registers);
    }
    bp_pause_leave(thread);
    return entry;
}

/* bp_entry.rbx of a guest's call that ends slowly: one that was only resumed, or one whose end is
 * reported. */
#define RESUMED 1
#define REPORTED 2

static struct bp_entry *guest_open(struct bp_stub *function, uint64_t sp, uint64_t resumed) {
    struct bp_thread *thread = bp_thread_self();
    if (!thread && !(thread = bp_thread_adopt()))
        return NULL;
    struct bp_entry *entry =
        bp_pause_enter(thread) ? NULL : open_call(thread, function, sp & ~FLAGS);
    if (entry) {
        entry->ret = 0;
        entry->rbx = resumed;
    }
    bp_pause_leave(thread);
    return entry;
}

struct bp_entry *bp_thread_open(struct bp_stub *function, uint64_t sp) {
    return guest_open(function, sp, 0);
}

struct bp_entry *bp_thread_resume(struct bp_stub *function, uint64_t sp) {
    return guest_open(function, sp, RESUMED);
}

void bp_thread_report(struct bp_entry *entry, uint32_t kind) {
    entry->rbx = REPORTED;
    entry->source = kind;
    entry->start = bp_process_now();
}

/* The innermost call ends, counted neither as returned nor, unless it was aborted, at all. */
static void guest_close(struct bp_thread *thread, struct bp_entry *entry, int aborted,
                        uint64_t now) {
    if (bp_call_is_told(entry))
        bp_call_tell_left(thread, entry, now, NULL);
    bp_call_settle(thread, entry, now);
    bp_call_node(entry)->aborted += (uint64_t)aborted;
    bp_thread_uncover(thread, bp_call_parent(entry));
    bp_entry_give(thread, entry);
}

/* A call with the entry of its edge, or a sample, returned. */
static void count_light(struct bp_thread *thread, struct bp_entry *entry, uint64_t now,
                        uint64_t duration, uint64_t child) {
    struct bp_edge *edge = bp_light_edge(entry);
    if (!bp_light_is(entry)) {
        entry->source = 0;
        count_returned(bp_call_node(entry), duration);
        bp_light_sampled(thread, edge, now, duration, duration > child ? duration - child : 0);
        return;
    }
    bp_call_node(entry)->untimed++;
    int late = !bp_light_is_untimed(entry);
    bp_light_rest(entry); /* the stub gives it back */
    if (late)
        bp_light_late(edge, duration);
}

/* As bp_thread_leave; not `counted`: a call that was only resumed. */
static int leave(struct bp_thread *thread, struct bp_entry *entry, uint64_t now, uint64_t result,
                 int counted) {
    if (!now)
        now = bp_process_now();
    if (entry->sp & BP_ENTRY_SUSPENDED) {
        if (!(entry->sp & BP_ENTRY_INHERITED)) {
            bp_call_node(entry)->aborted--;
            if (bp_light_is(entry))
                bp_call_node(entry)->untimed++;
            else if (counted)
                count_returned(bp_call_node(entry), entry->child);
        }
        entry->child = 0;
        return !bp_light_is(entry);
    }
    if (entry->sp & BP_ENTRY_INHERITED) {
        bp_left_inherited(thread, entry, now);
        entry->child = 0;
        return !bp_light_is(entry);
    }
    if (bp_thread_innermost(thread) != entry && !bp_left_elsewhere(thread, entry, now, counted))
        return 0;
    if (bp_call_is_told(entry))
        bp_call_tell_left(thread, entry, now, &result);
    uint64_t child = entry->child, duration = bp_call_settle(thread, entry, now);
    if (bp_light_edge(entry))
        count_light(thread, entry, now, duration, child);
    else if (counted)
        count_returned(bp_call_node(entry), duration);
    bp_thread_uncover(thread, bp_call_parent(entry));
    return 1;
}

int bp_thread_leave(struct bp_entry *entry, uint64_t now, uint64_t result) {
    struct bp_thread *thread = bp_thread_self();
    if (!thread)
        return 0; /* the entry is the parent's */
    uint64_t stopped = bp_pause_enter(thread);
    int again = leave(thread, entry, stopped ? stopped : now, result, 1);
    bp_pause_leave(thread);
    return again;
}

static void close_guest(struct bp_thread *thread, struct bp_entry *entry, uint64_t now) {
    uint64_t stopped = bp_pause_enter(thread);
    if (leave(thread, entry, stopped ? stopped : now, 0, entry->rbx != RESUMED))
        bp_entry_give(thread, entry);
    bp_pause_leave(thread);
}

void bp_thread_close(struct bp_entry *entry, uint64_t now) {
    struct bp_thread *thread = bp_thread_self();
    if (entry && thread)
        close_guest(thread, entry, now);
}

void bp_thread_abort(struct bp_entry *entry) {
    struct bp_thread *thread = bp_thread_self();
    if (!entry || !thread || bp_thread_innermost(thread) != entry) {
        bp_thread_close(entry, 0);
        return;
    }
    uint64_t stopped = bp_pause_enter(thread);
    guest_close(thread, entry, entry->rbx != RESUMED, stopped ? stopped : bp_process_now());
    bp_pause_leave(thread);
}
