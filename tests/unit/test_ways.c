/* SPDX-License-Identifier: MIT
 *
 * A call is opened and closed in three places: by the stub in assembly, by thread.c in C, and by
 * fast.h within a source. Here the same random calls go through each, in several threads: nested,
 * recursive, deep, and left by jumps that are announced (as longjmp is) and by others that are not.
 * Every field of every node must come out the same, and the same as in a ledger that is slow and
 * simple (naive.h); so must, between any two calls, what is open.
 *
 * Times too, to the tick: the kernel makes rdtsc trap (PR_SET_TSC), and the handler answers with a
 * clock of the thread that only the random program moves.
 *
 * The stub also counts calls without timing them (light.h). Then every call must still be counted
 * where it belongs, what is open must be the same, no tick may be lost or be there twice, and
 * contexts whose calls were all timed must have the same times.
 *
 * And it jumps to calls that have no entry then (jump.h), though they are no leaves here. What they
 * call must all the same be counted below them, and those that a jump leaves as left.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include "interpose/hook/source.h"
#include "interpose/ledger/fast.h"
#include "interpose/ledger/jump.h"
#include "interpose/ledger/light.h"
#include "tests/unit/ledger.h"
#include "tests/unit/naive.h"
#include "tests/unit/test.h"

#define THREADS 6
#define FUNCTIONS 24
#define DEPTH 200 /* more than the entries that a thread begins with */
#define CALLS 2500
#define MANY_CALLS 45000 /* of the first thread: more contexts than a thread keeps apart */
#define SKIP 77
_Static_assert(FUNCTIONS < NAIVE_FUNCTIONS && DEPTH + 2 < NAIVE_DEPTH, "naive.h");

/* `place`: on the stack, above all that the call has there; stubs have one of their own. */
struct way {
    const char *name;
    void (*call)(unsigned function, uint64_t place);
    void (*piece)(unsigned function, uint64_t place); /* a call goes on and pauses again */
    void (*unwound)(uint64_t place);
    uint64_t (*open)(uint64_t sum); /* mixes what is open into a sum */
    int counted;                    /* without a time; JUMPING: and without an entry */
};
#define JUMPING 2

struct job {
    const struct way *way;
    unsigned number;
    int pieces; /* whether functions may pause */
    struct bp_node *nodes;
    unsigned count;
    uint64_t in_calls;   /* the root's `child` */
    uint64_t open;       /* sum over what was open before each call */
    uint64_t open_nodes; /* of its contexts alone */
    uint64_t jumped;     /* calls */
};

static uint64_t seed = 1; /* of the random programs; argv[1] */

/* The random program of a thread. */
static __thread struct {
    struct job *job;
    struct naive *naive;
    uint64_t random;
    uint64_t ticks;
    unsigned calls_left;
    unsigned depth;
    jmp_buf frames[DEPTH + 1];
    uint64_t places[DEPTH + 1]; /* of the frames, on the stack */
    uint64_t slots[DEPTH + 1];  /* of their return addresses */
} play;

static uint64_t draw(uint64_t below) {
    play.random ^= play.random << 13;
    play.random ^= play.random >> 7;
    play.random ^= play.random << 17;
    return (play.random >> 11) % below;
}

/* Durations reach every bucket, and some are too long for any. */
static void pass_time(void) {
    uint64_t bits = draw(200) ? draw(42) : 50;
    play.ticks += draw(8) ? draw(UINT64_C(1) << bits) : 0;
}

static void jump(void) {
    unsigned to = (unsigned)draw(play.depth);
    if (play.job->way->counted == JUMPING)
        bp_thread_unwinds(0);
    play.depth = to;
    if (draw(2) || play.job->way->counted == JUMPING)
        play.job->way->unwound(play.places[to]);
    _longjmp(play.frames[to], 1);
}

static void call(void) {
    unsigned function = (unsigned)draw(draw(2) ? 4 : FUNCTIONS);
    uint64_t place = 0;
    play.calls_left--;
    play.job->open = play.job->way->open(play.job->open);
    if (play.job->pieces && draw(3) == 0)
        play.job->way->piece(function, (uint64_t)&place);
    else
        play.job->way->call(function, (uint64_t)&place);
}

