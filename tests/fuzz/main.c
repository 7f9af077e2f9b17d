/* SPDX-License-Identifier: MIT
 *
 * A mutation fuzzer without tools: fuzz_X SECONDS SEED [FILE...]. It starts from the files, of
 * which "seed" is a good profile (fuzz_X seed writes it to stdout), tries each as it is and changes
 * headers, chunk heads, pointers and indices more often than counters. The same seed gives the same
 * inputs; a failed check leaves its input in fuzz.crash.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/builder.h"

#define LARGEST (1u << 20)

static struct {
    uint64_t random;
    uint8_t *input;
    size_t size;
} state;

static uint64_t draw(void) {
    state.random ^= state.random << 13;
    state.random ^= state.random >> 7;
    state.random ^= state.random << 17;
    return state.random * 0x2545f4914f6cdd1du;
}

static size_t below(size_t limit) {
    return limit ? (size_t)(draw() >> 11) % limit : 0;
}

static void keep_input(int number) {
    int fd = open("fuzz.crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, state.input, state.size) < 0)
        _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

/* One item of each kind that tells of devices, two of those with contexts. */
static void add_devices(struct builder *builder) {
    size_t devices = builder_chunk(builder, BP_DEVICES, BP_NO_THREAD, 1, 1);
    size_t transfers = builder_chunk(builder, BP_TRANSFERS, BP_NO_THREAD, 2, 2);
    size_t kernels = builder_chunk(builder, BP_KERNELS, BP_NO_THREAD, 2, 2);
    size_t splits = builder_chunk(builder, BP_SPLITS, BP_NO_THREAD, 2, 2);
    size_t waits = builder_chunk(builder, BP_WAITS, BP_NO_THREAD, 2, 2);
    size_t asked = builder_chunk(builder, BP_ASKED, BP_NO_THREAD, 2, 2);
    builder_chunk(builder, BP_COLLECTOR, BP_NO_THREAD, 1, 1);
    *(struct bp_device *)builder_item(builder, devices, 0) =
        (struct bp_device){.name = 1, .best = {1000000000, 1000000000}, .busy = 10};
    for (uint32_t i = 0; i < 2; i++) {
        *(struct bp_transfer *)builder_item(builder, transfers, i) =
            (struct bp_transfer){.thread = i,
                                 .node = 2,
                                 .direction = (uint8_t)i,
                                 .source = 1,
                                 .count = 100,
                                 .bytes = 1 << 20,
                                 .device_time = 9,
                                 .exposed = 8,
                                 .small_count = 60,
                                 .small_time = 3,
                                 .duplicates = 1};
        *(struct bp_transfer *)builder_item(builder, asked, i) =
            (struct bp_transfer){.node = 2,
                                 .flags = (uint8_t)(i ? BP_TRANSFER_MET : 0),
                                 .count = 9 - i,
                                 .bytes = 90 - i};
        *(struct bp_kernel *)builder_item(builder, kernels, i) =
            (struct bp_kernel){.name = 1, .thread = i, .node = 3, .count = 1, .device_time = 5};
        *(struct bp_split *)builder_item(builder, splits, i) =
            (struct bp_split){.thread = i, .node = 2, .time = 3, .transfer = 2, .wait = 1};
        *(struct bp_wait *)builder_item(builder, waits, i) = (struct bp_wait){
            .thread = i, .node = 2, .launch_thread = 1, .launch_node = 3, .time = 1};
    }
}

/* A stack of four kinds of frames and three samples, for one thread. */
static void add_samples(struct builder *builder, uint32_t thread) {
    size_t frames = builder_chunk(builder, BP_FRAMES, thread, 4, 4);
    size_t samples = builder_chunk(builder, BP_SAMPLES, thread, 3, 3);
    struct bp_frame *frame = builder_item(builder, frames, 0);
    frame[0] = (struct bp_frame){.parent = BP_NO_FRAME, .kind = BP_FRAME_TRUNCATED};
    frame[1] = (struct bp_frame){.parent = 0, .kind = BP_FRAME_LEDGER, .func = 1};
    frame[2] = (struct bp_frame){.parent = 1, .kind = BP_FRAME_PYTHON, .func = BUILDER_FUNC};
    frame[3] = (struct bp_frame){.parent = 2, .address = BUILDER_ADDRESS, .flags = BP_FRAME_EXACT};
    struct bp_sample *sample = builder_item(builder, samples, 0);
    sample[0] = (struct bp_sample){.node = 1, .frame = 3, .count = 7, .weight = 1000};
    sample[1] = (struct bp_sample){.node = 2, .frame = 2, .kind = BP_SAMPLE_COPY, .count = 1};
    sample[2] = (struct bp_sample){.node = 2, .frame = 1, .count = 3, .weight = 12288, .own = 6};
}

