/* SPDX-License-Identifier: MIT
 *
 * One sweep over the beginnings and ends of all intervals in the order of time. Between two events
 * nothing changes, so each such piece is charged as a whole. What is open at an instant is kept in
 * short lists: calls are as many as threads in CUDA, device work as many as engines.
 */
#include "cuda/attribute.h"

#define NONE UINT32_MAX
#define BLOCK 16 /* events that are sorted by insertion */

/* An event's id: index of the interval, works after calls; the lowest bit is set for an end. */
struct bp_sweep_event {
    uint64_t time;
    uint64_t id;
};

struct list {
    uint32_t *items;
    uint32_t count;
};

struct sweep {
    const struct bp_call_interval *calls;
    const struct bp_work_interval *works;
    uint32_t call_count;
    uint32_t work_count;
    struct bp_sweep_event *events;
    uint64_t event_count;
    struct list open_calls; /* by thread, outer ones before inner ones */
    struct list kinds[3];   /* open works by kind, in the order of their beginning */
    struct bp_busy *busy;
    bp_charge_fn *charge;
    void *data;
};

static int before(const struct bp_sweep_event *a, const struct bp_sweep_event *b) {
    return a->time != b->time ? a->time < b->time : a->id < b->id;
}

static void sort_block(struct bp_sweep_event *events, uint64_t count) {
    for (uint64_t i = 1; i < count; i++) {
        struct bp_sweep_event moved = events[i];
        uint64_t k = i;
        for (; k > 0 && before(&moved, &events[k - 1]); k--)
            events[k] = events[k - 1];
        events[k] = moved;
    }
}

/* Two sorted neighbours, of `left` and `right` events, to one. */
static void merge(struct bp_sweep_event *events, uint64_t left, uint64_t right,
                  struct bp_sweep_event *scratch) {
    uint64_t a = 0, b = left, to = 0, end = left + right;
    if (!before(&events[left], &events[left - 1]))
        return;
    while (!before(&events[left], &events[to])) /* these stay where they are */
        to++;
    for (uint64_t i = to; i < left; i++)
        scratch[i] = events[i];
    for (a = to; a < left; to++)
        events[to] = b < end && before(&events[b], &scratch[a]) ? events[b++] : scratch[a++];
}

/* Merge sort, because records come nearly in order: neighbours that are in order cost one
 * comparison. libc's qsort may allocate. */
static void sort_events(struct bp_sweep_event *events, uint64_t count,
                        struct bp_sweep_event *scratch) {
    for (uint64_t i = 0; i < count; i += BLOCK)
        sort_block(events + i, count - i < BLOCK ? count - i : BLOCK);
    for (uint64_t width = BLOCK; width < count; width *= 2)
        for (uint64_t i = 0; i + width < count; i += 2 * width) {
            uint64_t rest = count - i - width;
            merge(events + i, width, rest < width ? rest : width, scratch);
        }
}

static void add_events(struct sweep *sweep, uint64_t id, uint64_t start, uint64_t end,
                       uint64_t limit) {
    if (end <= start || start >= limit)
        return;
    sweep->events[sweep->event_count++] = (struct bp_sweep_event){start, id << 1};
    if (end <= limit)
        sweep->events[sweep->event_count++] = (struct bp_sweep_event){end, id << 1 | 1};
}

static void push(struct list *list, uint32_t item) {
    list->items[list->count++] = item;
}

static void take_out(struct list *list, uint32_t item) {
    uint32_t i = 0;
    while (i < list->count && list->items[i] != item)
        i++;
    for (; i + 1 < list->count; i++)
        list->items[i] = list->items[i + 1];
    list->count--;
}

/* Calls nest: the inner one of a thread began later; of those that began together it ends sooner,
 * or was reported first, as an inner call returns before its outer one. */
static int is_inner(const struct sweep *sweep, uint32_t a, uint32_t b) {
    const struct bp_call_interval *x = &sweep->calls[a];
    const struct bp_call_interval *y = &sweep->calls[b];
    if (x->start != y->start)
        return x->start > y->start;
    return x->end != y->end ? x->end < y->end : a < b;
}

static int is_of_thread(const struct sweep *sweep, uint32_t place, uint32_t call) {
    const struct list *list = &sweep->open_calls;
    return place < list->count &&
           sweep->calls[list->items[place]].thread == sweep->calls[call].thread;
}

/* Calls of a thread stand together, the innermost one last. */
static void push_call(struct sweep *sweep, uint32_t call) {
    struct list *list = &sweep->open_calls;
    uint32_t place = 0;
    while (place < list->count && !is_of_thread(sweep, place, call))
        place++;
    while (is_of_thread(sweep, place, call) && !is_inner(sweep, list->items[place], call))
        place++;
    for (uint32_t i = list->count++; i > place; i--)
        list->items[i] = list->items[i - 1];
    list->items[place] = call;
}