/* The target of every function: some steps, until it returns or is left. */
static __attribute__((noipa)) void body(void) {
    unsigned depth = ++play.depth;
    play.places[depth] = (uint64_t)&depth;
    play.slots[depth] = (uint64_t)__builtin_dwarf_cfa() - sizeof(void *);
    _setjmp(play.frames[play.depth]);
    for (;;) {
        uint64_t step = draw(100);
        pass_time();
        if (step < 50 && play.calls_left && play.depth < DEPTH)
            call();
        else if (step < 52)
            jump();
        else if (step >= 60 || !play.calls_left)
            break;
    }
    play.depth--;
}

static void call_fast_stub(unsigned function, uint64_t place) {
    (void)place;
    ((void (*)(void))(bp_stubs_fast + function * BP_STUB_CODE_SIZE))();
}

static void call_slow_stub(unsigned function, uint64_t place) {
    (void)place;
    ((void (*)(void))(bp_stubs_slow + function * BP_STUB_CODE_SIZE))();
}

/* Chance of its own: that of the random program must be the same in all ways. */
static uint64_t other_chance(uint64_t below) {
    static __thread uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (state >> 33) % below;
}

static void count(const struct bp_entry *parent, struct bp_edge *edge) {
    const struct bp_node *from = (const struct bp_node *)parent->node;
    int timed = !edge->counted && !edge->kept;
    if (((const struct bp_node *)edge->node)->parent == from->index && timed &&
        !bp_light_begin(bp_self, edge, 4))
        abort();
    if (edge->left > 4)
        edge->left = (int32_t)other_chance(4) + 1;
}

/* Every context that may be is timed by samples from its first call on, and again each time that
 * it was turned back. */
static void call_counted(unsigned function, uint64_t place) {
    const struct bp_entry *parent = bp_thread_innermost(bp_self);
    if (parent->sp > place) /* else it was left */
        count(parent, bp_edge_get(bp_self, parent->node, &bp_stubs[function]));
    if (other_chance(20) == 0)
        bp_light_tick(bp_self, play.ticks);
    call_fast_stub(function, place);
}

/* As a walk of the stack would. */
static void look(struct bp_thread *thread) {
    struct bp_watch *watch = &((struct bp_local *)thread->local)->watch;
    watch->whole = 1;
    for (unsigned i = 1; i <= play.depth; i++)
        watch->met |= play.slots[i] == watch->slot;
}

/* A leaf is not open where it is called. */
static void start_jumping(struct bp_edge *edge) {
    struct bp_node *node = (struct bp_node *)edge->node;
    edge->alarms = 0;
    if (*(const uint32_t *)edge->open)
        bp_jump_end(edge);
    if (edge->counted != BP_EDGE_COUNTED || *(const uint32_t *)edge->open)
        return;
    node->jumped -= node->untimed;
    node->jumping = 1;
    edge->counted = BP_EDGE_JUMPED;
}

/* A tick, as the sampler takes it. */
static void tick(void) {
    bp_light_tick(bp_self, play.ticks);
    do {
        bp_jump_watch(bp_self);
        look(bp_self);
    } while (!bp_jump_met(bp_self));
    bp_jump_tick_over(bp_self);
}

/* As call_counted, where it is certain who calls. Not where contexts are folded: a leaf is not open
 * where it is called, but here one may be. */
static void call_jumped(unsigned function, uint64_t place) {
    if (other_chance(20) == 0)
        tick();
    const struct bp_entry *parent = bp_thread_innermost(bp_self);
    if (play.job->number && parent->sp > place && bp_self->jumped <= place) {
        struct bp_edge *edge = bp_edge_get(bp_self, parent->node, &bp_stubs[function]);
        count(parent, edge);
        start_jumping(edge);
    }
    call_fast_stub(function, place);
}

static void run_source(struct bp_entry *entry) {
    body();
    bp_thread_close(entry, 0);
}

static void call_source(unsigned function, uint64_t place) {
    run_source(bp_thread_open(&bp_stubs[function], place));
}

static void piece_source(unsigned function, uint64_t place) {
    run_source(bp_thread_resume(&bp_stubs[function], place));
}

