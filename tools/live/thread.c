/* SPDX-License-Identifier: MIT
 *
 * Reading a thread that goes on: open calls first, then nodes, then the sum that must be right.
 */
#include "tools/live/thread.h"

#include <math.h>
#include <string.h>

#include "profile/clock.h"
#include "profile/tree.h"
#include "tools/base/memory.h"

#define DEEPEST 65536 /* open calls that are followed */
#define ATTEMPTS 4    /* readings of a thread that moves on */
#define TOLERANCE                                                                                  \
    0.002 /* seconds by which self times and lifetime may differ, as in a thousandth */

/* Open calls as one reading found them. */
struct open_call {
    uint64_t start;
    uint64_t child;
    uint32_t node;
};

static struct {
    struct open_call *calls; /* innermost first */
    uint32_t count;
    uint64_t paused; /* ticks, beside the calls */
} found;

uint64_t bp_live_view_now(const struct bp_live_view *view) {
    return view->end ? view->end : bp_clock_now(view->clock);
}

static uint64_t count_calls(const struct bp_node *node) {
    uint64_t calls = node->aborted + (node->last != 0);
    for (unsigned i = 1; i < BP_BUCKETS; i++)
        calls += node->histogram[i];
    return calls;
}

static double *account_of(struct bp_live_times *times, const struct bp_live_function *function) {
    return function->kind == BP_FUNC_WAIT || function->kind == BP_FUNC_PAUSED
               ? &times->waiting_s
               : &times->category_s[function->category];
}

static struct bp_live_node *put_node(struct bp_live_thread *thread, const struct bp_live_view *view,
                                     const struct bp_node *source, uint32_t index) {
    while (thread->node_count <= index) {
        struct bp_live_node *node = BP_APPEND(thread->nodes, thread->node_count);
        node->function = BP_KEYS_NONE;
    }
    struct bp_live_node *node = &thread->nodes[index];
    if (node->function == BP_KEYS_NONE && source->func < view->map_count) {
        node->function = view->map[source->func];
        node->parent = source->parent < index ? source->parent : 0;
    }
    return node;
}

/* A node whose self time is as it was has had no call that ended, but for counted ones: its
 * histogram is not read. */
static void look_at_node(struct bp_live_thread *thread, const struct bp_live_view *view,
                         const struct bp_node *source, uint32_t index, bool has_untimed) {
    struct bp_live_node *node = put_node(thread, view, source, index);
    uint64_t self = __atomic_load_n(&source->self, __ATOMIC_RELAXED);
    uint64_t untimed = has_untimed ? __atomic_load_n(&source->untimed, __ATOMIC_RELAXED) : 0;
    if (node->function == BP_KEYS_NONE || (self == node->self && untimed == node->untimed))
        return;
    struct bp_live_function *function = &view->functions->rows[node->function];
    uint64_t calls = index ? count_calls(source) + untimed : 0;
    double s = (double)(int64_t)(self - node->self) * view->tick_s;
    function->self_s += s;
    function->calls += calls - node->calls;
    *account_of(&thread->ended, function) += s;
    node->self = self;
    node->untimed = untimed;
    node->calls = calls;
}

static void look_at_nodes(struct bp_live_thread *thread, const struct bp_live_view *view) {
    uint32_t count;
    for (uint32_t i = 0; i < view->file->chunk_count; i++) {
        const struct bp_live_chunk *chunk = &view->file->chunks[i];
        if (chunk->kind != BP_NODES || chunk->thread != thread->slot || chunk->first > 1 << 20)
            continue;
        const char *items =
            bp_live_file_items(view->file, chunk, offsetof(struct bp_node, first), &count);
        for (uint32_t n = 0; items && n < count; n++)
            look_at_node(thread, view,
                         (const struct bp_node *)(items + (size_t)n * chunk->item_size),
                         chunk->first + n, chunk->item_size > offsetof(struct bp_node, untimed));
    }
}

/* The thread's own item has two entries in it: its root, and the alias after a fork. */
static const struct bp_entry *find_entry(const struct bp_live_view *view,
                                         const struct bp_thread *source, uint64_t address,
                                         uint64_t root) {
    uint32_t index;
    if (address == root)
        return &source->root;
    if (address == root + offsetof(struct bp_thread, alias) - offsetof(struct bp_thread, root))
        return &source->alias;
    return bp_live_file_at(view->file, BP_ENTRIES, source->index, address, sizeof(struct bp_entry),
                           &index);
}

/* A curtain, which stops and starts draw, is no call (interpose/ledger/pause.h). */
static uint64_t behind_curtain(const struct bp_thread *source, uint64_t address, uint64_t root) {
    uint64_t thread = root - offsetof(struct bp_thread, root);
    for (unsigned i = 0; i < 2; i++)
        if (address == thread + offsetof(struct bp_thread, curtain) + i * sizeof(struct bp_entry))
            return source->curtain[i].parent;
    return address;
}

