/* SPDX-License-Identifier: MIT */
#include "interpose/copy.h"
#include "interpose/sample/tables.h"
#include "profile/clock.h"

/* The arguments of cudaMemcpy and the like: the third is the size, the fourth may be the direction.
 */
#define PLAIN_SIZE 2
#define PLAIN_KIND 3

struct bp_copy_places bp_copy_places[BP_COPY_SHAPES];

/* Where the stub parks an argument, or its caller put it. */
static int8_t place_of_argument(unsigned number) {
    static const int8_t parked[] = {0, 0, -16, -24, -BP_COPY_R8, -BP_COPY_R9};
    if (number == BP_COPY_NO_ARGUMENT)
        return -BP_COPY_ONE;
    return number < sizeof parked ? parked[number] : (int8_t)(8 * (number - 5));
}

static unsigned shape_of(struct bp_copy_places places) {
    for (unsigned shape = 1; shape < BP_COPY_SHAPES; shape++) {
        struct bp_copy_places *known = &bp_copy_places[shape];
        if (!known->width)
            *known = places;
        if (known->width == places.width && known->height == places.height &&
            known->kind == places.kind)
            return shape;
    }
    return 0;
}

uint32_t bp_copy_stub(unsigned width, unsigned height, unsigned kind) {
    uint32_t stub = BP_STUB_COPY | (kind == BP_COPY_NO_ARGUMENT ? 0 : BP_STUB_TOLD);
    if (width == PLAIN_SIZE && height == BP_COPY_NO_ARGUMENT &&
        (kind == PLAIN_KIND || kind == BP_COPY_NO_ARGUMENT))
        return stub;
    unsigned shape = shape_of((struct bp_copy_places){
        place_of_argument(width), place_of_argument(height), place_of_argument(kind), 0});
    return shape ? stub | BP_STUB_SHAPE(shape) : 0;
}

void bp_source_know_copies(struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    if (!local->copies && !local->copies_off)
        local->copies = bp_pages_new(sizeof *local->copies);
}

/* What bp_entry.source tells of a copy. */
static uint64_t bytes_of(uint64_t told) {
    return told >> (64 - BP_COPY_BITS);
}

static uint32_t kind_of(uint64_t told) {
    return (uint32_t)(told >> BP_COPY_SHIFT) & BP_COPY_KINDS;
}

/* Where the stub looks for copies of that size from that place. */
static struct bp_copy_known **place_of(struct bp_local *local, const struct bp_entry *entry,
                                       uint64_t bytes) {
    uint64_t place =
        entry->sp / BP_COPY_GRAIN + entry->ret + BP_COPY_SIZE_STEP * bp_size_bucket(bytes);
    return &local->known[place % BP_COPY_PLACES];
}

static void set_times(struct bp_copy_known *known) {
    known->min = known->transfer->min;
    known->span = known->transfer->max - known->min;
}

static uint32_t size_of_words(const struct bp_trail *trail) {
    return (trail->count + 1) / 2 * (uint32_t)sizeof(struct bp_copy_pair);
}

/* The last word may be one that always holds. */
static void set_words(struct bp_copy_known *known, const struct bp_trail *trail) {
    static const uint64_t zero;
    static const struct bp_trail_word holds = {&zero, 0};
    known->words_size = size_of_words(trail);
    for (uint32_t i = 0; i < (trail->count + 1) / 2 * 2; i++) {
        const struct bp_trail_word *word = i < trail->count ? &trail->words[i] : &holds;
        known->words[i / 2].at[i % 2] = word->at;
        known->words[i / 2].value[i % 2] = word->value;
    }
}

static void set_python(struct bp_copy_known *known, const struct bp_copies *copies, uint64_t *own) {
    struct bp_copy_python *python =
        (struct bp_copy_python *)((char *)known->words + known->words_size);
    *python = (struct bp_copy_python){.state = bp_python_state(),
                                      .own = own,
                                      .generation = known->generation,
                                      .count = copies->python_count};
    for (uint32_t i = 0; i < python->count; i++)
        python->steps[i] = copies->python[i];
    known->python = python;
    known->generation = BP_COPY_PYTHON;
}

static struct bp_copy_known *take_room(struct bp_copies *copies) {
    uint32_t size = (uint32_t)sizeof(struct bp_copy_known) + size_of_words(&copies->trail);
    if (copies->python_count)
        size += (uint32_t)(sizeof(struct bp_copy_python) +
                           copies->python_count * sizeof(struct bp_python_step));
    size = (size + 31) / 32 * 32;
    if (copies->used + size > sizeof copies->room)
        return NULL;
    copies->used += size;
    return (struct bp_copy_known *)(copies->room + copies->used - size);
}

static void set_key(struct bp_copy_known *known, const struct bp_entry *entry, uint64_t told,
                    const struct bp_trail *trail) {
    known->key = trail->sp + (told & BP_STUB_TOLD ? kind_of(told) : 0) +
                 ((uint64_t)bp_size_bucket(bytes_of(told)) << BP_COPY_SIZE_SHIFT);
    known->node = entry->node;
    known->told = told << BP_COPY_BITS >> BP_COPY_BITS;
    known->generation = trail->generation;
    known->python = NULL;
    set_words(known, trail);
}

static int is_same(const struct bp_copy_known *a, const struct bp_copy_known *b) {
    if (a->key != b->key || a->node != b->node || a->words_size != b->words_size || a->python ||
        b->python)
        return 0;
    for (uint32_t i = 0; i < 2 * a->words_size / sizeof *a->words; i++)
        if (a->words[i / 2].at[i % 2] != b->words[i / 2].at[i % 2] ||
            a->words[i / 2].value[i % 2] != b->words[i / 2].value[i % 2])
            return 0;
    return 1;
}

