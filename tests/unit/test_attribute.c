/* SPDX-License-Identifier: MIT
 *
 * The attribution against cases worked out by hand, and against a model that looks at every unit of
 * time by itself. The same random cases go through a window in pieces, late and out of order.
 */
#include <stdlib.h>

#include "cuda/attribute.h"
#include "tests/unit/test.h"

#define OWNERS 8
#define THREADS 4
#define NODES 4
#define LENGTH 200 /* units of time in a random case */
#define MOST 24    /* intervals of each sort in a random case */
#define NOBODY UINT32_MAX

struct sums {
    uint64_t transfer[THREADS][NODES];
    uint64_t wait[THREADS][NODES];
    uint64_t overhead[THREADS][NODES];
    uint64_t exposed[OWNERS];
    uint64_t waited[OWNERS];
    uint64_t hidden[OWNERS];
    struct bp_busy busy[BP_ATTRIBUTE_DEVICES];
};

struct scene {
    struct bp_call_interval calls[MOST];
    struct bp_work_interval works[MOST];
    uint32_t call_count;
    uint32_t work_count;
};

static void collect(void *data, const struct bp_charge *charge) {
    struct sums *sums = data;
    CHECK(charge->time > 0);
    if (charge->kind == BP_CHARGE_HIDDEN) {
        sums->hidden[charge->owner] += charge->time;
        return;
    }
    CHECK_EQUAL(charge->mark, charge->thread * 100 + charge->node);
    if (charge->kind == BP_CHARGE_TRANSFER) {
        sums->transfer[charge->thread][charge->node] += charge->time;
        sums->exposed[charge->owner] += charge->time;
    } else if (charge->kind == BP_CHARGE_WAIT) {
        sums->wait[charge->thread][charge->node] += charge->time;
        sums->waited[charge->owner] += charge->time;
    } else {
        sums->overhead[charge->thread][charge->node] += charge->time;
    }
}

static void attribute(const struct scene *scene, struct sums *sums) {
    void *memory = malloc(bp_window_size(scene->call_count, scene->work_count));
    memset(sums, 0, sizeof(*sums));
    bp_attribute(scene->calls, scene->call_count, scene->works, scene->work_count, memory,
                 sums->busy, collect, sums);
    free(memory);
}

static void call(struct scene *scene, uint32_t thread, uint32_t node, uint64_t start,
                 uint64_t end) {
    uint32_t mark = thread * 100 + node;
    scene->calls[scene->call_count++] =
        (struct bp_call_interval){start, end, thread, node, mark, 0};
}

static void work(struct scene *scene, enum bp_work_kind kind, uint32_t owner, uint64_t start,
                 uint64_t end) {
    scene->works[scene->work_count++] = (struct bp_work_interval){
        .start = start, .end = end, .thread = NOBODY, .owner = owner, .kind = (uint16_t)kind};
}

/* A blocking copy that first waits for a kernel: naive blame would be 60, the transfer is 20. */
static void copy_behind_kernel(void) {
    struct scene scene = {0};
    struct sums sums;
    call(&scene, 0, 1, 0, 5);   /* launch */
    call(&scene, 0, 2, 10, 70); /* cudaMemcpy */
    work(&scene, BP_WORK_KERNEL, 0, 5, 45);
    work(&scene, BP_WORK_COPY, 1, 46, 66);
    attribute(&scene, &sums);
    CHECK_EQUAL(sums.overhead[0][1], 5);
    CHECK_EQUAL(sums.wait[0][2], 35);
    CHECK_EQUAL(sums.transfer[0][2], 20);
    CHECK_EQUAL(sums.overhead[0][2], 5);
    CHECK_EQUAL(sums.waited[0], 35);
    CHECK_EQUAL(sums.exposed[1], 20);
    CHECK_EQUAL(sums.hidden[1], 0);
    CHECK_EQUAL(sums.busy[0].any, 60);
    CHECK_EQUAL(sums.busy[0].copy, 20);
    CHECK_EQUAL(sums.busy[0].compute, 40);
}

/* Copy and kernel overlap: the copy wins. The part of a copy outside of calls is hidden. */
static void overlap_and_hidden(void) {
    struct scene scene = {0};
    struct sums sums;
    call(&scene, 0, 1, 10, 20);
    work(&scene, BP_WORK_COPY, 0, 0, 15);
    work(&scene, BP_WORK_KERNEL, 1, 12, 18);
    attribute(&scene, &sums);
    CHECK_EQUAL(sums.transfer[0][1], 5);
    CHECK_EQUAL(sums.wait[0][1], 3);
    CHECK_EQUAL(sums.overhead[0][1], 2);
    CHECK_EQUAL(sums.hidden[0], 10);
    CHECK_EQUAL(sums.busy[0].any, 18);
}

