/* SPDX-License-Identifier: MIT
 *
 * Birth and death of a thread's ledger. The segment of a thread (its item, nodes and entries in
 * the file) outlives it; after the first THREADS_KEPT threads a new one goes on in the segment of
 * a dead one, so a program that starts a million threads has a file for as many as ran at once.
 */
#include "interpose/ledger/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "interpose/ledger/call.h"
#include "interpose/ledger/jump.h"
#include "interpose/ledger/pause.h"
#include "interpose/ledger/task.h"
#include "interpose/ledger/timer.h"
#include "profile/clock.h"
#include "profile/stop.h"

#define THREADS_KEPT 64
#define LOCALS_AT_ONCE 8
#define ROOT_SP (~UINT64_C(7)) /* above every stack */
#define DEFAULT_STACK (8u << 20)
#define SCRATCH_NODES 8
#define SCRATCH_MAP 32 /* twice as many as its edges, of which each has a node */
#define SCRATCH_ENTRIES 8

/* A dead thread may still be running its last instructions: wait until the kernel forgot it. */
static struct bp_thread *take_dead(void) {
    if (bp_process.threads < THREADS_KEPT)
        return NULL;
    struct bp_thread **link = &bp_process.dead;
    while (*link) {
        struct bp_thread *thread = *link;
        struct bp_local *local = (struct bp_local *)thread->local;
        if (BP_SYS3(SYS_tgkill, bp_process.pid, thread->tid, 0) == -ESRCH) {
            *link = local->next_dead;
            thread->lifetime += thread->end - thread->start;
            bp_process.writer.header->threads_folded++;
            return thread;
        }
        link = &local->next_dead;
    }
    return NULL;
}

#define LOCAL_SIZE ((sizeof(struct bp_local) + BP_PAGE - 1) & ~(uint64_t)(BP_PAGE - 1))

static struct {
    char *memory;
    uint32_t left;
} locals;

/* With the lock held. Where there are many threads they are made for several: what each has beside
 * it lies together then, too, and every mapping makes every fork dearer (0.7 us). A program of few
 * threads may have little address space. */
static struct bp_local *new_local(void) {
    if (!locals.left) {
        uint32_t count = bp_process.threads < LOCALS_AT_ONCE ? 1 : LOCALS_AT_ONCE;
        locals.memory = bp_pages_new_wiped(count * LOCAL_SIZE);
        locals.left = locals.memory ? count : 0;
    }
    return locals.left ? (struct bp_local *)(locals.memory + --locals.left * LOCAL_SIZE) : NULL;
}

uint32_t *bp_thread_new_alive(void) {
    char *memory = bp_pages_new_wiped(BP_PAGE + LOCAL_SIZE);
    if (!memory)
        return NULL;
    locals.memory = memory + BP_PAGE;
    locals.left = 1;
    return (uint32_t *)memory;
}

static void set_local(struct bp_thread *thread, struct bp_local *local) {
    thread->local = (uint64_t)local;
    thread->last = (uint64_t)local->last - (uint64_t)bp_stubs / 2;
}

static struct bp_thread *new_segment(void) {
    uint32_t index;
    struct bp_local *local = new_local();
    if (!local)
        return NULL;
    struct bp_thread *thread = bp_writer_item(&bp_process.writer, BP_THREADS, &index);
    if (!thread)
        return NULL;
    thread->index = index;
    set_local(thread, local);
    BP_STOP(SEGMENT_ITEM);
    bp_writer_commit(&bp_process.writer, BP_THREADS);
    bp_process.threads++;
    return thread;
}

void bp_thread_open_root(struct bp_thread *thread, struct bp_node *node, uint64_t now) {
    thread->root.start = now;
    thread->root.child = 0;
    thread->root.parent = (uint64_t)&thread->root;
    thread->root.node = (uint64_t)node;
    thread->root.sp = ROOT_SP;
    thread->current = (uint64_t)&thread->root;
    thread->jumped = 0;
    thread->start = now;
    thread->end = 0;
}

