/* SPDX-License-Identifier: MIT
 *
 * The profile file (battprof.<pid>.bp): its one definition, for the writer inside the target and
 * for every reader. docs/internals/format.md describes the fields in prose; a change here changes
 * that page, writer.c and reader.c together.
 *
 * A file is one header of 4096 bytes followed by chunks. A chunk is a header of 64 bytes and an
 * array of items of one kind. The target maps the file MAP_SHARED and writes it in place, so the
 * file is complete at every instant, also after SIGKILL. Everything is little-endian; times are
 * ticks of the clock named in the header.
 *
 * How an old reader survives a new writer: chunks of an unknown kind are skipped, items may be
 * longer than known (only the known prefix is read), new header fields take reserved bytes that are
 * zero in old files. A new major number means that none of this suffices; such a file is refused.
 */
#ifndef BP_PROFILE_FORMAT_H
#define BP_PROFILE_FORMAT_H

#include <stdint.h>

#include "profile/format_device.h"
#include "profile/format_line.h"
#include "profile/format_run.h"
#include "profile/format_sample.h"
#include "profile/format_task.h"

#define BP_MAGIC "BATTPROF"
#define BP_MAJOR 1
/* 1: kinds 9 to 14; 2: kinds 15 to 21, bp_node.first; 3: startup_queued; 4: samples of copies
 * that nothing else counted, gone with 6; 5: kind 22, bp_sample.direction; 6: kind 23,
 * bp_node.lines; 7: kind 24, bp_header.project, BP_FUNC_SCRIPT; 8: bp_transfer.call_time; 9:
 * bp_header.cpus; 10: pauses: bp_header.wanted and what follows it, bp_thread.curtain and what
 * follows it, BP_FUNC_PAUSED, kind 25; 11: bp_node.untimed and what follows it, bp_header.untimed
 * and what follows it, bp_task_node.untimed; 12: bp_node.jumped and what follows it,
 * bp_header.jumped */
#define BP_MINOR 12
#define BP_BYTE_ORDER 0x01020304u
#define BP_PAGE 4096u

enum bp_clock {
    BP_CLOCK_TSC = 1,      /* invariant time stamp counter; the rate follows from two clock pairs */
    BP_CLOCK_MONOTONIC = 2 /* CLOCK_MONOTONIC, 1 tick = 1 ns */
};

enum bp_process_state {
    BP_RUNNING = 0, /* still running, or ended unseen (SIGKILL, power cut) */
    BP_EXITED = 1,  /* exit or _exit was seen; exit_status is valid */
    BP_EXECED = 2   /* replaced by another program through exec */
};

/* Header flags. */
#define BP_HAS_TREE 0x1u    /* this file holds the wall page of its process tree */
#define BP_SESSION 0x2u     /* written by `battprof run` itself: no threads of its own */
#define BP_LATE 0x4u        /* loaded into a running process: what came before is not in here */
#define BP_FORKED 0x8u      /* began with fork, not with exec */
#define BP_LOST_DISK 0x10u  /* the file could not grow: later chunks stayed in memory, lost */
#define BP_LOST_STUBS 0x20u /* more functions than stubs: the rest was not hooked */
#define BP_LOST_TREE 0x40u  /* could not join the wall page: its part of the wall is unknown */
#define BP_OFF 0x80u        /* the profiler switched itself off; `reason` says why */
#define BP_NO_CUDA 0x100u   /* calls of CUDA were not to be recorded (`run --cuda=off`) */

/* What bp_header.wanted says: a number that each request counts up, and in the last bit whether
 * recording is to be paused. */
#define BP_WANTED_PAUSED 1u
#define BP_WANTED_STEP 2u

/* The same instant on three clocks. */
struct bp_clock_pair {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
};