/* Two copies at once, in two directions, by two threads: each thread pays for its own. */
static void own_copy_first(void) {
    struct scene scene = {0};
    struct sums sums;
    call(&scene, 0, 1, 0, 100);
    call(&scene, 1, 2, 40, 60);
    work(&scene, BP_WORK_COPY, 3, 0, 100);
    scene.works[0].thread = 0;
    scene.works[0].node = 1;
    work(&scene, BP_WORK_COPY, 4, 40, 60);
    scene.works[1].thread = 1;
    scene.works[1].node = 2;
    scene.works[1].device = 1;
    attribute(&scene, &sums);
    CHECK_EQUAL(sums.exposed[3], 100);
    CHECK_EQUAL(sums.exposed[4], 20);
    CHECK_EQUAL(sums.hidden[3] + sums.hidden[4], 0);
    CHECK_EQUAL(sums.busy[0].any, 100);
    CHECK_EQUAL(sums.busy[1].copy, 20);
}

static void nested_calls(void) {
    struct scene scene = {0};
    struct sums sums;
    call(&scene, 0, 2, 10, 20); /* driver call: it returns first, and is reported first */
    call(&scene, 0, 2, 25, 25); /* empty */
    call(&scene, 0, 1, 0, 30);
    work(&scene, BP_WORK_COPY, 0, 5, 28);
    work(&scene, BP_WORK_OTHER, 1, 0, 40);
    attribute(&scene, &sums);
    CHECK_EQUAL(sums.transfer[0][2], 10);
    CHECK_EQUAL(sums.transfer[0][1], 13);
    CHECK_EQUAL(sums.overhead[0][1], 7);
    CHECK_EQUAL(sums.overhead[0][2], 0);
    CHECK_EQUAL(sums.busy[0].any, 40);
}

/* A call that is open for long is folded piece by piece. */
static void open_call(void) {
    struct bp_window window;
    struct sums sums = {0};
    void *memory = malloc(bp_window_size(4, 4));
    bp_window_init(&window, memory, 4, 4);
    for (uint64_t now = 100; now <= 1000; now += 100) {
        CHECK_EQUAL(bp_window_call(&window, &(struct bp_call_interval){50, now, 0, 1, 1, 0}), 0);
        struct bp_work_interval kernel = {now - 30, now - 10, 0, 1, 2, 0, BP_WORK_KERNEL};
        CHECK_EQUAL(bp_window_work(&window, &kernel), 0);
        bp_window_fold(&window, now, collect, &sums);
        CHECK_EQUAL(window.call_count + window.work_count, 0);
    }
    CHECK_EQUAL(bp_window_call(&window, &(struct bp_call_interval){50, 1010, 0, 1, 1, 0}), 0);
    bp_window_fold(&window, UINT64_MAX, collect, &sums);
    CHECK_EQUAL(sums.wait[0][1], 200);
    CHECK_EQUAL(sums.overhead[0][1], 760);
    CHECK_EQUAL(window.late_works, 0);
    free(memory);
}

/* Calls and work that are known whole and lie on both sides of a horizon: counted once. */
static void across_horizons(void) {
    struct bp_window window;
    struct sums sums = {0};
    void *memory = malloc(bp_window_size(4, 4));
    bp_window_init(&window, memory, 4, 4);
    struct bp_work_interval copy = {20, 70, 0, 1, 3, 0, BP_WORK_COPY};
    CHECK_EQUAL(bp_window_call(&window, &(struct bp_call_interval){0, 100, 0, 1, 1, 0}), 0);
    CHECK_EQUAL(bp_window_work(&window, &copy), 0);
    for (uint64_t horizon = 10; horizon <= 200; horizon += 25)
        bp_window_fold(&window, horizon, collect, &sums);
    CHECK_EQUAL(sums.transfer[0][1], 50);
    CHECK_EQUAL(sums.overhead[0][1], 50);
    CHECK_EQUAL(sums.exposed[3], 50);
    CHECK_EQUAL(window.busy[0].copy, 50);
    CHECK_EQUAL(window.call_count + window.work_count + window.late_works, 0);
    free(memory);
}