static struct bp_thread *begin(uint64_t low, uint64_t high, int late) {
    bp_lock_inner(&bp_process.lock);
    struct bp_thread *thread = take_dead();
    int fresh = !thread;
    if (fresh)
        thread = new_segment();
    bp_unlock_inner(&bp_process.lock);
    BP_STOP(SEGMENT_COUNTED);
    if (!thread)
        return NULL;
    struct bp_local *local = (struct bp_local *)thread->local;
    struct bp_node *root = fresh ? bp_node_new(thread, BP_NO_NODE, BP_FUNC_INDEX_ROOT)
                                 : (struct bp_node *)thread->root.node;
    if (!root)
        return NULL;
    local->stack_low = low;
    local->stack_high = high;
    local->stack_half = (high - low) / 2;
    local->key_set = 0;
    local->key_rounds = 0;
    local->cpu_before = local->queued_before = 0;
    if (local->sampled && local->sampled->busy)
        local->sampled->busy = BP_SAMPLED_LEFT;
    thread->tid = (int32_t)BP_SYS0(SYS_gettid);
    thread->late = (uint32_t)late;
    thread->lives++;
    BP_SYS2(SYS_prctl, PR_GET_NAME, thread->name);
    if (late)
        bp_thread_ran_before(thread);
    bp_thread_open_root(thread, root, bp_process_now());
    BP_STOP(SEGMENT_ROOT);
    __atomic_store_n(&thread->state, BP_THREAD_LIVE, __ATOMIC_SEQ_CST);
    bp_pause_thread_begin(thread, thread->start);
    return thread;
}

struct bp_thread *bp_thread_begin(uint64_t low, uint64_t high, int late) {
    if (!bp_process.on || bp_orphaned())
        return NULL;
    uint64_t mask = bp_signals_block();
    struct bp_thread *thread = begin(low, high, late);
    if (thread) {
        bp_wall_join(thread, thread->start);
        bp_self = thread;
        bp_timer_begin(thread);
    }
    bp_signals_restore(mask);
    return thread;
}

