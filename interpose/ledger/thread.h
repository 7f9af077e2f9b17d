/* SPDX-License-Identifier: MIT
 *
 * The ledger: what a thread is doing, and the accounting of its time. Every nanosecond between a
 * thread's start and end belongs to its innermost open entry; closing an entry moves its time into
 * the node of its calling context. A thread writes only its own segment, without locks.
 *
 * bp_thread_enter and bp_thread_leave run below stubs with the target's registers live: this
 * module, node.c, wall.c and profile/writer.c are built without vector registers and call no libc.
 */
#ifndef BP_INTERPOSE_THREAD_H
#define BP_INTERPOSE_THREAD_H

#include "interpose/lock.h"
#include "profile/format.h"
#include "profile/writer.h"

/* 16,384 functions are promised; the rest is for waits and I/O. */
#define BP_STUBS 20480
#define BP_STUB_CODE_SIZE 16
#define BP_CALIBRATION_STUBS 2 /* the last ones */

/* Functions that a ledger can tell apart. */
#define BP_FUNCTIONS 65536

enum bp_stub_kind {
    BP_STUB_CALL,
    BP_STUB_WAIT,
    BP_STUB_IO,
    BP_STUB_IO_FD,  /* first argument is a descriptor; the next stub is its twin for waiting */
    BP_STUB_SOURCE, /* a source is told of the call, see interpose/source.h */
    BP_STUB_COPY    /* the same, and the call is a copy as interpose/copy.h has them */
};

/* The kind of a stub says in its upper bits whose it is: the source, counted from 1, and the
 * source's tag for the function. Of no source (0) the tag is what the profile says of the function:
 * its flags. */
#define BP_STUB_KIND(kind) ((kind)&0xfu)
#define BP_STUB_OF_SOURCE(kind, source, tag) ((kind) | (source) << 8 | (tag) << 16)
#define BP_STUB_SOURCE_OF(kind) ((kind) >> 8 & 0xffu)
#define BP_STUB_TAG(kind) ((kind) >> 16)
/* In the tag of a COPY: an argument tells the direction. Beside the kind: which one, and which tell
 * the size. */
#define BP_STUB_TOLD 0x80000000u
#define BP_STUB_SHAPE(shape) ((shape) << 4)

/* What a stub knows; bp_stubs[i] goes with bp_stubs_fast + 16 i and bp_stubs_slow + 16 i. */
struct bp_stub {
    uint64_t target;
    uint32_t func; /* index in the profile */
    uint32_t kind; /* enum bp_stub_kind, source and tag */
};
_Static_assert(sizeof(struct bp_stub) == 16, "stub.S adds twice the address to find an edge");

/* bp_entry.source of a call that its source is told no more of. The stub of a copy, interrupted
 * before it looks there, would take 0 for an address: it finds a copy of no bytes. */
static inline uint64_t bp_source_over(uint64_t source) {
    return source && BP_STUB_KIND(source) != BP_STUB_SOURCE ? BP_STUB_COPY : 0;
}

/* (node, function) -> node of the call. The stub looks in a direct-mapped table of these; one that
 * lost its place is kept in its neighbour's, on the same cache line, for those who look there. */
struct bp_edge {
    uint64_t parent;
    uint64_t stub;
    uint64_t node;
    uint64_t unused;
};
_Static_assert(sizeof(struct bp_edge) == 32, "edge");

static inline struct bp_edge *bp_edge_neighbour(const struct bp_edge *edge) {
    return (struct bp_edge *)((uint64_t)edge ^ sizeof *edge);
}

#define BP_EDGES 4096
#define BP_EDGE_FACTOR 0x61c88647 /* spreads node addresses over bits 27 and up */
#define BP_EDGE_SHIFT 27

struct bp_copies;
struct bp_copy_known;
struct bp_stack;

/* Copies that are known again (interpose/copy.h): by stack pointer, return address and size. */
#define BP_COPY_PLACES 256
#define BP_COPY_GRAIN 16    /* of stack pointers */
#define BP_COPY_SIZE_STEP 8 /* from one power of two to the next */

/* bp_local.stack_busy, if the stack was unwound past where it was in use. */
#define BP_STACK_LEFT 1

/* What a thread needs and nobody reads after its death. */
struct bp_local {
    struct bp_edge edges[BP_EDGES]; /* first: the stub adds offsets to bp_thread.local */
    uint32_t open[BP_FUNCTIONS];    /* by function: its calls that are open */
    struct bp_edge *map;            /* all edges, open addressing */
    uint32_t map_size;
    uint32_t map_used;
    struct bp_chunk *nodes; /* the chunk that new nodes go to */
    uint32_t entry_count;
    uint32_t key_set; /* the pthread key that ends this thread is armed */
    uint64_t stack_low;
    uint64_t stack_high;
    uint64_t stack_half;        /* half of its size */
    uint64_t stack_first;       /* above it: frames that the thread began with; 0: unknown */
    struct bp_node *folded;     /* parent of contexts beyond the limit */
    struct bp_entry *inherited; /* what bp_thread.alias stands for */
    struct bp_thread *next_dead;
    uint32_t key_rounds;
    void *source;                /* what the CUDA collector knows of the thread */
    struct bp_task_state *tasks; /* NULL before the first */
    struct bp_copies *copies;    /* that are known again; NULL: each takes the slow way */
    uint32_t copies_off;         /* and always will */
    uint64_t copies_busy;        /* where one is being learnt, as stack_busy */
    struct bp_copy_known *known[BP_COPY_PLACES];
    /* interpose/sample */
    struct bp_stack *stack; /* made by the first sample */
    uint64_t stack_busy;    /* where it is in use, an address on a stack; 0: nowhere */
    int32_t timer;          /* its number + 1; 0: none */
    uint64_t sampled_cpu;   /* CPU time of the thread at its last sample, ns */
    void *signal_stack;     /* stays when the thread ends, for the next one on this segment */
};

