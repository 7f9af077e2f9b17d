/* SPDX-License-Identifier: MIT
 *
 * How calls are opened and closed in C: what the stubs leave to it (first calls, deep stacks, tail
 * calls, coroutines), what sources and Python open by hand, and what exceptions and jumps leave
 * open. The order below is that of a call's life: an entry is taken, the call opened, closed or
 * abandoned, its time settled in its node.
 */
#include "interpose/ledger/thread.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/ledger/light.h"
#include "interpose/ledger/pause.h"
#include "interpose/ledger/timer.h"
#include "profile/clock.h"
#include "profile/stop.h"

#define FIRST_ENTRIES 63 /* one page with its chunk header */
#define LARGEST_ENTRIES 65536
#define FLAGS UINT64_C(7)    /* of bp_entry.sp */
#define SAME_STACK (1 << 20) /* foreign stacks: two places this near are on one stack */

struct bp_process bp_process;
__thread struct bp_thread *bp_self;
struct bp_stub bp_stubs[BP_STUBS];
struct bp_guest bp_guests[BP_GUESTS];
uint32_t bp_generation = 1;

static uint32_t always = 1; /* until there is a page for it */
uint32_t *bp_alive = &always;

static uint64_t clock_now(void) {
    return bp_clock_now(bp_process.clock);
}

static struct bp_local *local_of(const struct bp_thread *thread) {
    return (struct bp_local *)thread->local;
}

static struct bp_entry *current_of(const struct bp_thread *thread) {
    return bp_thread_innermost(thread);
}

static struct bp_entry *parent_of(const struct bp_entry *entry) {
    return (struct bp_entry *)entry->parent;
}

static int on_own_stack(const struct bp_thread *thread, uint64_t sp) {
    const struct bp_local *local = local_of(thread);
    return sp >= local->stack_low && sp < local->stack_high;
}

/* The free list is a stack that a signal handler uses between any two of our instructions; it
 * leaves it as it was, so plain loads and stores in this order will do. */
static void entry_give(struct bp_thread *thread, struct bp_entry *entry) {
    entry->child = thread->free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->free, (uint64_t)entry, __ATOMIC_RELAXED);
}

static int entries_grow(struct bp_thread *thread) {
    struct bp_local *local = local_of(thread);
    uint32_t items = local->entry_count ? local->entry_count : FIRST_ENTRIES;
    if (items > LARGEST_ENTRIES)
        items = LARGEST_ENTRIES;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_chunk *chunk =
        bp_writer_chunk(&bp_process.writer, BP_ENTRIES, thread->index, local->entry_count, items);
    if (chunk) {
        struct bp_entry *entries = bp_chunk_items(chunk);
        chunk->count = chunk->capacity;
        local->entry_count += chunk->capacity;
        for (uint32_t i = chunk->capacity; i-- > 0;) {
            entry_give(thread, &entries[i]);
            if (i == chunk->capacity / 2)
                BP_STOP(ENTRIES_GROWN);
        }
    }
    bp_unlock(&bp_process.lock, mask);
    return chunk != NULL;
}