/* The size of the stack of a thread whose beginning was not seen. */
static uint64_t usual_stack(void) {
    struct rlimit limit;
    if (BP_SYS4(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        return limit.rlim_cur;
    return DEFAULT_STACK;
}

struct bp_thread *bp_thread_adopt(void) {
    if (!bp_process.on || bp_orphaned())
        return NULL;
    uint64_t high = bp_arch_stack_top(), low = high - usual_stack();
    if (BP_SYS0(SYS_gettid) == bp_process.pid) {
        low = bp_process.main_low;
        high = bp_process.main_high;
    }
    struct bp_thread *thread = bp_thread_begin(low, high, 1);
    if (thread && bp_process.arm) {
        bp_arch_before_preserving();
        bp_call_preserving(bp_process.arm, thread);
    }
    return thread;
}

static uint64_t parse_number(const char **text) {
    uint64_t value = 0;
    while (**text == ' ')
        ++*text;
    for (; **text >= '0' && **text <= '9'; ++*text)
        value = 10 * value + (uint64_t)(**text - '0');
    return value;
}

/* The time on the run queue matters only to a thread that was off the CPU for long, and asking for
 * it costs 20 µs. */
#define OFF_CPU_NS 5000000

uint64_t bp_ticks_to_ns(uint64_t ticks) {
    uint64_t rate = bp_process.writer.header->ticks_per_s;
    if (bp_process.clock == BP_CLOCK_MONOTONIC || rate < 1000000)
        return ticks;
    return ticks / (rate / 1000000) * 1000;
}

uint64_t bp_thread_queued_ns(void) {
    char text[64] = "";
    const char *at = text;
    long fd = BP_SYS3(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    long length = BP_SYS3(SYS_read, fd, text, sizeof text - 1);
    BP_SYS1(SYS_close, fd);
    parse_number(&at); /* time on a CPU */
    return length > 0 ? parse_number(&at) : 0;
}

void bp_thread_ran_before(struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    local->cpu_before = bp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    local->queued_before = bp_thread_queued_ns();
}

void bp_thread_note_cpu(struct bp_thread *thread) {
    const struct bp_local *local = (const struct bp_local *)thread->local;
    uint64_t cpu = bp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - local->cpu_before;
    thread->cpu_ns += cpu;
    if (bp_ticks_to_ns(bp_process_now() - thread->start) >= cpu + OFF_CPU_NS)
        thread->runqueue_ns += bp_thread_queued_ns() - local->queued_before;
}

void bp_thread_end(struct bp_thread *thread) {
    if (bp_orphaned() || thread->state != BP_THREAD_LIVE)
        return;
    uint64_t signals = bp_signals_block();
    bp_timer_end(thread);
    uint64_t stopped = bp_pause_enter(thread), now = bp_process_now();
    if (bp_jump_is(bp_thread_innermost(thread)))
        bp_jump_close(thread, bp_thread_innermost(thread), now, 0);
    while (bp_thread_innermost(thread) != &thread->root)
        bp_thread_abandon(thread, stopped ? stopped : now);
    bp_task_end_all(thread, now, 0);
    if (stopped)
        bp_pause_thread_end(thread, now);
    struct bp_node *root = (struct bp_node *)thread->root.node;
    uint64_t life = now - thread->root.start;
    root->total += life;
    root->self += life > thread->root.child ? life - thread->root.child : 0;
    bp_wall_part(thread, now); /* at once: in what follows it may lose its CPU */
    BP_SYS2(SYS_prctl, PR_GET_NAME, thread->name);
    bp_thread_note_cpu(thread);
    thread->end = now;
    __atomic_store_n(&thread->state, BP_THREAD_ENDED, __ATOMIC_RELEASE);
    BP_STOP(SEGMENT_ENDED);
    bp_lock_inner(&bp_process.lock);
    ((struct bp_local *)thread->local)->next_dead = bp_process.dead;
    bp_process.dead = thread;
    bp_unlock_inner(&bp_process.lock);
    bp_signals_restore(signals);
}

/* A thread that exists only to measure the cost of a stub: one piece of memory, no file. */
struct scratch {
    struct bp_edge edges[SCRATCH_NODES];
    struct bp_thread thread;
    struct bp_entry entries[SCRATCH_ENTRIES];
    struct bp_edge *map[SCRATCH_MAP];
    struct bp_chunk chunk;
    struct bp_node nodes[SCRATCH_NODES];
    struct bp_local local;
};

/* For the first one, which every process needs: to give its eight pages back takes 20 us. */
static struct scratch first_scratch __attribute__((aligned(BP_PAGE)));

static struct scratch *new_scratch(void) {
    static int taken;
    return __atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED) ? bp_pages_new(sizeof(struct scratch))
                                                            : &first_scratch;
}

struct bp_thread *bp_thread_scratch(void) {
    struct scratch *scratch = new_scratch();
    if (!scratch)
        return NULL;
    struct bp_thread *thread = &scratch->thread;
    scratch->chunk.capacity = SCRATCH_NODES;
    scratch->local.nodes = &scratch->chunk;
    scratch->local.map = scratch->map;
    scratch->local.map_size = SCRATCH_MAP;
    scratch->local.spare = scratch->edges;
    scratch->local.spare_count = SCRATCH_NODES;
    scratch->local.stack_high = UINT64_MAX;
    set_local(thread, &scratch->local);
    thread->free = (uint64_t)scratch->entries;
    for (int i = 0; i < SCRATCH_ENTRIES - 1; i++)
        scratch->entries[i].child = (uint64_t)&scratch->entries[i + 1];
    bp_thread_open_root(thread, bp_node_new(thread, BP_NO_NODE, BP_FUNC_INDEX_ROOT),
                        bp_process_now());
    return thread;
}

void bp_thread_scratch_free(struct bp_thread *thread) {
    struct scratch *scratch = (void *)((char *)thread - offsetof(struct scratch, thread));
    if (scratch != &first_scratch)
        bp_pages_free(scratch, sizeof *scratch);
}