/* One that was known before an object was unloaded is known again. `last` is of a ring. */
static int renew(struct bp_copy_known *last, const struct bp_copy_known *known) {
    struct bp_copy_known *one = last;
    while (one && !is_same(one, known))
        one = one->next == last ? NULL : one->next;
    if (one) {
        one->sample = known->sample;
        one->generation = known->generation;
    }
    return one != NULL;
}

/* At any time a handler may go through the ring, and find another one there. */
static void put(struct bp_copy_known *known) {
    struct bp_copy_known *last = *known->place;
    known->next = last ? last->next : known;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (last)
        last->next = known;
    *known->place = known;
}

/* The next copies like this one are the sample's. */
static void learn(struct bp_local *local, const struct bp_entry *entry, uint64_t told,
                  const struct bp_copy_sums *sums, struct bp_sample *sample) {
    struct bp_copies *copies = local->copies;
    struct bp_copy_known *known = take_room(copies);
    if (!known && copies->python_count)
        bp_copies_give_up(local);
    if (!known)
        return;
    set_key(known, entry, told, &copies->trail);
    if (copies->python_count)
        set_python(known, copies, sums->own);
    known->place = place_of(local, entry, bytes_of(told));
    known->waits = sums->waits;
    known->sample = sample;
    known->transfer = sums->transfer;
    set_times(known);
    if (renew(*known->place, known))
        copies->used = (uint32_t)((char *)known - copies->room);
    else
        put(known);
}

/* The first of its kind, or by a path that was not there before. */
static void count_new(struct bp_entry *entry, uint64_t now, const struct bp_copy_frame *frame,
                      uint64_t told) {
    struct bp_thread *thread = bp_self;
    struct bp_local *local = (struct bp_local *)thread->local;
    struct bp_copies *copies = local->copies_busy ? NULL : local->copies;
    struct bp_copy copy = {(uint32_t)(told & ~BP_STUB_TOLD) >> 16, kind_of(told), bytes_of(told)};
    struct bp_copy_sums sums = {.direction = -1};
    if (copy.bytes == 0)
        return; /* the device has nothing to do, and no record would tell of it */
    bp_sources[BP_STUB_SOURCE_OF((uint32_t)told) - 1]->copied(thread, entry, &copy, now, &sums);
    if (copies) /* a signal handler may come in between */
        local->copies_busy = (uint64_t)__builtin_frame_address(0);
    struct bp_sample *sample = bp_site_find(thread, entry, frame, copy.bytes, &sums, copies);
    if (sample)
        learn(local, entry, told, &sums, sample);
    if (copies)
        local->copies_busy = 0;
}

static int is_by_words(const struct bp_copy_known *known) {
    uint64_t different = 0;
    for (uint32_t i = 0; i < known->words_size / sizeof *known->words; i++)
        different |= (*known->words[i].at[0] ^ known->words[i].value[0]) |
                     (*known->words[i].at[1] ^ known->words[i].value[1]);
    return !different;
}

static int is_by_frames(const struct bp_copy_python *python, uint64_t state) {
    return python->state == state && bp_python_is_at(python->steps, python->count);
}

static int is_by_path(const struct bp_copy_known *known, uint64_t state) {
    const struct bp_copy_python *python = known->python;
    uint32_t generation = python ? python->generation : known->generation;
    return generation == bp_tables_generation() && (!python || is_by_frames(python, state)) &&
           is_by_words(known);
}

/* The call begins now. What it took to know it is ours. */
static void begin_again(struct bp_entry *entry, uint64_t *own) {
    uint64_t now = bp_clock_now(bp_process.clock);
    *own += now - entry->start;
    entry->start = now;
}

uint64_t bp_copy_find(struct bp_entry *entry, struct bp_copy_known *first, uint64_t bytes) {
    struct bp_copy_known *known = first;
    uint64_t state = bp_python_state();
    do {
        if (known->key == first->key && known->node == first->node && is_by_path(known, state)) {
            *known->place = known;
            if (known->python)
                begin_again(entry, known->python->own);
            return entry->source = (uint64_t)known;
        }
        known = known->next;
    } while (known != first);
    return entry->source = first->told | bytes << (64 - BP_COPY_BITS);
}

/* What the stub does, and what it leaves to us: the shortest and the longest time. */
static void count_known(struct bp_copy_known *known, const struct bp_entry *entry, uint64_t time) {
    if (time < known->transfer->min)
        known->transfer->min = time;
    if (time > known->transfer->max)
        known->transfer->max = time;
    set_times(known);
    known->sample->count++;
    known->sample->weight += known->bytes;
    known->sample->time += time;
    if (known->waits)
        bp_copy_waited(entry, time);
}

/* `source` is 0 if the call was given up, or is not this process's. */
int bp_copy_leave(struct bp_entry *entry, uint64_t now, const struct bp_copy_frame *frame) {
    uint64_t source = entry->sp & BP_ENTRY_INHERITED ? 0 : entry->source;
    struct bp_copy_known *known = source & 1 ? NULL : (struct bp_copy_known *)source;
    entry->source = 0;
    int over = bp_thread_leave(entry, now, frame->rax);
    int succeeded = over && (uint32_t)frame->rax == 0;
    if (known && succeeded)
        count_known(known, entry, now - entry->start);
    else if (source && succeeded)
        count_new(entry, now, frame, source);
    return over;
}

void bp_copy_waited(const struct bp_entry *entry, uint64_t time) {
    bp_source_spent(bp_self->index, entry->start, time, time, 0);
}