/* The stub's view of the argument registers, as stub.S stores them below the return address. */
struct bp_registers {
    uint64_t rdi, rsi, r8, r9, rcx, rdx, rax;
    uint64_t ret;
};

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
    struct bp_tree *tree;
    struct bp_tree_slot *slot;
    uint32_t tree_off; /* the process has left the tree */
    /* Greenlets move pieces of the stack away: a frame that seems gone may come back. */
    uint32_t copies_stacks;
    uint32_t
        calls_moved; /* a call ended on another thread: its duration may be beyond its node's */
    void (*finish)(void); /* the process is about to end, by exit or _exit; may be called twice */
};

extern struct bp_process bp_process __attribute__((visibility("hidden")));
extern __thread struct bp_thread *bp_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern struct bp_stub bp_stubs[BP_STUBS] __attribute__((visibility("hidden")));
extern const char bp_stubs_fast[] __attribute__((visibility("hidden")));
extern const char bp_stubs_slow[] __attribute__((visibility("hidden")));
/* Where targets return to. */
extern const char bp_stub_return_fast[] __attribute__((visibility("hidden")));
extern const char bp_stub_return_slow[] __attribute__((visibility("hidden")));
extern const char bp_stub_return_copy[] __attribute__((visibility("hidden")));

/* Begin the calling thread's ledger. `low` and `high` bound its stack; `late` if its beginning was
 * not seen. NULL without memory. */
struct bp_thread *bp_thread_begin(uint64_t low, uint64_t high, int late);

/* The same for a thread that nobody announced, met in a stub. */
struct bp_thread *bp_thread_adopt(void);

/* End it: open calls are counted as aborted. */
void bp_thread_end(struct bp_thread *thread);

/* Note the CPU time that the calling thread has used. */
void bp_thread_note_cpu(struct bp_thread *thread);

/* Nanoseconds in which the calling thread was ready and had no CPU, ever; 0 if nobody knows. */
uint64_t bp_thread_queued_ns(void);
uint64_t bp_ticks_to_ns(uint64_t ticks); /* by the first estimate of the rate */

/* Called by stubs: open a call; NULL: do not record it. */
struct bp_entry *bp_thread_enter(struct bp_stub *stub, struct bp_registers *registers);

/* Called by stubs: close it. `now` may be 0: read the clock. `result` is what the target left in
 * rax. 1: the entry may be used again. */
int bp_thread_leave(struct bp_entry *entry, uint64_t now, uint64_t result);

/* The stack was unwound to `sp` by an exception or longjmp: close the calls below it. */
void bp_thread_unwound(uint64_t sp);

/* Begin a life on a segment: only the root is open. */
void bp_thread_open_root(struct bp_thread *thread, struct bp_node *node, uint64_t now);

/* fork.c: around fork, with the process lock held. */
void bp_thread_before_fork(void);
void bp_thread_after_fork_parent(void);
void bp_thread_after_fork_child(void);

/* Make `entry` the innermost call; close the innermost one as left without returning. */
void bp_thread_uncover(struct bp_thread *thread, struct bp_entry *entry);
void bp_thread_abandon(struct bp_thread *thread, uint64_t now);

/* A segment for calibration that is in no file. */
struct bp_thread *bp_thread_scratch(void);
void bp_thread_scratch_free(struct bp_thread *thread);

/* node.c: the context of a call of `stub` from the node `parent`. NULL without memory. */
struct bp_node *bp_node_get(struct bp_thread *thread, uint64_t parent, struct bp_stub *stub);
struct bp_node *bp_node_new(struct bp_thread *thread, uint32_t parent, uint32_t func);
void bp_node_reset_all(struct bp_thread *thread);

/* wall.c: this thread's part of the wall. */
void bp_wall_join(struct bp_thread *thread, uint64_t now);
void bp_wall_part(struct bp_thread *thread, uint64_t now);
void bp_wall_wait(struct bp_thread *thread, struct bp_entry *entry, uint64_t now);
void bp_wall_resume(struct bp_thread *thread, uint64_t now);
void bp_wall_come_back(uint64_t left_v, uint32_t busy);
uint64_t bp_wall_share(const struct bp_thread *thread, uint64_t now); /* its part until now */

void *bp_pages_new(uint64_t size);

/* preserve.S: call function(argument) from a stub, with all vector and x87 state kept. */
void bp_call_preserving(void (*function)(struct bp_thread *), struct bp_thread *argument);
extern uint64_t bp_preserve_size __attribute__((visibility("hidden")));

#endif