/* No room: an error, nothing lost that was there. Work that comes too late is counted as late. */
static void full_and_late(void) {
    struct bp_window window;
    struct sums sums = {0};
    void *memory = malloc(bp_window_size(1, 1));
    bp_window_init(&window, memory, 1, 1);
    CHECK_EQUAL(bp_window_call(&window, &(struct bp_call_interval){0, 10, 0, 1, 1, 0}), 0);
    CHECK_EQUAL(bp_window_call(&window, &(struct bp_call_interval){10, 20, 0, 1, 1, 0}), -1);
    bp_window_fold(&window, 10, collect, &sums);
    CHECK_EQUAL(bp_window_call(&window, &(struct bp_call_interval){10, 20, 0, 1, 1, 0}), 0);
    struct bp_work_interval copy = {4, 14, NOBODY, 0, 0, 0, BP_WORK_COPY};
    CHECK_EQUAL(bp_window_work(&window, &copy), 0);
    CHECK_EQUAL(bp_window_work(&window, &copy), -1);
    copy.end = 9;
    CHECK_EQUAL(bp_window_work(&window, &copy), 0); /* all of it is late: it takes no room */
    bp_window_fold(&window, 30, collect, &sums);
    CHECK_EQUAL(sums.overhead[0][1], 16);
    CHECK_EQUAL(sums.transfer[0][1], 4);
    CHECK_EQUAL(window.late_works, 2);
    CHECK_EQUAL(window.late_time, 6 + 5);
    free(memory);
}

static uint32_t below(uint32_t limit) {
    return (uint32_t)random() % limit;
}

/* Calls of a thread nest or are apart, as real ones: each is put into a gap of those before, or
 * into one of them. In the order of their ends, an inner one first. */
static uint64_t add_calls(struct scene *scene, uint32_t thread, uint64_t at, uint64_t end,
                          int depth) {
    while (at < end && scene->call_count < MOST) {
        uint64_t start = at + below(20);
        uint64_t stop = start + below(30);
        if (stop > end)
            break;
        if (depth < 2 && below(3) == 0)
            add_calls(scene, thread, start, stop, depth + 1);
        if (scene->call_count < MOST)
            call(scene, thread, below(NODES), start, stop);
        at = stop;
    }
    return at;
}

static void make_scene(struct scene *scene) {
    *scene = (struct scene){0};
    for (uint32_t thread = 0; thread < 1 + below(THREADS); thread++)
        add_calls(scene, thread, 0, LENGTH, 0);
    uint32_t count = below(MOST);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t start = below(LENGTH);
        work(scene, (enum bp_work_kind)below(3), below(OWNERS), start, start + below(40));
        scene->works[i].device = (uint16_t)below(2);
        scene->works[i].thread = below(4) ? below(THREADS) : NOBODY;
        scene->works[i].node = below(NODES);
    }
}

/* The innermost call of a thread at an instant, or NULL. */
static const struct bp_call_interval *call_at(const struct scene *scene, uint32_t thread,
                                              uint64_t t) {
    const struct bp_call_interval *inner = NULL;
    for (uint32_t i = 0; i < scene->call_count; i++) {
        const struct bp_call_interval *c = &scene->calls[i];
        if (c->thread != thread || t < c->start || t >= c->end)
            continue;
        if (!inner || c->start > inner->start || (c->start == inner->start && c->end < inner->end))
            inner = c;
    }
    return inner;
}

/* The work to charge at an instant: by closeness, then beginning, then place. */
static const struct bp_work_interval *work_at(const struct scene *scene, uint16_t kind, uint64_t t,
                                              const struct bp_call_interval *c) {
    const struct bp_work_interval *best = NULL;
    int best_rank = -1;
    for (uint32_t i = 0; i < scene->work_count; i++) {
        const struct bp_work_interval *w = &scene->works[i];
        if (w->kind != kind || t < w->start || t >= w->end)
            continue;
        int rank = !c || w->thread != c->thread ? 0 : w->node == c->node ? 2 : 1;
        if (rank > best_rank || (rank == best_rank && w->start < best->start)) {
            best = w;
            best_rank = rank;
        }
    }
    return best;
}

static void brute_force_busy(const struct scene *scene, uint64_t t, struct sums *sums) {
    for (uint16_t device = 0; device < 2; device++) {
        int seen[3] = {0};
        for (uint32_t i = 0; i < scene->work_count; i++)
            if (scene->works[i].device == device && t >= scene->works[i].start &&
                t < scene->works[i].end)
                seen[scene->works[i].kind] = 1;
        sums->busy[device].any += seen[0] || seen[1] || seen[2];
        sums->busy[device].copy += (uint64_t)seen[BP_WORK_COPY];
        sums->busy[device].compute += (uint64_t)seen[BP_WORK_KERNEL];
    }
}