/* Tasks of both threads, of one id, one in another, the last one open, with three details each; a
 * fold and a variable. */
static void add_tasks(struct builder *builder) {
    size_t tasks = builder_chunk(builder, BP_TASKS, BP_NO_THREAD, 4, 4);
    size_t details = builder_chunk(builder, BP_TASK_NODES, BP_NO_THREAD, 12, 12);
    for (uint32_t i = 0; i < 4; i++) {
        *(struct bp_task *)builder_item(builder, tasks, i) =
            (struct bp_task){.thread = i % 2,
                             .node = 1,
                             .func = BUILDER_FUNC,
                             .id = 1,
                             .parent = i == 1 ? 0 : BP_NO_TASK,
                             .flags = BP_TASK_DETAILED | BP_TASK_BASED,
                             .start = 1000000000 + 10 * i,
                             .end = i < 3 ? 1000000100 : 0,
                             .first_detail = 3 * i,
                             .detail_count = 3};
        for (uint32_t k = 0; k < 3; k++)
            *(struct bp_task_node *)builder_item(builder, details, 3 * i + k) =
                (struct bp_task_node){.node = k + 1, .calls = 1, .self = 25};
    }
    builder_chunk(builder, BP_TASK_NODES, 1, 4, 4);
    builder_chunk(builder, BP_TASK_FOLDS, BP_NO_THREAD, 1, 2);
    builder_chunk(builder, BP_VARIABLES, BP_NO_THREAD, 1, 2);
}

/* Lines of two functions, one of them open. */
static void add_lines(struct builder *builder) {
    size_t lines = builder_chunk(builder, BP_LINE_COUNTS, BP_NO_THREAD, 3, 4);
    for (uint32_t i = 0; i < 3; i++)
        *(struct bp_line_count *)builder_item(builder, lines, i) =
            (struct bp_line_count){.func = BUILDER_FUNC + i / 2,
                                   .line = 10 + i,
                                   .hits = 7,
                                   .self = 1000000,
                                   .total = 3000000,
                                   .open = i == 2};
}

/* Two threads with nodes and calls open three deep, a wall page, a reaped child, devices,
 * samples, tasks, lines. */
static void make_seed(struct builder *builder) {
    builder_init(builder);
    builder_header(builder)->state = BP_RUNNING;
    size_t threads = builder_chunk(builder, BP_THREADS, BP_NO_THREAD, 2, 3);
    for (uint32_t t = 0; t < 2; t++) {
        size_t nodes = builder_chunk(builder, BP_NODES, t, 4, 4);
        size_t entries = builder_chunk(builder, BP_ENTRIES, t, 3, 6);
        struct bp_thread *thread = builder_item(builder, threads, t);
        uint64_t below_it = builder_address(builder, threads, t);
        below_it += offsetof(struct bp_thread, root);
        thread->tid = 100 + (int32_t)t;
        thread->state = BP_THREAD_LIVE;
        for (uint32_t i = 0; i < 4; i++)
            *(struct bp_node *)builder_item(builder, nodes, i) = (struct bp_node){
                .parent = i ? i - 1 : BP_NO_NODE, .func = i ? BUILDER_FUNC + i : 0, .self = i};
        for (uint32_t i = 0; i < 3; i++) {
            uint64_t node = builder_address(builder, nodes, i + 1);
            *(struct bp_entry *)builder_item(builder, entries, i) =
                (struct bp_entry){.start = 5, .parent = below_it, .node = node};
            below_it = builder_address(builder, entries, i);
        }
        thread->current = below_it;
    }
    builder_names(builder);
    /* The page of functions is the last one: what node 3 calls waits, so tasks can be joined. */
    struct bp_func *funcs = builder_item(builder, builder->image.size - BP_PAGE, 0);
    funcs[BUILDER_FUNC + 3].kind = BP_FUNC_WAIT;
    builder_chunk(builder, BP_REAPED, BP_NO_THREAD, 1, 2);
    builder_chunk(builder, BP_TREE, BP_NO_THREAD, 1, 1);
    add_devices(builder);
    add_samples(builder, 0);
    add_samples(builder, 1);
    builder_chunk(builder, BP_SAMPLER, BP_NO_THREAD, 1, 1);
    add_tasks(builder);
    add_lines(builder);
}