static void call_inline(unsigned function, uint64_t place) {
    uint64_t now;
    struct bp_entry *entry = bp_fast_enter(bp_self, &bp_stubs[function], place);
    if (!entry) {
        call_source(function, place);
        return;
    }
    body();
    if (bp_fast_leave(bp_self, entry, &now))
        bp_thread_close(entry, now);
}

static void piece_inline(unsigned function, uint64_t place) {
    struct bp_entry *entry = bp_fast_resume(bp_self, &bp_stubs[function], place);
    if (!entry) {
        piece_source(function, place);
        return;
    }
    body();
    bp_fast_pause(bp_self, entry);
}

static void run_naive(unsigned function, uint64_t place, int counted) {
    unsigned mine = naive_enter(play.naive, bp_stubs[function].func, place, play.ticks);
    body();
    naive_leave(play.naive, mine, play.ticks, counted);
}

static void call_naive(unsigned function, uint64_t place) {
    run_naive(function, place, 1);
}

static void piece_naive(unsigned function, uint64_t place) {
    run_naive(function, place, 0);
}

static void unwound_naive(uint64_t place) {
    naive_unwound(play.naive, place, play.ticks);
}

static uint64_t mix(uint64_t sum, uint64_t node, uint64_t start, uint64_t child) {
    const uint64_t values[] = {node, start, child};
    for (unsigned i = 0; i < 3; i++)
        sum = (sum ^ values[i]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return sum;
}

static uint64_t open_naive(uint64_t sum) {
    for (unsigned i = play.naive->open; i; i--) {
        const struct naive_call *at = &play.naive->calls[i];
        sum = mix(sum, at->node, at->start, at->child);
        play.job->open_nodes = mix(play.job->open_nodes, at->node, 0, 0);
    }
    return sum;
}

static uint64_t open_entries(uint64_t sum) {
    const struct bp_entry *at = (const struct bp_entry *)bp_self->current;
    for (; at != &bp_self->root; at = (const struct bp_entry *)at->parent)
        sum = mix(sum, ((const struct bp_node *)at->node)->index, at->start, at->child);
    for (at = bp_thread_innermost(bp_self); at != &bp_self->root;
         at = (const struct bp_entry *)at->parent)
        play.job->open_nodes =
            mix(play.job->open_nodes, ((const struct bp_node *)at->node)->index, 0, 0);
    return sum;
}

static const struct way ways[] = {
    {"naive.h", call_naive, piece_naive, unwound_naive, open_naive, 0},
    {"thread.c, of a source", call_source, piece_source, bp_thread_unwound, open_entries, 0},
    {"fast.h", call_inline, piece_inline, bp_thread_unwound, open_entries, 0},
    {"thread.c, below the stub", call_slow_stub, NULL, bp_thread_unwound, open_entries, 0},
    {"the stub", call_fast_stub, NULL, bp_thread_unwound, open_entries, 0},
    {"the stub, counting", call_counted, NULL, bp_thread_unwound, open_entries, 1},
    {"the stub, jumping", call_jumped, NULL, bp_thread_unwound, open_entries, JUMPING},
};

static void answer_clock(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)registers[REG_RIP];
    if (code[0] != 0x0f || code[1] != 0x31)
        abort();
    registers[REG_RIP] += 2;
    registers[REG_RAX] = (greg_t)(play.ticks & UINT32_MAX);
    registers[REG_RDX] = (greg_t)(play.ticks >> 32);
}

static __attribute__((noipa)) void play_all(void) {
    uint64_t here = 0;
    play.places[0] = (uint64_t)&here;
    play.depth = 0;
    _setjmp(play.frames[0]);
    while (play.calls_left) {
        pass_time();
        call();
    }
    if (play.job->way->counted == JUMPING)
        bp_thread_unwinds(0);
    play.job->way->unwound(play.places[0]); /* what the last jump left open */
}

/* Tells apart neither who leaves the bucket of the last call in `last`, nor who does not. */
static void settle_last(struct bp_node *node) {
    node->histogram[0]--;
    node->histogram[node->last]++;
    node->last = 0;
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory)
        abort();
    return memory;
}

