/* SPDX-License-Identifier: MIT
 *
 * The ledger: what a thread is doing, and the accounting of its time. Every nanosecond between a
 * thread's start and end belongs to its innermost open entry; closing an entry moves its time into
 * the node of its calling context. A thread writes only its own segment, without locks.
 *
 * bp_thread_enter and bp_thread_leave run below stubs with the target's registers live: this
 * module, node.c, wall.c and profile/writer.c are built without vector registers and call no libc.
 */
#ifndef BP_INTERPOSE_LEDGER_THREAD_H
#define BP_INTERPOSE_LEDGER_THREAD_H

#include <stddef.h>

#include "interpose/arch/arch.h"
#include "interpose/base/pages.h"
#include "interpose/ledger/lock.h"
#include "profile/format.h"
#include "profile/writer.h"

/* 16,384 functions are promised; the rest is for waits and I/O. */
#define BP_STUBS 20480
#define BP_CALIBRATION_STUBS 4 /* the last ones */

/* Functions that a ledger can tell apart. */
#define BP_FUNCTIONS 65536

enum bp_stub_kind {
    BP_STUB_CALL,
    BP_STUB_WAIT,
    BP_STUB_IO,
    BP_STUB_IO_FD, /* first argument is a descriptor; the next stub is its twin for waiting */
    BP_STUB_SOURCE /* reported to a guest */
};

/* The kind of a stub says in its upper bits whose it is: the guest (in hook/ a source), counted
 * from 1, and the guest's tag for the function. Without a guest (0) the tag is the flags that the
 * profile has of the function. */
#define BP_STUB_KIND(kind) ((kind)&0xfu)
#define BP_STUB_OF_SOURCE(kind, source, tag) ((kind) | (source) << 8 | (tag) << 16)
#define BP_STUB_SOURCE_OF(kind) ((kind) >> 8 & 0xffu)
#define BP_STUB_TAG(kind) ((kind) >> 16)

/* What a stub knows; bp_stubs[i] goes with bp_stubs_fast + 16 i and bp_stubs_slow + 16 i. */
struct bp_stub {
    uint64_t target;
    uint32_t func; /* index in the profile */
    uint32_t kind; /* enum bp_stub_kind, source and tag */
};
_Static_assert(sizeof(struct bp_stub) == 16, "stub");

/* (node, function) -> node of the call. An edge is made once and never moves; what finds it may
 * change at any instruction (a handler's call), the edge itself does not. */
struct bp_edge {
    uint64_t parent;
    uint64_t stub;
    uint64_t node;
    uint64_t entry;  /* of its calls that are not timed (light.c); 0: all of them are */
    uint64_t open;   /* address of the function's bp_local.open */
    uint64_t thread; /* whose it is */
    uint64_t target; /* the stub's */
    int32_t left;    /* calls until the next one that light.c wants to see */
    /* light.c's: */
    uint8_t counted;  /* whether calls may be counted only: BP_EDGE_… */
    uint8_t kept;     /* the entry is a call's for good: the context is never counted again */
    uint8_t patience; /* how often calls were timed again */
    uint8_t since;    /* samples since their mean distance was set */
    uint64_t next;    /* another one of the stub's, or this one; no end */
    uint32_t good;    /* time of its calls since they were timed again, light.c has the unit */
    /* What the node had when it was last judged. */
    uint32_t longer;
    uint16_t aborted;
    uint16_t ticked;
    uint32_t usual; /* mean duration */
    uint64_t calls;
    uint64_t time;
    /* Samples: their mean distance, and the last ones. None is long, so 32 bits are enough. */
    uint8_t distance;
    uint8_t alarms; /* calls that seemed to be made from one that was jumped to (jump.c) */
    uint16_t samples;
    uint32_t excess; /* of outliers: what is not in `sum` */
    uint64_t sum;
    uint64_t squares;
};
_Static_assert(sizeof(struct bp_edge) == 128 && offsetof(struct bp_edge, next) == 64,
               "edge: what the stub reads is one cache line");