struct bp_header {
    char magic[8];
    uint16_t major;
    uint16_t minor;
    uint32_t header_size; /* 4096; chunks begin here */
    uint32_t byte_order;
    uint32_t clock; /* enum bp_clock */
    uint32_t flags;
    uint32_t state; /* enum bp_process_state */
    int32_t pid;
    int32_t parent_pid;
    int32_t exit_status;  /* as given to exit; -1 while unknown */
    uint32_t image;       /* 0 for the first program of this pid, 1 after one exec, … */
    uint64_t used;        /* bytes of the file that hold header and chunks */
    uint64_t lost_bytes;  /* see BP_LOST_DISK */
    uint64_t ticks_per_s; /* first estimate, made in the constructor; 0 if unknown */
    struct bp_clock_pair first;
    struct bp_clock_pair last; /* renewed at slow moments and at the end; zero until then */
    uint64_t start;            /* ticks: the constructor, or the fork */
    uint64_t end;              /* ticks: exit, _exit or exec; 0 while running */
    uint64_t end_v;            /* tree.v at `end` */
    /* Own cost of one intercepted call, in 1/256 ticks: within the callee's time, and outside of it
     * in the caller's. */
    uint32_t inside;
    uint32_t outside;
    uint32_t slow_inside; /* the same for calls of kind WAIT and IO */
    uint32_t slow_outside;
    uint64_t startup;         /* ticks spent in the constructor, part of the main thread's root */
    uint32_t node_limit_hits; /* contexts folded because a thread reached its limit of nodes */
    uint32_t threads_folded;  /* threads that reused the segment of a dead one */
    char reason[192];         /* why it is off, or what went wrong first */
    char executable[512];
    char command[1024]; /* arguments separated by spaces, cut if longer */
    char directory[512];
    char tree[512]; /* path of the file with the wall page; empty if it is this one */
    char host[64];
    char boot_id[40];
    char version[16];
    char hooks[256];     /* what was asked to be hooked */
    uint32_t lost_errno; /* why BP_LOST_DISK */
    /* As inside and outside, for calls of Python functions; both 0 where that was not measured. */
    uint32_t python_inside;
    uint32_t python_outside;
    uint32_t tasks_plain; /* tasks that were kept without details: too many, or too costly */
    uint64_t task_time;   /* ticks spent on recording tasks, in the time of those who called them */
    uint32_t tasks_lost;  /* tasks that were not recorded: nested too deeply, or no memory */
    /* What the process waited for us at its end: ticks in the self time of that thread's node. */
    uint32_t last_node;
    uint64_t last_time;
    uint32_t last_thread;
    uint32_t python_passed; /* overhead of one in bp_node.passed, 1/256 ticks */
    /* Ticks of `startup` in which the thread was ready and had no CPU, before the main thread's
     * ledger began and after: no cost of ours. */
    uint64_t startup_queued[2];
    /* Own cost of one line event, and of one instruction in a frame that has such events, 1/256
     * ticks; taken out of bp_line_count, not of bp_node.self. */
    uint32_t line_event;
    uint32_t line_instruction;
    /* Ticks that the main thread took to start with Python, in the self time of that node of it; of
     * a forked child: its parent's. */
    uint64_t python_start;
    uint32_t python_start_node;
    uint32_t line_doubt; /* by which line_event may be off, 1/256 ticks */
    char project[256];   /* of a session: the folder of the project that it was started in, or "" */
    uint32_t cpus;       /* that the process might run on when it began; 0 if unknown */
    /* Pauses. `wanted` is the one field that others than the process write: `battprof start` and
     * `stop`. The process copies it to `obeyed` when it has done so. */
    uint32_t wanted;
    uint32_t obeyed;
    uint32_t pauses;       /* that began */
    uint64_t paused;       /* ticks of the pauses that are over */
    uint64_t paused_since; /* ticks; 0: the process is being recorded */
    uint64_t paused_v;     /* by which tree.v grew in them */
    uint64_t paused_since_v;
    uint64_t paused_idle; /* ticks of them in which the tree had no busy thread */
    /* Own cost, in 1/256 ticks, of a call that is counted only (bp_node.untimed), all of it in the
     * caller's time; and as inside and outside, of one that is timed among them. */
    uint32_t untimed;
    uint32_t sampled_inside;
    uint32_t sampled_outside;
    uint32_t sampled_other; /* more of sampled_inside, if the last one had another target */
    uint32_t jumped;        /* as `untimed`, of a call that its stub jumps to (bp_node.jumped) */
    char reserved[372];
};
_Static_assert(sizeof(struct bp_header) == BP_PAGE, "the header is one page");