/* 2 for the call's own work, 1 for its thread's, 0 for any other. */
static int closeness(const struct bp_work_interval *work, const struct bp_call_interval *call) {
    return work->thread == call->thread ? 1 + (work->node == call->node) : 0;
}

static const struct bp_work_interval *choose(const struct sweep *sweep, const struct list *list,
                                             const struct bp_call_interval *call) {
    const struct bp_work_interval *best = NULL;
    int best_closeness = -1;
    for (uint32_t i = 0; i < list->count && best_closeness < 2; i++) {
        const struct bp_work_interval *work = &sweep->works[list->items[i]];
        int close = call ? closeness(work, call) : 0;
        if (close > best_closeness) {
            best = work;
            best_closeness = close;
        }
    }
    return best;
}

static void charge_call(const struct sweep *sweep, const struct bp_call_interval *call,
                        uint64_t time) {
    struct bp_charge charge = {BP_CHARGE_OVERHEAD, call->thread, call->node, NONE, time,
                               call->start,        call->mark,   0};
    const struct bp_work_interval *work = choose(sweep, &sweep->kinds[BP_WORK_COPY], call);
    if (work) {
        charge.kind = BP_CHARGE_TRANSFER;
    } else if ((work = choose(sweep, &sweep->kinds[BP_WORK_KERNEL], call))) {
        charge.kind = BP_CHARGE_WAIT;
    }
    charge.owner = work ? work->owner : NONE;
    sweep->charge(sweep->data, &charge);
}

static uint32_t devices_of(const struct sweep *sweep, const struct list *list) {
    uint32_t devices = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        uint16_t device = sweep->works[list->items[i]].device;
        devices |= 1u << (device < BP_ATTRIBUTE_DEVICES ? device : BP_ATTRIBUTE_DEVICES - 1);
    }
    return devices;
}

static void add_busy(const struct sweep *sweep, uint64_t time) {
    uint32_t copy = devices_of(sweep, &sweep->kinds[BP_WORK_COPY]);
    uint32_t compute = devices_of(sweep, &sweep->kinds[BP_WORK_KERNEL]);
    uint32_t any = devices_of(sweep, &sweep->kinds[BP_WORK_OTHER]) | copy | compute;
    for (unsigned i = 0; any >> i; i++) {
        sweep->busy[i].any += any >> i & 1 ? time : 0;
        sweep->busy[i].copy += copy >> i & 1 ? time : 0;
        sweep->busy[i].compute += compute >> i & 1 ? time : 0;
        if (i == BP_ATTRIBUTE_DEVICES - 1)
            break;
    }
}

/* A stretch of time in which nothing begins or ends. */
static void charge_piece(const struct sweep *sweep, uint64_t time) {
    if (sweep->busy)
        add_busy(sweep, time);
    for (uint32_t i = 0; i < sweep->open_calls.count; i++) {
        uint32_t call = sweep->open_calls.items[i];
        if (!is_of_thread(sweep, i + 1, call))
            charge_call(sweep, &sweep->calls[call], time);
    }
    const struct bp_work_interval *copy = choose(sweep, &sweep->kinds[BP_WORK_COPY], NULL);
    if (copy && sweep->open_calls.count == 0) {
        struct bp_charge charge = {BP_CHARGE_HIDDEN, NONE, NONE, copy->owner, time, 0, 0, 0};
        sweep->charge(sweep->data, &charge);
    }
}

static void apply(struct sweep *sweep, uint64_t id) {
    uint32_t index = (uint32_t)(id >> 1);
    struct list *list = &sweep->open_calls;
    if (index >= sweep->call_count) {
        index -= sweep->call_count;
        list = &sweep->kinds[sweep->works[index].kind % 3];
    }
    if (id & 1)
        take_out(list, index);
    else if (list == &sweep->open_calls)
        push_call(sweep, index);
    else
        push(list, index);
}