#define BP_EDGE_TIMED INT32_MIN /* of `left`: the next call is seen in C (light.c) */

#define BP_EDGE_COUNTED 1 /* of `counted`; 0 before that, and when calls are timed again */
#define BP_EDGE_JUMPED 2  /* and without an entry (jump.h) */

/* Where the edge of a stub's last call, and those before it, are others, the stub looks in a
 * direct-mapped table of their addresses. */
#define BP_EDGES 4096
#define BP_EDGE_FACTOR 0x61c88647 /* spreads node addresses over bits 27 and up */
#define BP_EDGE_SHIFT 27

static inline uint32_t bp_edge_place(uint64_t parent, uint64_t stub) {
    uint64_t offset = (parent * BP_EDGE_FACTOR >> BP_EDGE_SHIFT) + stub;
    return (uint32_t)(offset / sizeof(uint64_t)) & (BP_EDGES - 1);
}

struct bp_cuda_thread;
struct bp_py_line_thread;
struct bp_sampled;
struct bp_task_state;

/* A frame that a walk of the stack looks for: a call that its stub jumped to. */
struct bp_watch {
    uint64_t slot;  /* where its return address is; 0: nothing is looked for */
    uint64_t start; /* of its function */
    uint64_t entry; /* that the frame has, or would have */
    uint16_t met;
    uint16_t handler; /* a signal handler of the program is on the stack */
    uint32_t whole;   /* the walk came to the end of the stack */
};

/* The last call that was given its entry late (jump.h): what is in the place of its return address,
 * and how often a walk has found it running since, from below a stub. */
struct bp_late {
    struct bp_entry *entry;
    uint64_t ret;
    uint64_t found;
};

/* What a thread needs and nobody reads after its death. The kernel clears it in a forked child
 * (MADV_WIPEONFORK), where our handlers put back what is needed; in a child that they did not see
 * no edge is found and no function open, so that stubs take the slow way, which looks whose process
 * it is. Thus that costs nothing on the path of a known call. */
struct bp_local {
    struct bp_edge *edges[BP_EDGES]; /* first: the stub adds offsets to bp_thread.local */
    struct bp_edge *last[BP_STUBS];  /* by stub: the edge of its last call (bp_thread.last) */
    uint32_t open[BP_FUNCTIONS];     /* by function: its calls that are open */
    struct bp_edge **map;            /* all edges, open addressing */
    struct bp_edge *spare;           /* the next one to be made */
    uint32_t map_size;
    uint32_t map_used;
    uint32_t spare_count;
    uint32_t light_random;  /* state of light.c's generator */
    uint64_t light_last;    /* target of light.c's last sample */
    struct bp_chunk *nodes; /* the chunk that new nodes go to */
    uint32_t entry_count;
    uint32_t key_set; /* the pthread key that ends this thread is armed */
    uint64_t stack_low;
    uint64_t stack_high;
    uint64_t stack_half;        /* half of its size */
    struct bp_node *folded;     /* parent of contexts beyond the limit */
    struct bp_entry *inherited; /* what bp_thread.alias stands for */
    struct bp_watch watch;      /* of the walk under way; `met` stays until a tick is over */
    struct bp_late late;
    struct bp_thread *next_dead;
    uint32_t key_rounds;
    uint32_t pause_number; /* the last start or stop that the thread has taken into account */
    /* What the thread's clocks said when its ledger began, ns; 0 of a thread that began with it. */
    uint64_t cpu_before;
    uint64_t queued_before;
    /* What others have of the thread; NULL before they need it. */
    struct bp_task_state *tasks;     /* ledger/task.h */
    struct bp_sampled *sampled;      /* ledger/timer.h */
    struct bp_py_line_thread *lines; /* python/line */
    struct bp_cuda_thread *cuda;     /* cuda */
};

/* Whether contexts may be timed by samples. */
enum bp_light {
    BP_LIGHT_OFF,
    BP_LIGHT_ON,
    BP_LIGHT_EAGER, /* at once, whatever their calls take: for tests */
    BP_LIGHT_JUMPS  /* and stubs jump wherever they may */
};
extern enum bp_light bp_light_on __attribute__((visibility("hidden")));