enum bp_chunk_kind {
    BP_STRINGS = 1, /* char: zero-terminated strings; a string is named by its index, 0 is "" */
    BP_OBJECTS = 2, /* struct bp_object */
    BP_FUNCS = 3,   /* struct bp_func */
    BP_THREADS = 4, /* struct bp_thread */
    BP_NODES = 5,   /* struct bp_node, of one thread */
    BP_ENTRIES = 6, /* struct bp_entry, of one thread */
    BP_REAPED = 7,  /* struct bp_reaped */
    BP_TREE = 8,    /* struct bp_tree, once, in the tree's first file */
    /* These belong to no thread, see profile/format_device.h; a forked child begins without any. */
    BP_DEVICES = 9,
    BP_TRANSFERS = 10,
    BP_KERNELS = 11,
    BP_SPLITS = 12,
    BP_WAITS = 13,
    BP_COLLECTOR = 14, /* struct bp_collector, once */
    /* See profile/format_sample.h; a forked child begins without frames and samples. */
    BP_FRAMES = 15,  /* struct bp_frame, of one thread */
    BP_SAMPLES = 16, /* struct bp_sample, of one thread */
    BP_SAMPLER = 17, /* struct bp_sampler, once */
    /* See profile/format_task.h; a forked child begins without tasks. */
    BP_TASKS = 18,
    BP_TASK_NODES = 19,
    BP_TASK_FOLDS = 20,
    BP_VARIABLES = 21,
    BP_ASKED = 22,       /* see profile/format_device.h; a forked child begins without any */
    BP_LINE_COUNTS = 23, /* see profile/format_line.h; a forked child begins at zero */
    BP_MODULES = 24,     /* struct bp_module: of Python, as they were loaded */
    BP_MARKS = 25,       /* struct bp_run_mark, beside the tree */
    BP_KINDS = 26
};

#define BP_CHUNK_MAGIC 0x4b435042u /* "BPCK" */
#define BP_NO_THREAD UINT32_MAX

struct bp_chunk {
    uint32_t magic;
    uint16_t kind;
    uint16_t item_size;
    uint64_t size;    /* bytes with this header: whole pages, each chunk follows the one before */
    uint64_t address; /* where the target has it mapped: turns pointers in items into places */
    uint32_t thread;  /* the owner's index in BP_THREADS, or BP_NO_THREAD */
    uint32_t first;   /* index of the first item among all chunks of this kind (and thread) */
    uint32_t capacity;
    uint32_t count;    /* items in use; written after the item itself */
    uint64_t links[2]; /* the target's own lists of chunks; nothing to a reader */
    uint64_t reserved;
};
_Static_assert(sizeof(struct bp_chunk) == 64, "chunk header");

/* Object flags. */
#define BP_OBJECT_HOOKED 0x1u /* its exports are wanted */
#define BP_OBJECT_LATE 0x2u   /* came with dlopen */
#define BP_OBJECT_GONE 0x4u   /* was unloaded */
#define BP_OBJECT_MAIN 0x8u   /* the executable */
#define BP_OBJECT_NOT_C 0x10u /* its functions are not called as C's are: none is hooked */

struct bp_object {
    uint32_t path;
    uint32_t soname;
    uint64_t base; /* load address: address - base is the address in the file */
    uint64_t low;
    uint64_t high;
    uint32_t flags;
    uint32_t exports; /* functions it exports (of hooked objects) */
    uint32_t slots;   /* slots in this object that lead to a stub or wrapper */
    uint32_t build_id_size;
    uint8_t build_id[32];
    uint32_t patch_error; /* errno if its slots could not be patched */
    uint32_t reserved[5];
};
_Static_assert(sizeof(struct bp_object) == 104, "object");