static void brute_force(const struct scene *scene, struct sums *sums) {
    memset(sums, 0, sizeof(*sums));
    for (uint64_t t = 0; t < 2 * LENGTH; t++) {
        int in_calls = 0;
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            const struct bp_call_interval *c = call_at(scene, thread, t);
            if (!c)
                continue;
            const struct bp_work_interval *copy = work_at(scene, BP_WORK_COPY, t, c);
            const struct bp_work_interval *kernel = work_at(scene, BP_WORK_KERNEL, t, c);
            struct bp_charge charge = {BP_CHARGE_OVERHEAD, thread, c->node, 0, 1, 0, c->mark, 0};
            if (copy)
                charge.kind = BP_CHARGE_TRANSFER;
            else if (kernel)
                charge.kind = BP_CHARGE_WAIT;
            charge.owner = copy ? copy->owner : kernel ? kernel->owner : 0;
            collect(sums, &charge);
            in_calls++;
        }
        const struct bp_work_interval *copy = work_at(scene, BP_WORK_COPY, t, NULL);
        if (copy && !in_calls)
            sums->hidden[copy->owner]++;
        brute_force_busy(scene, t, sums);
    }
}

/* Work comes before the horizon passes its beginning, otherwise at random; calls as a collector
 * sees them, with those that are open added up to the horizon, inner ones first. */
static void stream(const struct scene *scene, struct sums *sums) {
    struct bp_window window;
    int added[MOST] = {0};
    void *memory = malloc(bp_window_size(MOST, MOST));
    memset(sums, 0, sizeof(*sums));
    bp_window_init(&window, memory, MOST, MOST);
    for (uint64_t horizon = 0; horizon < 3 * LENGTH; horizon += 1 + below(60)) {
        for (uint32_t i = scene->work_count; i-- > 0;)
            if (!added[i] && (scene->works[i].start < horizon || below(4) == 0))
                added[i] = bp_window_work(&window, &scene->works[i]) == 0;
        for (uint32_t i = 0; i < scene->call_count; i++) {
            struct bp_call_interval piece = scene->calls[i];
            if (piece.end > horizon)
                piece.end = horizon;
            CHECK_EQUAL(bp_window_call(&window, &piece), 0);
        }
        bp_window_fold(&window, horizon, collect, sums);
    }
    CHECK_EQUAL(window.late_works + window.call_count, 0);
    memcpy(sums->busy, window.busy, sizeof(sums->busy));
    free(memory);
}

static uint64_t total(const uint64_t *values, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* In pieces, equals may be taken in another order: per call all is the same, owners in sum. */
static void compare_stream(const struct sums *sums, const struct sums *expected) {
    CHECK(memcmp(sums->transfer, expected->transfer, sizeof(sums->transfer)) == 0);
    CHECK(memcmp(sums->wait, expected->wait, sizeof(sums->wait)) == 0);
    CHECK(memcmp(sums->overhead, expected->overhead, sizeof(sums->overhead)) == 0);
    CHECK(memcmp(sums->busy, expected->busy, sizeof(sums->busy)) == 0);
    CHECK_EQUAL(total(sums->exposed, OWNERS), total(expected->exposed, OWNERS));
    CHECK_EQUAL(total(sums->waited, OWNERS), total(expected->waited, OWNERS));
    CHECK_EQUAL(total(sums->hidden, OWNERS), total(expected->hidden, OWNERS));
}

static void random_scenes(void) {
    for (unsigned seed = 0; seed < 3000; seed++) {
        struct scene scene;
        struct sums sums;
        struct sums expected;
        srandom(seed);
        make_scene(&scene);
        brute_force(&scene, &expected);
        attribute(&scene, &sums);
        if (memcmp(&sums, &expected, sizeof(sums)) != 0)
            fprintf(stderr, "seed %u\n", seed);
        CHECK(memcmp(&sums, &expected, sizeof(sums)) == 0);
        stream(&scene, &sums);
        compare_stream(&sums, &expected);
    }
}

int main(void) {
    RUN(copy_behind_kernel);
    RUN(overlap_and_hidden);
    RUN(own_copy_first);
    RUN(nested_calls);
    RUN(open_call);
    RUN(across_horizons);
    RUN(full_and_late);
    RUN(random_scenes);
    return test_result();
}