static void keep_naive(struct job *job) {
    job->count = play.naive->count;
    job->nodes = allocate(job->count, sizeof *job->nodes);
    memcpy(job->nodes, play.naive->nodes, job->count * sizeof *job->nodes);
    job->in_calls = play.naive->calls[0].child;
}

static void keep_nodes(struct job *job, const struct bp_thread *thread) {
    const struct bp_local *local = (const struct bp_local *)thread->local;
    job->count = local->nodes->first + local->nodes->count;
    job->nodes = allocate(job->count, sizeof *job->nodes);
    for (struct bp_chunk *chunk = local->nodes; chunk; chunk = (struct bp_chunk *)chunk->links[1])
        memcpy(job->nodes + chunk->first, chunk + 1, chunk->count * sizeof *job->nodes);
    for (unsigned i = 0; i < job->count; i++) {
        settle_last(&job->nodes[i]);
        job->jumped += job->nodes[i].jumped + (job->nodes[i].jumping ? job->nodes[i].untimed : 0);
        job->nodes[i].jumped = job->nodes[i].jumping = job->nodes[i].edges = 0;
        job->nodes[i].ticked = 0;
    }
    job->in_calls = thread->root.child;
}

static void run_naively(struct job *job) {
    play.naive = naive_new();
    play_all();
    keep_naive(job);
    free(play.naive);
}