enum bp_func_kind {
    BP_FUNC_ROOT = 0, /* the thread itself; function 0 */
    BP_FUNC_CALL = 1, /* an intercepted function */
    BP_FUNC_WAIT = 2, /* an intercepted call that blocks: the thread is not busy */
    BP_FUNC_IO = 3,   /* an intercepted call on a file */
    BP_FUNC_FOLDED =
        4, /* parent of contexts beyond the limit of nodes; its children are functions */
    BP_FUNC_PAUSED = 5 /* no function: what a thread did while recording was paused */
};

/* Function flags. */
#define BP_FUNC_CUDA 0x1u   /* a call of the CUDA runtime or driver; see bp_split */
#define BP_FUNC_PYTHON 0x2u /* a function of Python: module, file and line are known */
#define BP_FUNC_CHOSEN                                                                             \
    0x4u                     /* asked for by run --dsl or --python: DSL unless rules say otherwise \
                              */
#define BP_FUNC_COUNTED 0x8u /* asked for by name (run --count): DSL or not, every call */
#define BP_FUNC_GIL 0x10u    /* waiting for Python's global interpreter lock */
#define BP_FUNC_RESUMED 0x20u /* a generator or coroutine: recorded calls end when it is made */
#define BP_FUNC_LINES 0x40u   /* asked for by name (run --lines): its lines are counted */
#define BP_FUNC_SCRIPT 0x80u  /* of the program's own script (__main__), or a notebook's cell */
#define BP_FUNC_TASK 0x100u   /* its calls are tasks */
#define BP_FUNC_PHASE 0x200u  /* it is a phase: `phase` */
#define BP_FUNC_SAMPLE 0x400u /* its calls are samples of a task */
#define BP_FUNC_INPUT 0x800u  /* its calls generate code: see BP_TASK_INPUT */

/* The first two functions of every file. */
#define BP_FUNC_INDEX_ROOT 0
#define BP_FUNC_INDEX_FOLDED 1

#define BP_NO_OBJECT UINT32_MAX

struct bp_func {
    uint32_t name;
    uint32_t object; /* index in BP_OBJECTS, or BP_NO_OBJECT */
    uint64_t address;
    uint16_t kind; /* enum bp_func_kind */
    uint16_t flags;
    uint32_t module; /* Python module, file and line: 0 for native functions */
    uint32_t file;
    uint32_t line;
    uint32_t phase; /* string: name of the phase that the function is, by the rules for tasks */
    uint32_t reserved[3];
};
_Static_assert(sizeof(struct bp_func) == 48, "function");

/* Among the variables of a session: the rules that `run --rules` was given, as JSON. */
#define BP_RULES_VARIABLE "rules"

#define BP_MODULE_UNKNOWN UINT32_MAX

/* A Python module, or the program's script, whose code was executed. */
struct bp_module {
    uint32_t name; /* string: as its place in sys.path tells it */
    uint32_t file;
    uint32_t functions; /* functions, methods and lambdas in it; BP_MODULE_UNKNOWN */
    uint32_t reserved;
};
_Static_assert(sizeof(struct bp_module) == 16, "module");

/* Histogram of call durations: two buckets per power of two of ticks, so a quantile is known within
 * a factor of 1.5. Durations under 8 ticks, below what the clock resolves, share buckets 2 to 5;
 * those of 2^48 ticks and more (26 hours at 3 GHz) are in the last one. */
#define BP_BUCKETS 96

static inline unsigned bp_bucket(uint64_t ticks) {
    uint64_t d = ticks | 2; /* keeps the power at 1 or more, as the stub does */
    if (d >> 48)
        return BP_BUCKETS - 1;
    unsigned power = 63u - (unsigned)__builtin_clzll(d);
    return 2 * (power - 1) + (unsigned)(d >> (power - 1));
}

/* The smallest duration of a bucket; from 8 ticks on bucket b covers [low(b), low(b + 1)). */
static inline uint64_t bp_bucket_low(unsigned bucket) {
    if (bucket < 6)
        return bucket < 4 ? 0 : 4;
    return (uint64_t)(2 + bucket % 2) << (bucket / 2 - 1);
}

