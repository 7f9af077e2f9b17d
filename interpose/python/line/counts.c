/* SPDX-License-Identifier: MIT
 *
 * A line's clock starts at its event and stops at the frame's next one. What an event itself takes
 * is known from calibration (line_cost.c) and is added up per thread as it happens, so the time of
 * a line is free of it, also of the events in the functions that the line calls.
 */
#include "interpose/python/line/counts.h"

#include <string.h>

#include "interpose/python/line/table.h"
#include "profile/clock.h"

#define STRETCHES 64    /* made at a time */
#define FIRST_OPEN 1024 /* numbers of lines that a thread has room for at first */

/* What a thread has of lines. */
struct bp_py_line_thread {
    struct bp_py_stretch *innermost;
    struct bp_py_stretch *free;
    uint64_t own;   /* ticks / 256 that line events took */
    uint32_t *open; /* by number of a line: stretches that are open */
    uint32_t open_count;
    uint32_t lives; /* bp_thread.lives */
};

struct bp_py_line_cost bp_py_line_cost;

static struct bp_py_line_thread *new_thread(struct bp_local *local) {
    struct bp_py_line_thread *self = local->lines ? local->lines : bp_pages_new(sizeof *self);
    if (!self)
        return NULL;
    /* A thread that was ended within frames left them behind. */
    self->innermost = self->free = NULL;
    self->lives = bp_self->lives;
    for (uint32_t i = 0; i < self->open_count; i++)
        self->open[i] = 0;
    local->lines = self;
    return self;
}

static inline struct bp_py_line_thread *line_thread(void) {
    struct bp_local *local = bp_self ? (struct bp_local *)bp_self->local : NULL;
    if (__builtin_expect(local && local->lines && local->lines->lives == bp_self->lives, 1))
        return local->lines;
    return local ? new_thread(local) : NULL;
}

static __attribute__((noinline)) uint32_t *grow_open(struct bp_py_line_thread *self,
                                                     uint32_t number) {
    uint32_t count = self->open_count ? 2 * self->open_count : FIRST_OPEN;
    while (count <= number)
        count *= 2;
    uint32_t *open = bp_pages_new(count * sizeof *open);
    if (!open)
        return NULL;
    if (self->open) {
        memcpy(open, self->open, self->open_count * sizeof *open);
        bp_pages_free(self->open, self->open_count * sizeof *open);
    }
    self->open = open;
    self->open_count = count;
    return &open[number];
}

static inline uint32_t *open_of(struct bp_py_line_thread *self, uint32_t number) {
    return number < self->open_count ? &self->open[number] : grow_open(self, number);
}

/* The line's clock starts. The cost of what announced it is in its time. */
static inline void open_line(struct bp_py_line_thread *self, struct bp_py_stretch *stretch,
                             const struct bp_py_line *slot, uint64_t now, uint64_t cost) {
    uint32_t *open = slot ? open_of(self, slot->number) : NULL;
    stretch->count = open ? slot->count : NULL;
    if (!open)
        return;
    stretch->number = slot->number;
    stretch->start = now;
    stretch->own = self->own;
    stretch->cost = cost;
    self->own += cost;
    if (stretch->entry) {
        struct bp_node *node = (struct bp_node *)stretch->entry->node;
        stretch->child = stretch->entry->child;
        stretch->passed = node->passed;
        node->lines += cost >> 8;
    }
    if ((*open)++ == 0) {
        slot->count->total -= now;
        slot->count->open++;
    }
}

static inline uint64_t less(uint64_t from, uint64_t what) {
    return from > what ? from - what : 0;
}

/* Frames that are left alone cost something, too. Their node pays for them, and so does the line.
 */
static inline void charge_passed(struct bp_py_line_thread *self, struct bp_py_stretch *stretch) {
    const struct bp_node *node = (const struct bp_node *)stretch->entry->node;
    uint64_t cost = (node->passed - stretch->passed) * bp_py_line_cost.passed;
    self->own += cost;
    stretch->cost += cost;
}

static inline void close_line(struct bp_py_line_thread *self, struct bp_py_stretch *stretch,
                              uint64_t now) {
    struct bp_line_count *count = stretch->count;
    if (!count)
        return;
    stretch->count = NULL;
    if (stretch->entry)
        charge_passed(self, stretch);
    uint64_t whole = now - stretch->start;
    if (stretch->entry) {
        uint64_t child = stretch->entry->child - stretch->child;
        count->self += less(whole, child + (stretch->cost >> 8));
    }
    if (--self->open[stretch->number] != 0)
        return;
    uint64_t taken = (self->own - stretch->own) >> 8;
    count->total += stretch->start + less(whole, taken);
    count->taken += taken;
    count->open--;
}

static struct bp_py_stretch *new_stretch(struct bp_py_line_thread *self) {
    if (!self->free) {
        struct bp_py_stretch *more = bp_pages_new(STRETCHES * sizeof *more);
        for (int i = 0; more && i < STRETCHES; i++) {
            more[i].outer = self->free;
            self->free = &more[i];
        }
    }
    struct bp_py_stretch *stretch = self->free;
    if (stretch)
        self->free = stretch->outer;
    return stretch;
}

/* Half of it falls into the call, which is no part of the line's self time. */
static inline void charge_call(struct bp_py_line_thread *self, uint64_t cost) {
    self->own += cost;
    if (self->innermost)
        self->innermost->cost += cost / 2;
}