/* Numbers at which checks go wrong by one. */
static uint64_t odd_number(void) {
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   3,
                                   63,
                                   64,
                                   4095,
                                   4096,
                                   4097,
                                   0x7fffffff,
                                   0x80000000,
                                   0xfffffffe,
                                   0xffffffff,
                                   1ull << 32,
                                   1ull << 63,
                                   UINT64_MAX,
                                   UINT64_MAX - 63,
                                   UINT64_MAX - 4095};
    uint64_t value = odd[below(sizeof(odd) / sizeof(odd[0]))];
    switch (below(4)) {
    case 0:
        return draw();
    case 1:
        return BUILDER_ADDRESS + below(state.size + 128);
    default:
        return value;
    }
}

/* A place worth changing: in the header, a chunk head, the beginning of an item, or anywhere. */
static size_t choose_place(void) {
    size_t pages = state.size / BP_PAGE;
    switch (below(4)) {
    case 0:
        return below(256);
    case 1:
        return below(pages) * BP_PAGE + below(64);
    case 2:
        return below(pages) * BP_PAGE + 64 + below(448);
    default:
        return below(state.size);
    }
}

static void change_something(void) {
    static const size_t widths[] = {1, 2, 4, 8};
    size_t width = widths[below(4)];
    size_t place = choose_place() & ~(width - 1);
    uint64_t value = odd_number();
    if (place + width > state.size)
        return;
    if (below(3) == 0) { /* near to what is there */
        memcpy(&value, state.input + place, width);
        value += below(9) - 4;
    }
    memcpy(state.input + place, &value, width);
}

static void change_shape(void) {
    size_t pages = state.size / BP_PAGE;
    switch (below(12)) {
    case 0:
        state.size = below(state.size);
        break;
    case 1: /* one page twice: two chunks with the same address and index */
        if (pages > 2)
            memcpy(state.input + (1 + below(pages - 1)) * BP_PAGE,
                   state.input + (1 + below(pages - 1)) * BP_PAGE, BP_PAGE);
        break;
    default:
        break;
    }
}

static void fuzz_once(const uint8_t *seed, size_t size) {
    memcpy(state.input, seed, size);
    state.size = size;
    for (size_t n = 1 + below(6); n > 0 && state.size > 0; n--)
        change_something();
    if (state.size > 0)
        change_shape();
    /* Exactly as large as the input: a sanitizer sees the first byte behind it. */
    uint8_t *exact = malloc(state.size + 1);
    memcpy(exact, state.input, state.size);
    LLVMFuzzerTestOneInput(exact, state.size);
    free(exact);
}

static size_t load_file(const char *path, uint8_t *data) {
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(data, 1, LARGEST, file) : 0;
    if (file)
        fclose(file);
    return size;
}

static void fuzz_for(double seconds, const uint8_t *seed, size_t size) {
    struct timespec begin, now;
    unsigned long count = 0;
    LLVMFuzzerTestOneInput(seed, size);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 100; i++, count++)
            fuzz_once(seed, size);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
             seconds);
    printf("%lu inputs\n", count);
}

static size_t load_seed(const char *path, uint8_t *data) {
    struct builder builder;
    if (strcmp(path, "seed") != 0)
        return load_file(path, data);
    make_seed(&builder);
    size_t size = builder.image.size;
    memcpy(data, builder.image.data, size);
    builder_fini(&builder);
    return size;
}

int main(int argc, char **argv) {
    static char *seed_alone[] = {"seed"};
    char **names = argc > 3 ? argv + 3 : seed_alone;
    int count = argc > 3 ? argc - 3 : 1;
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    uint8_t *seed = malloc(LARGEST);
    state.random = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) * 0x9e3779b97f4a7c15u + 1;
    state.input = malloc(LARGEST);
    signal(SIGABRT, keep_input);
    if (argc == 2 && strcmp(argv[1], "seed") == 0) {
        fwrite(seed, load_seed("seed", seed), 1, stdout);
        count = 0;
    }
    for (int i = 0; i < count; i++)
        fuzz_for(seconds / count, seed, load_seed(names[i], seed));
    free(seed);
    free(state.input);
    return 0;
}