/* Process-wide state shared by the ledger's files. */
struct bp_process {
    struct bp_writer writer;
    struct bp_lock lock;
    uint32_t clock;
    uint32_t on; /* 0 before init and after switching off */
    int32_t pid;
    uint32_t functions;                    /* known to the profile */
    uint32_t threads;                      /* segments handed out */
    struct bp_thread *dead;                /* segments of ended threads */
    void (*arm)(struct bp_thread *thread); /* have bp_thread_end called when the thread ends */
    uint64_t main_low, main_high;          /* the stack of the main thread */
    struct bp_tree *tree;
    struct bp_tree_slot *slot;
    struct bp_chunk *marks; /* of the run, beside its wall page; NULL: none */
    uint32_t tree_off;      /* the process has left the tree */
    /* Greenlets move pieces of the stack away: a frame that seems gone may come back. */
    uint32_t copies_stacks;
    uint32_t
        calls_moved; /* a call ended on another thread: its duration may be beyond its node's */
    void (*finish)(void); /* the process is about to end, by exit or _exit; may be called twice */
    void (*look)(
        struct bp_thread *thread); /* walk the stack for bp_local.watch; NULL: nobody can */
};

extern struct bp_process bp_process __attribute__((visibility("hidden")));
extern __thread struct bp_thread *bp_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern struct bp_stub bp_stubs[BP_STUBS] __attribute__((visibility("hidden")));

/* The calling thread's ledger, unless it is another process's: for slow ways. */
static inline struct bp_thread *bp_thread_self(void) {
    return bp_orphaned() ? NULL : bp_self;
}

/* A curtain (pause.h) is no call: what is open is behind it. */
static inline int bp_thread_is_curtain(const struct bp_thread *thread, uint64_t entry) {
    return entry == (uint64_t)&thread->curtain[0] || entry == (uint64_t)&thread->curtain[1];
}

static inline struct bp_entry *bp_thread_innermost(const struct bp_thread *thread) {
    uint64_t entry = __atomic_load_n(&thread->current, __ATOMIC_ACQUIRE);
    if (__builtin_expect(bp_thread_is_curtain(thread, entry), 0))
        entry = ((const struct bp_entry *)entry)->parent;
    return (struct bp_entry *)entry;
}

/* Begin the calling thread's ledger. `low` and `high` bound its stack; `late` if its beginning was
 * not seen. NULL without memory. */
struct bp_thread *bp_thread_begin(uint64_t low, uint64_t high, int late);

/* Begins the ledger of a thread that nobody announced, met in a stub. */
struct bp_thread *bp_thread_adopt(void);

/* End it: open calls are counted as aborted. */
void bp_thread_end(struct bp_thread *thread);

/* Note the CPU time that the calling thread has used. */
void bp_thread_note_cpu(struct bp_thread *thread);
/* The calling thread ran before its ledger began: what its clocks say of then is left out. */
void bp_thread_ran_before(struct bp_thread *thread);

/* Nanoseconds in which the calling thread was ready and had no CPU, ever; 0 if that is unknown. */
uint64_t bp_thread_queued_ns(void);
uint64_t bp_ticks_to_ns(uint64_t ticks); /* by the first estimate of the rate */

/* An entry for good: it never comes back to the free list. */
struct bp_entry *bp_thread_take(struct bp_thread *thread);

/* Called by stubs: open a call; NULL: do not record it. */
struct bp_entry *bp_thread_enter(struct bp_stub *stub, struct bp_registers *registers);

/* Called by stubs: close it. `now` may be 0: read the clock. `result` is what the target left in
 * rax. 1: the entry may be used again. */
int bp_thread_leave(struct bp_entry *entry, uint64_t now, uint64_t result);

/* The stack is about to be unwound, by whoever calls this, to `to` or further; 0: that is unknown.
 */