/* Where the target has the thread's root. */
static uint64_t root_address(const struct bp_live_view *view, const struct bp_thread *source) {
    for (uint32_t i = 0; i < view->file->chunk_count; i++) {
        const struct bp_live_chunk *chunk = &view->file->chunks[i];
        const char *head = view->file->live.data + chunk->offset;
        if (chunk->kind == BP_THREADS && (const char *)source > head &&
            (const char *)source < head + chunk->size)
            return chunk->address + (uint64_t)((const char *)&source->root - head);
    }
    return 0;
}

static void add_found(const struct bp_entry *entry, uint32_t node, uint64_t earliest) {
    struct open_call *call = BP_APPEND(found.calls, found.count);
    uint64_t start = __atomic_load_n(&entry->start, __ATOMIC_RELAXED);
    call->start = start > earliest ? start : earliest; /* before fork, or in an earlier life */
    call->child = entry->child;
    call->node = node;
}

static void find_open(const struct bp_live_view *view, const struct bp_thread *source) {
    uint64_t root = root_address(view, source);
    uint64_t address =
        behind_curtain(source, __atomic_load_n(&source->current, __ATOMIC_ACQUIRE), root);
    found.count = 0;
    while (found.count < DEEPEST) {
        uint32_t node = 0;
        const struct bp_entry *entry = find_entry(view, source, address, root);
        if (!entry)
            return;
        if (address != root && !bp_live_file_at(view->file, BP_NODES, source->index, entry->node,
                                                offsetof(struct bp_node, first), &node))
            node = 0;
        add_found(entry, node, source->start);
        if (address == root)
            return;
        address = entry->parent;
    }
}