void bp_py_lines_called(void) {
    struct bp_py_line_thread *self = line_thread();
    if (self && self->innermost)
        charge_call(self, bp_py_line_cost.plain);
}

void bp_py_lines_spent(uint64_t ticks) {
    struct bp_py_line_thread *self = line_thread();
    struct bp_py_stretch *stretch = self ? self->innermost : NULL;
    if (!stretch)
        return;
    self->own += ticks << 8;
    stretch->cost += ticks << 8;
    if (stretch->entry)
        ((struct bp_node *)stretch->entry->node)->lines += ticks;
}

struct bp_py_stretch *bp_py_lines_begin(struct bp_py_lines *lines, void *frame,
                                        struct bp_entry *entry, int resumed) {
    struct bp_py_line_thread *self = line_thread();
    struct bp_py_stretch *stretch = self ? new_stretch(self) : NULL;
    if (!stretch)
        return NULL;
    charge_call(self, resumed ? bp_py_line_cost.resume : bp_py_line_cost.call);
    *stretch = (struct bp_py_stretch){
        .outer = self->innermost, .frame = frame, .lines = lines, .entry = entry};
    self->innermost = stretch;
    return stretch;
}

uint64_t bp_py_lines_taken(void) {
    struct bp_py_line_thread *self = line_thread();
    return self ? self->own : 0;
}

struct bp_py_stretch *bp_py_lines_innermost(void) {
    struct bp_py_line_thread *self = line_thread();
    return self ? self->innermost : NULL;
}

static void end_innermost(struct bp_py_line_thread *self, uint64_t now) {
    struct bp_py_stretch *stretch = self->innermost;
    close_line(self, stretch, now);
    self->innermost = stretch->outer;
    stretch->outer = self->free;
    self->free = stretch;
}

struct bp_py_stretch *bp_py_lines_find(const void *frame) {
    struct bp_py_line_thread *self = line_thread();
    struct bp_py_stretch *stretch = self ? self->innermost : NULL;
    if (__builtin_expect(stretch && stretch->frame == frame, 1))
        return stretch;
    while (stretch && stretch->frame != frame)
        stretch = stretch->outer;
    while (stretch && self->innermost != stretch)
        end_innermost(self, bp_clock_now(bp_process.clock));
    return stretch;
}

void bp_py_lines_at(struct bp_py_stretch *stretch, uint32_t line, int64_t place) {
    uint64_t now = bp_clock_now(bp_process.clock);
    struct bp_py_line_thread *self = line_thread();
    const struct bp_line_count *before = stretch->count;
    close_line(self, stretch, now);
    const struct bp_py_line *slot = bp_py_line_of(stretch->lines, line);
    int again = slot && slot->count == before;
    uint64_t cost = again ? bp_py_line_cost.again : bp_py_line_cost.event;
    if (place >= 0 && bp_py_line_cost.instruction)
        cost +=
            (uint64_t)bp_py_line_cost.instruction * bp_py_place_of(stretch->lines, place)->length;
    if (slot && !slot->count->hits)
        now = bp_clock_now(bp_process.clock); /* making room for a new line took some time */
    open_line(self, stretch, slot, now, cost);
    if (stretch->count)
        stretch->count->hits++;
}

void bp_py_lines_go_on(struct bp_py_stretch *stretch, int64_t place) {
    const struct bp_py_place *at = bp_py_place_of(stretch->lines, place);
    uint64_t now = bp_clock_now(bp_process.clock);
    const struct bp_py_line *slot = at->line ? bp_py_line_of(stretch->lines, at->line) : NULL;
    /* 3.11 begins a generator by going on in the line of its def. */
    if (slot && slot->count->hits)
        open_line(line_thread(), stretch, slot, now,
                  (uint64_t)bp_py_line_cost.instruction * at->length);
}

void bp_py_lines_pause(struct bp_py_stretch *stretch) {
    close_line(line_thread(), stretch, bp_clock_now(bp_process.clock));
}

/* Frames further in that nobody announced the end of have ended, too. */
void bp_py_lines_end(struct bp_py_stretch *stretch) {
    struct bp_py_line_thread *self = line_thread();
    uint64_t now = bp_clock_now(bp_process.clock);
    struct bp_py_stretch *open = self->innermost;
    while (open && open != stretch)
        open = open->outer;
    while (open && self->innermost != stretch)
        end_innermost(self, now);
    if (open)
        end_innermost(self, now);
}

static void reset_counts(void) {
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = (struct bp_chunk *)c->links[0]) {
        struct bp_line_count *counts = bp_chunk_items(c);
        for (uint32_t i = 0; c->kind == BP_LINE_COUNTS && i < c->count; i++)
            counts[i] = (struct bp_line_count){
                .func = counts[i].func, .line = counts[i].line, .flags = counts[i].flags};
    }
}

void bp_py_lines_after_fork(void) {
    const struct bp_local *local = bp_self ? (const struct bp_local *)bp_self->local : NULL;
    uint64_t now = bp_clock_now(bp_process.clock);
    if (!bp_py_lines_known())
        return;
    reset_counts();
    if (!local || !local->lines)
        return;
    local->lines->lives = bp_self->lives;
    for (struct bp_py_stretch *s = local->lines->innermost; s; s = s->outer) {
        s->start = now;
        s->own = local->lines->own;
        s->entry = NULL; /* its call is the parent's */
        if (s->count && s->count->open++ == 0)
            s->count->total -= now;
        else if (s->count)
            s->count->open = 1;
    }
}