static void run_profiled(struct job *job) {
    uint64_t here = (uint64_t)&here;
    struct bp_thread *thread = bp_thread_begin(here - (4u << 20), here + 4096, 0);
    if (!thread || prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
        abort();
    play_all();
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    keep_nodes(job, thread);
    bp_thread_end(thread);
    bp_self = NULL;
}

static void *run_thread(void *argument) {
    struct job *job = argument;
    play.job = job;
    play.random = (job->number + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed;
    play.ticks = 1000;
    play.calls_left = job->number ? CALLS : MANY_CALLS;
    if (job->way == ways)
        run_naively(job);
    else
        run_profiled(job);
    return NULL;
}

static void begin_profile(void) {
    begin_ledger();
    bp_process.look = look;
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        bp_stubs[i] = (struct bp_stub){(uint64_t)body, i + 1, BP_STUB_CALL};
}

/* All threads at once; the contexts that did not get a node of their own. */
static uint64_t run_way(const struct way *way, int pieces, struct job *jobs) {
    pthread_t threads[THREADS];
    begin_profile();
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.way = way, .number = i, .pieces = pieces};
        if (pthread_create(&threads[i], NULL, run_thread, &jobs[i]))
            abort();
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return bp_process.writer.header->node_limit_hits;
}

static int is_same(const struct bp_node *a, const struct bp_node *b) {
    if (memcmp(a, b, sizeof *a) == 0)
        return 1;
    printf("function %u (%u) below node %u (%u): self %llu (%llu), total %llu (%llu), inner %llu "
           "(%llu), aborted %llu (%llu), min %llu (%llu), span %llu (%llu), first %llu (%llu)\n",
           a->func, b->func, a->parent, b->parent, (unsigned long long)a->self,
           (unsigned long long)b->self, (unsigned long long)a->total, (unsigned long long)b->total,
           (unsigned long long)a->inner, (unsigned long long)b->inner,
           (unsigned long long)a->aborted, (unsigned long long)b->aborted,
           (unsigned long long)a->min, (unsigned long long)b->min, (unsigned long long)a->span,
           (unsigned long long)b->span, (unsigned long long)a->first, (unsigned long long)b->first);
    for (unsigned i = 0; i < BP_BUCKETS; i++)
        if (a->histogram[i] != b->histogram[i])
            printf("  bucket %u: %llu (%llu) calls\n", i, (unsigned long long)a->histogram[i],
                   (unsigned long long)b->histogram[i]);
    return 0;
}

static uint64_t calls_of(const struct bp_node *node) {
    uint64_t calls = node->untimed;
    for (unsigned i = 1; i < BP_BUCKETS; i++)
        calls += node->histogram[i];
    return calls;
}

/* `self` has what counted calls took that were made from there. */
static int is_same_counted(const struct bp_node *a, const struct bp_node *b) {
    struct bp_node copy = *b;
    copy.self = a->self;
    copy.sampled = a->sampled;
    copy.sampled_weight = a->sampled_weight;
    copy.sampled_weight_squares = a->sampled_weight_squares;
    copy.sampled_self = a->sampled_self;
    copy.sampled_squares = a->sampled_squares;
    copy.sampled_self_twice = a->sampled_self_twice;
    copy.sampled_most = a->sampled_most;
    copy.sampled_other = a->sampled_other;
    if (!a->untimed && !a->aborted) /* what was left may have been counted only */
        return is_same(a, &copy);
    return a->func == b->func && a->parent == b->parent && a->aborted == b->aborted &&
           calls_of(a) == calls_of(b);
}

static uint64_t untimed_of(const struct job *job) {
    uint64_t untimed = 0;
    for (unsigned i = 0; i < job->count; i++)
        untimed += job->nodes[i].untimed;
    return untimed;
}

/* No tick is lost or counted twice, and little but samples was timed. */
static void compare_counted(const struct job *job, const struct job *want) {
    uint64_t self = 0, untimed = untimed_of(job), calls = 0;
    unsigned different = 0;
    CHECK_EQUAL(job->count, want->count);
    if (job->way->counted == JUMPING)
        CHECK(!job->number || job->jumped > untimed_of(job) / 10);
    else
        CHECK_EQUAL(job->open_nodes, want->open_nodes);
    for (unsigned i = 0; i < job->count && i < want->count; i++) {
        different += !is_same_counted(&job->nodes[i], &want->nodes[i]);
        self += i ? job->nodes[i].self : 0;
        calls += i ? calls_of(&job->nodes[i]) : 0;
    }
    CHECK_EQUAL(different, 0);
    CHECK_EQUAL(self, job->in_calls);
    CHECK(untimed > calls / 10 || (job->way->counted == JUMPING && !job->number));
}

static void compare(const struct job *job, const struct job *want) {
    if (job->way->counted) {
        compare_counted(job, want);
        return;
    }
    CHECK_EQUAL(job->count, want->count);
    CHECK_EQUAL(job->in_calls, want->in_calls);
    CHECK_EQUAL(job->open, want->open);
    unsigned different = 0;
    for (unsigned i = 0; i < job->count && i < want->count && different < 3; i++)
        different += !is_same(&job->nodes[i], &want->nodes[i]);
    if (different)
        printf("so says %s (and %s), thread %u\n", job->way->name, want->way->name, job->number);
    CHECK_EQUAL(different, 0);
}

/* What the random program must have in it, or the comparison says little. */
static void check_variety(const struct job *job) {
    uint64_t aborted = 0, recursive = 0, self = 0;
    for (unsigned i = 1; i < job->count; i++) {
        aborted += job->nodes[i].aborted;
        recursive += job->nodes[i].inner != 0;
        self += job->nodes[i].self;
    }
    CHECK_EQUAL(self, job->in_calls); /* no tick is lost, and none counted twice */
    CHECK(job->count > 100);
    CHECK(aborted > 20);
    CHECK(recursive > 20);
}

static void compare_ways(int pieces, unsigned count) {
    struct job want[THREADS], jobs[THREADS];
    uint64_t folded = 0;
    run_way(&ways[0], pieces, want);
    for (unsigned i = 0; i < THREADS; i++)
        check_variety(&want[i]);
    for (unsigned way = 1; way < count; way++) {
        uint64_t hits = run_way(&ways[way], pieces, jobs);
        folded = way == 1 ? hits : folded;
        CHECK_EQUAL(hits, folded);
        for (unsigned i = 0; i < THREADS; i++) {
            compare(&jobs[i], &want[i]);
            free(jobs[i].nodes);
        }
    }
    CHECK(pieces || folded > 0);
    for (unsigned i = 0; i < THREADS; i++)
        free(want[i].nodes);
}

static void calls(void) {
    compare_ways(0, sizeof ways / sizeof *ways);
}

static void calls_that_pause(void) {
    compare_ways(1, 3);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_sigaction = answer_clock, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV)) {
        printf("the kernel does not let rdtsc trap\n");
        return SKIP;
    }
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    RUN(calls);
    RUN(calls_that_pause);
    return test_result();
}