void bp_thread_unwinds(uint64_t to);

/* The thread is about to end, from within whatever it has open. */
void bp_thread_exits(void);

/* The stack was unwound to `sp` by an exception or longjmp: close the calls below it. */
void bp_thread_unwound(uint64_t sp);

/* Begin a life on a segment: only the root is open. */
void bp_thread_open_root(struct bp_thread *thread, struct bp_node *node, uint64_t now);

/* fork.c: around fork, with the process lock held. Before: 0 or -errno; then the child is to be
 * left alone. */
int bp_thread_before_fork(void);
void bp_thread_after_fork_parent(void);
void bp_thread_after_fork_child(void);

/* Guests: parts of the profiler that the ledger reports calls to, by their number in the kind of a
 * stub. Both functions run below stubs on the calling thread. */
struct bp_guest {
    /* The call is open, `entry` its place; its time begins when this returns. */
    void (*enter)(struct bp_thread *thread, struct bp_entry *entry, unsigned tag,
                  const struct bp_registers *arguments);
    /* It is over since `now`. `result` is NULL if it was left by longjmp or an exception. */
    void (*leave)(struct bp_thread *thread, struct bp_entry *entry, unsigned tag, uint64_t now,
                  const uint64_t *result);
};
#define BP_GUESTS 4
extern struct bp_guest bp_guests[BP_GUESTS] __attribute__((visibility("hidden")));

/* Calls that a guest opens by itself, in the calling thread, among the native ones. `sp` is a place
 * on the stack that is popped before the call is over (the address of a local variable of the
 * caller's frame), or 0 if the call has no stack frame of its own: then it counts as nested
 * directly in what is open. NULL: not recorded. */
struct bp_entry *bp_thread_open(struct bp_stub *function, uint64_t sp);

/* One that goes on after a pause (a generator): its time counts, the call does not. */
struct bp_entry *bp_thread_resume(struct bp_stub *function, uint64_t sp);

/* Report its end to the guest of `kind`, that of a stub. The call begins now. */
void bp_thread_report(struct bp_entry *entry, uint32_t kind);

/* Close it, on the thread that opened it, at `now`; 0: read the clock. NULL is allowed. */
void bp_thread_close(struct bp_entry *entry, uint64_t now);

/* Close it as left by an exception. NULL is allowed. */
void bp_thread_abort(struct bp_entry *entry);

/* Make `entry` the innermost call; close the innermost one as left without returning. */
void bp_thread_uncover(struct bp_thread *thread, struct bp_entry *entry);
void bp_thread_abandon(struct bp_thread *thread, uint64_t now);

/* A page that the kernel clears in a forked child, for bp_alive, with memory for the first thread
 * behind it. Once; NULL without memory. */
uint32_t *bp_thread_new_alive(void);

/* A segment for calibration that is in no file. */
struct bp_thread *bp_thread_scratch(void);
void bp_thread_scratch_free(struct bp_thread *thread);

/* node.c: the context of a call of `stub` from the node `parent`. NULL without memory. */
struct bp_edge *bp_edge_get(struct bp_thread *thread, uint64_t parent, struct bp_stub *stub);
/* It is the first that its stub looks at. */
void bp_edge_remember(struct bp_thread *thread, struct bp_edge *edge);
struct bp_node *bp_node_get(struct bp_thread *thread, uint64_t parent, struct bp_stub *stub);
struct bp_node *bp_node_new(struct bp_thread *thread, uint32_t parent, uint32_t func);

/* wall.c: this thread's part of the wall. */
void bp_wall_join(struct bp_thread *thread, uint64_t now);
void bp_wall_part(struct bp_thread *thread, uint64_t now);
void bp_wall_wait(struct bp_thread *thread, struct bp_entry *entry, uint64_t now);
void bp_wall_resume(struct bp_thread *thread, uint64_t now);
void bp_wall_come_back(uint64_t left_v, uint32_t busy);
uint64_t bp_wall_share(const struct bp_thread *thread, uint64_t now); /* its part until now */

#endif