static uint64_t above(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* Ticks that the thread was paused and has not taken out of its calls yet, as
 * tools/model/pause/settle.c has it; they are taken out here. */
static uint64_t take_out_pauses(const struct bp_live_view *view, const struct bp_thread *source,
                                uint64_t now) {
    const struct bp_header *header = bp_live_file_header(view->file);
    if (!header->pauses || !found.count)
        return 0;
    uint64_t trace = found.calls[0].start + found.calls[0].child, seen = source->paused_seen;
    uint64_t since =
        header->paused_since && header->paused_since < now ? header->paused_since : now;
    uint64_t missed = above(header->paused, seen), room = above(since, trace);
    missed = missed < room ? missed : room;
    uint64_t stopped = since + above(seen, header->paused);
    stopped = stopped > trace + missed ? stopped : trace + missed;
    missed += above(now, stopped);
    for (uint32_t i = 0; i + 1 < found.count; i++)
        found.calls[i].start += missed;
    found.calls[found.count - 1].child += missed;
    return missed;
}

static void show_call(struct bp_live_thread *thread, uint32_t function, double age_s) {
    if (thread->depth++ < BP_LIVE_CALLS)
        thread->calls[thread->call_count++] = (struct bp_live_call){function, age_s};
}

/* The time of calls that are open goes to `now` alone: in the next look they are others. */
static void account_open(struct bp_live_thread *thread, const struct bp_live_view *view,
                         uint64_t now, bool final) {
    uint64_t inner = now;
    thread->now = thread->ended;
    thread->now.waiting_s += view->stopped ? 0 : (double)found.paused * view->tick_s;
    for (uint32_t i = 0; i < found.count; i++) {
        struct open_call *call = &found.calls[i];
        uint64_t start = bp_entry_start(call->start, call->child, inner);
        start = start < inner ? start : inner;
        double ticks = (double)(inner - start) - (double)call->child;
        double s = !view->stopped && ticks > 0 ? ticks * view->tick_s : 0;
        inner = start;
        if (call->node >= thread->node_count || thread->nodes[call->node].function == BP_KEYS_NONE)
            continue;
        uint32_t row = thread->nodes[call->node].function;
        struct bp_live_function *function = &view->functions->rows[row];
        *account_of(&thread->now, function) += s;
        if (!final)
            continue;
        *(view->end ? &function->self_s : &function->open_s) += s; /* ended: it never will again */
        function->open += call->node > 0;
        if (call->node > 0)
            show_call(thread, row, (double)(now - start) * view->tick_s);
    }
}

double bp_live_times_busy(const struct bp_live_times *times) {
    double sum = 0;
    for (int i = 0; i < BP_CATEGORIES; i++)
        sum += times->category_s[i];
    return sum;
}

static bool adds_up(const struct bp_live_thread *thread, const struct bp_live_view *view,
                    const struct bp_thread *source, uint64_t now) {
    uint64_t end = source->state == BP_THREAD_ENDED ? source->end : now;
    uint64_t lived = source->lifetime + (end > source->start ? end - source->start : 0);
    double lived_s = (double)lived * view->tick_s;
    double sum_s = bp_live_times_busy(&thread->now) + thread->now.waiting_s;
    return fabs(sum_s - lived_s) < TOLERANCE + lived_s / 1000;
}

static struct bp_tree_word read_word(const struct bp_tree *tree) {
    struct bp_tree_word word;
    uint64_t again;
    unsigned attempts = 0;
    do {
        word.time_n = __atomic_load_n(&tree->word.time_n, __ATOMIC_ACQUIRE);
        word.v = __atomic_load_n(&tree->word.v, __ATOMIC_ACQUIRE);
        again = __atomic_load_n(&tree->word.time_n, __ATOMIC_ACQUIRE);
    } while (again != word.time_n && ++attempts < 100);
    return word;
}

/* tree.v now, or at the process's end. */
static uint64_t v_of(const struct bp_live_view *view, uint64_t now) {
    const struct bp_header *header = bp_live_file_header(view->file);
    uint64_t idle;
    if (view->end && header->end_v)
        return header->end_v;
    return bp_tree_at(read_word(view->tree), view->tree->start, now, &idle).v;
}

static double wall_part(const struct bp_live_view *view, const struct bp_thread *source,
                        uint64_t now) {
    uint64_t v = source->v;
    bool busy = source->in_tree && !source->wait_entry && source->state == BP_THREAD_LIVE;
    if (busy && view->tree && !view->stopped)
        v += above(v_of(view, now), source->v_since);
    return (double)v / (1 << BP_TREE_V_SHIFT) * view->tick_s;
}

/* What of its part of the wall was in pauses, s. */
static double paused_part(const struct bp_live_view *view, const struct bp_thread *source,
                          uint64_t now) {
    const struct bp_header *header = bp_live_file_header(view->file);
    bool busy = source->in_tree && !source->wait_entry && source->state == BP_THREAD_LIVE;
    if (!header->pauses)
        return 0;
    uint64_t v = header->paused_v, paused = source->paused_v;
    if (header->paused_since && !view->stopped)
        v += above(v_of(view, now), header->paused_since_v);
    paused += busy ? above(v, source->paused_seen_v) : 0;
    return (double)paused / (1 << BP_TREE_V_SHIFT) * view->tick_s;
}

double bp_live_paused_idle(const struct bp_live_view *view) {
    const struct bp_header *header = bp_live_file_header(view->file);
    uint64_t idle = 0, now = bp_live_view_now(view), paused = header->paused_idle;
    if (header->paused_since && view->tree && !view->stopped) {
        bp_tree_at(read_word(view->tree), view->tree->start, now, &idle);
        uint64_t since = above(now, header->paused_since);
        paused += idle < since ? idle : since;
    }
    return (double)paused * view->tick_s;
}

/* The wall page may be unknown: then a thread has all of its own time. */
static void set_wall(struct bp_live_thread *thread, const struct bp_live_view *view,
                     const struct bp_thread *source, uint64_t now) {
    thread->now.wall_s =
        view->tree ? wall_part(view, source, now) : bp_live_times_busy(&thread->now);
    thread->now.paused_s =
        view->tree ? fmin(paused_part(view, source, now), thread->now.wall_s) : 0;
    thread->now.wall_s -= thread->now.paused_s;
}

void bp_live_thread_look(struct bp_live_thread *thread, const struct bp_live_view *view,
                         const struct bp_thread *source) {
    uint64_t now = 0;
    thread->before = thread->now;
    thread->call_count = thread->depth = 0;
    thread->alive = source->state == BP_THREAD_LIVE && !view->end && !view->stopped;
    thread->tid = source->tid;
    for (int i = 0; i < ATTEMPTS; i++) {
        now = bp_live_view_now(view);
        found.count = 0;
        if (source->state == BP_THREAD_LIVE)
            find_open(view, source);
        found.paused = take_out_pauses(view, source, now);
        look_at_nodes(thread, view);
        account_open(thread, view, now, false);
        if (adds_up(thread, view, source, now))
            break;
    }
    account_open(thread, view, now, true);
    set_wall(thread, view, source, now);
}

struct bp_live_times bp_live_thread_interval(const struct bp_live_thread *thread) {
    struct bp_live_times times;
    for (int i = 0; i < BP_CATEGORIES; i++)
        times.category_s[i] = fmax(0, thread->now.category_s[i] - thread->before.category_s[i]);
    times.waiting_s = fmax(0, thread->now.waiting_s - thread->before.waiting_s);
    times.wall_s = fmax(0, thread->now.wall_s - thread->before.wall_s);
    return times;
}