#define BP_NO_NODE UINT32_MAX

/* One calling context of one thread: (parent node, function). A function that is open already is
 * not a new context: the inner call is counted on the node of the outer one. Durations of calls
 * during which the function was open further out go to `inner` and not to `total`, so over all
 * nodes `total` is the time in which the function was open at least once. The number of calls is
 * the sum of the histogram, without bucket 0, which is no duration's and takes the place of `last`
 * before the first call, plus 1 if there is a `last`, plus `aborted` and `untimed`. */
struct bp_node {
    uint32_t parent; /* index among the thread's nodes; BP_NO_NODE for the root */
    uint32_t func;
    uint64_t self; /* ticks with this as the innermost frame */
    uint64_t total;
    uint64_t inner;
    uint64_t aborted; /* calls left by exception, longjmp or thread exit; not in the histogram */
    uint64_t min;     /* shortest returned call; UINT64_MAX before the first */
    uint64_t span;    /* longest minus shortest */
    uint32_t index;   /* its own */
    uint32_t last;    /* bucket of a returned call that the histogram has still to get; 0: none */
    uint64_t histogram[BP_BUCKETS];
    uint64_t first; /* duration of the first call that returned; 0 before, and before format 1.2 */
    /* Python calls, steps of generators and audit events that are no calls here but went through
     * our hands while this was innermost, in units of the cheapest kind: header.python_passed is
     * what one costs. */
    uint64_t passed;
    uint64_t lines; /* ticks of `self` that counting lines took, and looking at imports */
    /* Calls that returned and were counted only; what they took is in the self time of where they
     * were called from. Some calls among them were timed: how many. The weight of each is the
     * number of such calls that were to come before it on average. Sums of weights and of their
     * squares, of weight times self time and of its square, of the weight's square times self time;
     * the largest weight times self time; the weights of those that had another target than the
     * thread's sample before. All but `sampled` and `sampled_most` may have been halved together.
     */
    uint64_t untimed;
    uint64_t sampled;
    uint64_t sampled_weight;
    uint64_t sampled_weight_squares;
    uint64_t sampled_self;
    uint64_t sampled_squares;
    uint64_t sampled_self_twice;
    uint64_t sampled_most;
    uint64_t sampled_other;
    /* How many of `untimed` had no entry: their stub jumped to them. While `jumping`, less by what
     * `untimed` was when that began, modulo 2^64. */
    uint64_t jumped;
    uint16_t jumping;
    uint16_t ticked; /* short calls that a tick of the sampling timer met, which made them longer */
    uint32_t edges;  /* kinds of calls that the process made from it: none of a leaf */
};
_Static_assert(sizeof(struct bp_node) == 944, "node");

/* One open call: an element of a thread's shadow stack. Addresses are those of the target. Some
 * fields mean different things, by who opened the call and how far it is:
 *
 *              free       opened by a stub             opened by a guest (bp_thread_open)
 *     ret      –          the return address           the guest's own; 0 when it opens
 *     rbx      –          the caller's rbx, which      0; 1: goes on after a pause, so that the
 *                         holds this entry's address   call is not counted; 2: reported
 *     child    next free  ticks in ended calls made from here; once SUSPENDED, the call's duration
 *     source   0          0, or the kind of the stub while the call's end is to be reported; the
 *                         bp_edge of a call that is counted only or timed for others
 *     sp       –          where the return address     a place on the stack that is popped before
 *                         was; low bits are flags      the call ends; low bits are flags
 *
 * A call that its stub jumped to may be given an entry while it runs (jump.h): `sp` is 0 then,
 * `ret` where the return address is, and `rbx` when it was last seen running.
 *
 * An unwinder finds `ret` and `rbx` by the stubs' CFI. A reader needs start, child, parent, node.
 */
struct bp_entry {
    uint64_t ret;
    uint64_t rbx;
    uint64_t start;
    uint64_t child;
    uint64_t parent; /* address of the entry that the call is nested in */
    uint64_t node;   /* address of a bp_node */
    uint64_t source;
    uint64_t sp;
};
_Static_assert(sizeof(struct bp_entry) == 64, "entry: one cache line");