/* The lists of open works have room for all of them each; behind the events is room for as many. */
static void run(struct sweep *sweep, uint32_t *active, uint64_t limit) {
    sweep->open_calls.items = active;
    for (int i = 0; i < 3; i++)
        sweep->kinds[i].items = active + sweep->call_count + (size_t)i * sweep->work_count;
    for (uint32_t i = 0; i < sweep->call_count; i++)
        add_events(sweep, i, sweep->calls[i].start, sweep->calls[i].end, limit);
    for (uint32_t i = 0; i < sweep->work_count; i++)
        add_events(sweep, (uint64_t)sweep->call_count + i, sweep->works[i].start,
                   sweep->works[i].end, limit);
    sort_events(sweep->events, sweep->event_count,
                sweep->events + 2 * ((size_t)sweep->call_count + sweep->work_count));
    for (uint64_t i = 0; i < sweep->event_count; i++) {
        apply(sweep, sweep->events[i].id);
        uint64_t next = i + 1 < sweep->event_count ? sweep->events[i + 1].time : limit;
        uint64_t time = next - sweep->events[i].time;
        if (time > 0 && sweep->open_calls.count + sweep->kinds[BP_WORK_COPY].count +
                                sweep->kinds[BP_WORK_KERNEL].count +
                                sweep->kinds[BP_WORK_OTHER].count >
                            0)
            charge_piece(sweep, time);
    }
}

static size_t events_size(uint32_t calls, uint32_t works) {
    return ((size_t)calls + works) * 4 * sizeof(struct bp_sweep_event);
}

static size_t active_size(uint32_t calls, uint32_t works) {
    return (((size_t)calls + 3 * (size_t)works) * sizeof(uint32_t) + 7) & ~(size_t)7;
}

size_t bp_window_size(uint32_t calls, uint32_t works) {
    return events_size(calls, works) + active_size(calls, works) +
           calls * sizeof(struct bp_call_interval) + works * sizeof(struct bp_work_interval);
}

void bp_window_init(struct bp_window *window, void *memory, uint32_t calls, uint32_t works) {
    char *at = memory;
    *window = (struct bp_window){.call_capacity = calls, .work_capacity = works};
    window->events = (void *)at;
    at += events_size(calls, works);
    window->calls = (void *)at;
    at += calls * sizeof(struct bp_call_interval);
    window->works = (void *)at;
    at += works * sizeof(struct bp_work_interval);
    window->active = (void *)at;
}

int bp_window_call(struct bp_window *window, const struct bp_call_interval *call) {
    if (call->end <= call->start || call->end <= window->horizon)
        return 0;
    if (window->call_count == window->call_capacity)
        return -1;
    struct bp_call_interval *to = &window->calls[window->call_count++];
    *to = *call;
    if (to->start < window->horizon)
        to->start = window->horizon;
    return 0;
}

int bp_window_work(struct bp_window *window, const struct bp_work_interval *work) {
    if (work->end <= work->start)
        return 0;
    if (work->end > window->horizon && window->work_count == window->work_capacity)
        return -1;
    if (work->start < window->horizon) {
        uint64_t end = work->end < window->horizon ? work->end : window->horizon;
        window->late_works++;
        window->late_time += end - work->start;
    }
    if (work->end <= window->horizon)
        return 0;
    struct bp_work_interval *to = &window->works[window->work_count++];
    *to = *work;
    if (to->start < window->horizon)
        to->start = window->horizon;
    return 0;
}

/* What ends after the horizon stays, from the horizon on. */
static void forget(struct bp_window *window) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < window->call_count; i++) {
        struct bp_call_interval call = window->calls[i];
        if (call.end <= window->horizon)
            continue;
        if (call.start < window->horizon)
            call.start = window->horizon;
        window->calls[kept++] = call;
    }
    window->call_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < window->work_count; i++) {
        struct bp_work_interval work = window->works[i];
        if (work.end <= window->horizon)
            continue;
        if (work.start < window->horizon)
            work.start = window->horizon;
        window->works[kept++] = work;
    }
    window->work_count = kept;
}

void bp_window_fold(struct bp_window *window, uint64_t horizon, bp_charge_fn *charge, void *data) {
    if (horizon <= window->horizon)
        return;
    struct sweep sweep = {
        .calls = window->calls,
        .works = window->works,
        .call_count = window->call_count,
        .work_count = window->work_count,
        .events = window->events,
        .busy = window->busy,
        .charge = charge,
        .data = data,
    };
    run(&sweep, window->active, horizon);
    window->horizon = horizon;
    forget(window);
}

void bp_attribute(const struct bp_call_interval *calls, uint32_t call_count,
                  const struct bp_work_interval *works, uint32_t work_count, void *memory,
                  struct bp_busy *busy, bp_charge_fn *charge, void *data) {
    struct sweep sweep = {
        .calls = calls,
        .works = works,
        .call_count = call_count,
        .work_count = work_count,
        .events = memory,
        .busy = busy,
        .charge = charge,
        .data = data,
    };
    run(&sweep, (uint32_t *)((char *)memory + events_size(call_count, work_count)), UINT64_MAX);
}