static struct bp_entry *entry_take(struct bp_thread *thread) {
    if (!thread->free && !entries_grow(thread))
        return NULL;
    struct bp_entry *entry = (struct bp_entry *)__atomic_load_n(&thread->free, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    BP_STOP(ENTRY_TAKEN);
    __atomic_store_n(&thread->free, entry->child, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return entry;
}

/* The third of the free list; NULL if there are fewer. */
static struct bp_entry *third_free(const struct bp_thread *thread, struct bp_entry **second) {
    const struct bp_entry *first = (const struct bp_entry *)thread->free;
    *second = first ? (struct bp_entry *)first->child : NULL;
    return *second ? (struct bp_entry *)(*second)->child : NULL;
}

/* An entry that does not come back. A handler may run this within a stub that has read the head of
 * the free list and what follows it, and goes on with both: so it is the one behind these. Such a
 * stub loses the entries that were made meanwhile. */
struct bp_entry *bp_thread_take(struct bp_thread *thread) {
    struct bp_entry *before, *taken = third_free(thread, &before);
    if (!taken && entries_grow(thread))
        taken = third_free(thread, &before);
    if (taken)
        before->child = taken->child;
    return taken;
}

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

static struct bp_node *node_of(const struct bp_entry *entry) {
    return (struct bp_node *)entry->node;
}

/* The duration of a call until now: at least what is known of it. That is all there is of one that
 * is only counted, and more than the clock says of one that closes at a stop that it saw late. */
static uint64_t duration_of(const struct bp_entry *entry, uint64_t now) {
    uint64_t start = bp_light_is_untimed(entry) ? now : entry->start;
    uint64_t duration = now > start ? now - start : 0;
    return duration > entry->child ? duration : entry->child;
}

/* Move the entry's time to its node and its parent. Its duration so far. */
static uint64_t settle(struct bp_thread *thread, struct bp_entry *entry, uint64_t now) {
    struct bp_node *node = node_of(entry);
    uint32_t *open = &local_of(thread)->open[node->func];
    uint64_t duration = duration_of(entry, now);
    *open -= *open > 0;
    *(*open ? &node->inner : &node->total) += duration;
    node->self += duration > entry->child ? duration - entry->child : 0;
    parent_of(entry)->child += duration;
    if (thread->wait_entry == (uint64_t)entry)
        bp_wall_resume(thread, bp_pause_is_on() ? clock_now() : now);
    return duration;
}

/* An entry opened before fork must not take the stub's fast way out, which would count a call that
 * the parent process counts. An alias in its place makes the comparison there fail. */
void bp_thread_uncover(struct bp_thread *thread, struct bp_entry *entry) {
    if (entry != &thread->root && entry != &thread->alias && entry->sp & BP_ENTRY_INHERITED) {
        local_of(thread)->inherited = entry;
        thread->alias = *entry;
        thread->alias.ret = 0;    /* the guest does not take it for its own */
        thread->alias.source = 0; /* nor light.c */
        entry = &thread->alias;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->current, (uint64_t)entry, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void tell_left(struct bp_thread *thread, struct bp_entry *entry, uint64_t now,
                      const uint64_t *result) {
    uint32_t kind = (uint32_t)entry->source;
    entry->source = 0;
    bp_guests[BP_STUB_SOURCE_OF(kind) - 1].leave(thread, entry, BP_STUB_TAG(kind), now, result);
}

/* The entry of an edge is free again. */
static void release(struct bp_entry *entry) {
    struct bp_edge *edge = bp_light_edge(entry);
    entry->child = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&edge->busy, 1, __ATOMIC_RELAXED);
}

/* Whether the call's end is to be reported to a guest. */
static int is_told(const struct bp_entry *entry) {
    return entry->source && !bp_light_edge(entry);
}

/* A call with the entry of its edge, or a sample, was left. `gone`: its stub does not return. */
static void leave_light(struct bp_thread *thread, struct bp_entry *entry, int gone) {
    struct bp_edge *edge = bp_light_edge(entry);
    if (bp_light_is(entry)) {
        bp_light_aborted(edge);
        if (gone)
            release(entry);
    } else if (edge) {
        entry->source = 0;
        bp_light_missed(thread, edge);
    }
}

/* The innermost call was left without returning. Its stub may yet return, if its frame was only
 * moved: then it was no loss, and it is its entry's last use. */
static void leave_open(struct bp_thread *thread, uint64_t now, int gone) {
    struct bp_entry *entry = current_of(thread);
    /* Before the next one is uncovered, which may take over the alias. */
    struct bp_entry *own = entry == &thread->alias ? local_of(thread)->inherited : entry;
    if (is_told(entry))
        tell_left(thread, entry, now, NULL);
    uint64_t duration = settle(thread, entry, now);
    if (!(entry->sp & BP_ENTRY_INHERITED))
        node_of(entry)->aborted++;
    bp_thread_uncover(thread, parent_of(entry));
    gone = gone && !bp_process.copies_stacks;
    if (!gone) {
        own->child = duration;
        own->sp |= BP_ENTRY_SUSPENDED;
    }
    if (bp_light_edge(own))
        leave_light(thread, own, gone);
    else if (gone)
        entry_give(thread, own);
}

void bp_thread_abandon(struct bp_thread *thread, uint64_t now) {
    leave_open(thread, now, 1);
}

/* The innermost call is not where the thread is: its frame was left unnoticed, or belongs to a
 * coroutine that is not running. That cannot be known, so its entry is not used again until it
 * returns. What runs after a coroutine is resumed belongs to whoever resumed it. */
static void drop(struct bp_thread *thread, uint64_t now) {
    struct bp_entry *entry = current_of(thread);
    if (entry->sp & BP_ENTRY_CLOSED) { /* returned on another thread, and counted there */
        settle(thread, entry, now);
        bp_thread_uncover(thread, parent_of(entry));
    } else {
        leave_open(thread, now, 0);
    }
}

/* A tail call from a hooked function to another: the slot holds the return address of a stub. */
static int is_tail_call(const struct bp_entry *entry, uint64_t sp) {
    const char *ret = *(const char *const *)sp;
    return entry->sp == sp && bp_arch_is_stub_return((uint64_t)ret);
}

/* The entry that a call made at `sp` is nested in. Calls whose frames are gone are closed. */
static struct bp_entry *settle_at(struct bp_thread *thread, uint64_t sp, uint64_t now) {
    struct bp_entry *entry = current_of(thread);
    while (entry != &thread->root && !is_tail_call(entry, sp) &&
           !(entry->sp > sp && !(entry->sp & BP_ENTRY_CLOSED))) {
        if (on_own_stack(thread, entry->sp) && !on_own_stack(thread, sp) &&
            !(entry->sp & BP_ENTRY_CLOSED))
            break; /* a handler on its own stack, or a coroutine that this call resumed */
        drop(thread, now);
        entry = current_of(thread);
    }
    return entry;
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
    struct bp_entry *parent = current_of(thread);
    if (sp && (parent->sp <= sp || parent->sp & BP_ENTRY_CLOSED))
        parent = settle_at(thread, sp, clock_now());
    struct bp_edge *edge = bp_edge_get(thread, parent->node, stub);
    struct bp_entry *entry = edge ? entry_take(thread) : NULL;
    if (!entry)
        return NULL;
    struct bp_node *node = (struct bp_node *)edge->node;
    entry->parent = (uint64_t)parent;
    entry->node = (uint64_t)node;
    entry->child = 0;
    entry->sp = sp ? sp : (parent->sp & ~FLAGS) - 8;
    bp_light_opened(thread, edge, entry);
    entry->start = clock_now();
    local_of(thread)->open[node->func]++;
    bp_thread_uncover(thread, entry);
    if (BP_STUB_KIND(stub->kind) == BP_STUB_WAIT)
        bp_wall_wait(thread, entry, entry->start);
    return entry;
}

static void tell_entered(struct bp_thread *thread, struct bp_entry *entry, uint32_t kind,
                         const struct bp_registers *registers) {
    bp_guests[BP_STUB_SOURCE_OF(kind) - 1].enter(thread, entry, BP_STUB_TAG(kind), registers);
    entry->source = kind;
    entry->start = clock_now();
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
    entry->start = clock_now();
}

/* The innermost call ends, counted neither as returned nor, unless it was aborted, at all. */
static void guest_close(struct bp_thread *thread, struct bp_entry *entry, int aborted,
                        uint64_t now) {
    if (is_told(entry))
        tell_left(thread, entry, now, NULL);
    settle(thread, entry, now);
    node_of(entry)->aborted += (uint64_t)aborted;
    bp_thread_uncover(thread, parent_of(entry));
    entry_give(thread, entry);
}

static int is_open(const struct bp_thread *thread, const struct bp_entry *entry) {
    const struct bp_entry *open = current_of(thread);
    while (open != entry && open != &thread->root)
        open = parent_of(open);
    return open == entry;
}

/* An entry opened before fork: the parent process counts the call, we only its time here. */
static void leave_inherited(struct bp_thread *thread, struct bp_entry *entry, uint64_t now) {
    const struct bp_local *local = local_of(thread);
    while (current_of(thread) != &thread->root &&
           (current_of(thread) != &thread->alias || local->inherited != entry))
        drop(thread, now);
    if (current_of(thread) == &thread->root)
        return;
    settle(thread, &thread->alias, now);
    bp_thread_uncover(thread, parent_of(entry));
}

static int leave_elsewhere(struct bp_thread *thread, struct bp_entry *entry, uint64_t now,
                           int counted) {
    if (is_open(thread, entry)) {
        while (current_of(thread) != entry)
            drop(thread, now);
        return 1;
    }
    /* Opened by another thread, whose coroutine moved here: that thread owns the entry. */
    bp_process.calls_moved = 1;
    uint64_t *calls = bp_light_is(entry)
                          ? &node_of(entry)->untimed
                          : &node_of(entry)->histogram[bp_bucket(now - entry->start)];
    if (counted)
        __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_or(&entry->sp, BP_ENTRY_CLOSED, __ATOMIC_RELAXED);
    return 0;
}

/* A call with the entry of its edge, or a sample, returned. */
static void count_light(struct bp_thread *thread, struct bp_entry *entry, uint64_t now,
                        uint64_t duration, uint64_t child) {
    struct bp_edge *edge = bp_light_edge(entry);
    if (!bp_light_is(entry)) {
        entry->source = 0;
        count_returned(node_of(entry), duration);
        bp_light_sampled(thread, edge, now, duration, duration > child ? duration - child : 0);
        return;
    }
    node_of(entry)->untimed++;
    entry->child = 0; /* the stub gives it back */
    if (!bp_light_is_untimed(entry))
        bp_light_late(edge, duration);
}

/* As bp_thread_leave; not `counted`: a call that was only resumed. */
static int leave(struct bp_thread *thread, struct bp_entry *entry, uint64_t now, uint64_t result,
                 int counted) {
    if (!now)
        now = clock_now();
    if (entry->sp & BP_ENTRY_SUSPENDED) {
        if (!(entry->sp & BP_ENTRY_INHERITED)) {
            node_of(entry)->aborted--;
            if (bp_light_is(entry))
                node_of(entry)->untimed++;
            else if (counted)
                count_returned(node_of(entry), entry->child);
        }
        entry->child = 0;
        return 1;
    }
    if (entry->sp & BP_ENTRY_INHERITED) {
        leave_inherited(thread, entry, now);
        entry->child = 0;
        return 1;
    }
    if (current_of(thread) != entry && !leave_elsewhere(thread, entry, now, counted))
        return 0;
    if (is_told(entry))
        tell_left(thread, entry, now, &result);
    uint64_t child = entry->child, duration = settle(thread, entry, now);
    if (bp_light_edge(entry))
        count_light(thread, entry, now, duration, child);
    else if (counted)
        count_returned(node_of(entry), duration);
    bp_thread_uncover(thread, parent_of(entry));
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
        entry_give(thread, entry);
    bp_pause_leave(thread);
}

void bp_thread_close(struct bp_entry *entry, uint64_t now) {
    struct bp_thread *thread = bp_thread_self();
    if (entry && thread)
        close_guest(thread, entry, now);
}

void bp_thread_abort(struct bp_entry *entry) {
    struct bp_thread *thread = bp_thread_self();
    if (!entry || !thread || current_of(thread) != entry) {
        bp_thread_close(entry, 0);
        return;
    }
    uint64_t stopped = bp_pause_enter(thread);
    guest_close(thread, entry, entry->rbx != RESUMED, stopped ? stopped : clock_now());
    bp_pause_leave(thread);
}

/* Whether what was interrupted at `at` will not go on: the stack is unwound to `sp`. */
static int is_left(const struct bp_thread *thread, uint64_t at, uint64_t sp) {
    if (on_own_stack(thread, at))
        return on_own_stack(thread, sp) && at <= sp;
    return at && (on_own_stack(thread, sp) || (at <= sp && sp - at <= SAME_STACK));
}

/* Whether its frame is gone when the stack is unwound to `sp`. */
static int is_below(const struct bp_thread *thread, const struct bp_entry *entry, uint64_t sp) {
    int own = on_own_stack(thread, sp);
    return entry != &thread->root && entry->sp <= sp && own == on_own_stack(thread, entry->sp) &&
           (own || sp - entry->sp <= SAME_STACK);
}

/* The clock is read where it is needed alone: prctl(PR_SET_TSC) may have forbidden it. */
void bp_thread_unwound(uint64_t sp) {
    struct bp_thread *thread = bp_thread_self();
    if (!thread)
        return;
    struct bp_sampled *sampled = local_of(thread)->sampled;
    if (sampled && is_left(thread, sampled->busy, sp))
        sampled->busy = BP_SAMPLED_LEFT;
    if (is_below(thread, current_of(thread), sp)) {
        uint64_t stopped = bp_pause_enter(thread), now = stopped ? stopped : clock_now();
        while (is_below(thread, current_of(thread), sp))
            bp_thread_abandon(thread, now);
        bp_pause_leave(thread);
    }
}