/* `start` of a call that is counted only. What it took up to now is its caller's, but for `child`.
 */
#define BP_ENTRY_UNTIMED UINT64_MAX

/* A call of a context whose calls are counted only that is found to take so long: from then on they
 * are timed. */
#define BP_LONGEST_UNTIMED_S 16e-6

/* When an open call began, for who adds up the time until `end`, when what is open in it began. Of
 * a call that is counted only: so that its callees' time fits in, and nothing else. */
static inline uint64_t bp_entry_start(uint64_t start, uint64_t child, uint64_t end) {
    if (start != BP_ENTRY_UNTIMED)
        return start;
    return end > child ? end - child : 0;
}

/* Flags in `sp`. */
#define BP_ENTRY_CLOSED 0x1u /* returned on another thread, which counted it */
#define BP_ENTRY_SUSPENDED                                                                         \
    0x2u /* left, counted as aborted; its frame may yet come back and return */
#define BP_ENTRY_INHERITED 0x4u /* opened before fork by the parent, which counts it */

enum bp_thread_state {
    BP_THREAD_UNUSED = 0, /* not begun yet; or a thread of the parent, after fork */
    BP_THREAD_LIVE = 1,
    BP_THREAD_ENDED = 2,
};

struct bp_thread {
    /* The stub's line. */
    uint64_t free;    /* address of the first free entry */
    uint64_t current; /* address of the innermost open entry */
    uint64_t local;   /* address of memory private to the target */
    uint64_t last;    /* what leads from a stub to its last edge, in that memory too */
    /* The last call that its stub jumped to (interpose/ledger/jump.h): where its return address
     * is, that address, and its edge. 0: another call was opened since. */
    uint64_t jumped;
    uint64_t jumped_ret;
    uint64_t jumped_edge;
    uint64_t hot_reserved;
    struct bp_entry root;  /* the thread's own frame: node 0 */
    struct bp_entry alias; /* after fork: stands for the innermost call opened before it */
    uint32_t index;
    int32_t tid;
    uint32_t state;       /* enum bp_thread_state */
    uint32_t lives;       /* threads that used this segment, one after the other */
    uint64_t start;       /* of the present (or last) life */
    uint64_t end;         /* 0 while alive */
    uint64_t lifetime;    /* ticks of earlier lives */
    uint64_t cpu_ns;      /* CPU time of ended lives */
    uint64_t runqueue_ns; /* time runnable but not on a CPU, of ended lives */
    /* Wall split, see bp_tree. */
    uint64_t v;          /* part of the wall over ended busy stretches, units of tree.v */
    uint64_t v_since;    /* tree.v when the present busy stretch began */
    uint64_t idle;       /* ticks without any busy thread in the tree that this one ended */
    uint64_t wait_entry; /* address of the entry that waits; 0 while busy */
    uint32_t in_tree;    /* counted by the tree */
    uint32_t late;       /* its beginning was not seen */
    char name[16];
    /* Pauses (interpose/ledger/pause.h). What of bp_header.paused the thread has taken out of its
     * calls, with the part of a pause that it still counted; the same of bp_header.paused_v; and
     * its own part of that. */
    uint64_t paused_seen;
    uint64_t paused_seen_v;
    /* One of these stands before the innermost call, as `parent`, while the next call or return is
     * to take the slow way: the first is the thread's own, the second that of who stops. */
    struct bp_entry curtain[2];
    uint64_t paused_v;
    uint64_t reserved[7];
};
_Static_assert(sizeof(struct bp_thread) == 512, "thread");

/* A child that this process waited for. */
struct bp_reaped {
    int32_t pid;
    int32_t status; /* as from wait(2) */
    uint64_t ticks;
    uint64_t v;    /* tree.v when it was reaped, in case it died busy */
    uint32_t sent; /* the signal that killed it, if this process sent it; else 0 */
    uint32_t reserved;
};
_Static_assert(sizeof(struct bp_reaped) == 32, "reaped");

#endif
