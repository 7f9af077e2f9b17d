/* SPDX-License-Identifier: MIT
 *
 * What the files of the collector share.
 */
#ifndef BP_CUDA_INTERNAL_H
#define BP_CUDA_INTERNAL_H

#include "cuda/api.h"
#include "cuda/attribute.h"
#include "cuda/copy.h"
#include "cuda/cupti_abi.h"
#include "interpose/source.h"

#define BP_CUDA_NESTING 8
#define BP_CUDA_QUEUE 2048 /* calls: 64 kB a thread, 2 ms of nothing but the shortest calls */

struct bp_queued_call {
    struct bp_call_interval interval;
    uint32_t class;
    uint32_t own; /* ticks of ours before and after it */
};

/* A call that is open. */
struct bp_open_call {
    const struct bp_entry *entry;
    uint64_t begin; /* of our own part of it */
    uint64_t start;
    uint32_t node;
    uint32_t slot; /* sequence of its awaited work, 0 if it submits none */
    uint32_t pushed;
    uint32_t class;
    uint32_t content;         /* BP_CONTENT_* of an upload without device records */
    uint32_t asked;           /* as bp_slot.asked */
    struct bp_cuda_copy copy; /* if it is one */
    struct bp_sample *site;   /* where that is counted by its call path, or NULL */
};

/* A copy to the host whose content is there after the next synchronisation. */
struct bp_later {
    struct bp_cuda_copy copy;
    uint32_t slot;
    uint32_t transfer; /* without a slot: its index */
};
#define BP_CUDA_LATER 1024 /* as many as a stream takes at once */

/* Where copies without records of the device are counted. It is their thread's alone, and can be
 * written without the lock, unless the tables are full. */
struct bp_host_sums {
    struct bp_split *split; /* NULL: none */
    uint32_t transfer;      /* its index, or BP_TABLE_NONE */
    uint32_t unused;
};

/* Where a thread's copies of one kind are counted, known from the one before. */
struct bp_host_known {
    uint32_t node;
    uint8_t direction;
    uint8_t flags;
    uint8_t valid;
    uint8_t unused;
    struct bp_host_sums sums;
};
#define BP_HOST_KNOWN 64

/* Where a thread's copies of one kind are counted until their records come. */
struct bp_asked_known {
    uint32_t node;
    uint32_t direction;
    uint32_t asked; /* as bp_slot.asked */
};
#define BP_ASKED_KNOWN 64

/* A thread that has called CUDA. Written by the thread; `sequence` is odd while `open` changes. */
struct bp_cuda_thread {
    struct bp_cuda_thread *next;
    uint64_t sequence;
    uint32_t index; /* in BP_THREADS */
    uint32_t depth;
    struct bp_open_call open[BP_CUDA_NESTING];
    struct bp_later later[BP_CUDA_LATER];
    uint32_t later_count;
    uint32_t launch_node; /* of its last launch, for kernel wait without kernel records */
    uint32_t capturing;   /* streams that it records into graphs */
    uint32_t drained;     /* ticks it took to empty the queue, for the next call to count */
    uint32_t head;        /* written by the thread */
    uint32_t tail;        /* by whoever drains, with the lock */
    struct bp_host_known known[BP_HOST_KNOWN];
    struct bp_asked_known asked[BP_ASKED_KNOWN];
    struct bp_queued_call queue[BP_CUDA_QUEUE];
};

/* cupti.c */
#define BP_CUPTI_POINTER(name, arguments, needed) int(*name) arguments;
struct bp_cupti {
    BP_CUPTI_FUNCTIONS(BP_CUPTI_POINTER)
    void *handle;
    char path[256];
};
extern struct bp_cupti bp_cupti;
/* 0, or -1 if there is no usable libcupti. */
int bp_cupti_load(void);
/* The real dlopen without loading, for libraries that are there, and with it; a function of one. */
void *bp_cupti_loaded(const char *name);
void *bp_cupti_find(const char *name);
void *bp_cupti_symbol(void *handle, const char *name);

/* buffer.c: activity buffers. */
void bp_buffer_requested(uint8_t **buffer, size_t *size, size_t *records);
void bp_buffer_give(uint8_t *buffer, size_t size);

/* slot.c: work that was submitted and whose records are awaited. Any thread opens a slot; the rest
 * needs the lock. */
enum bp_captured { BP_NOT_CAPTURED, BP_CAPTURED_BY_THREAD, BP_CAPTURED_BY_ANOTHER };
enum bp_slot_state { BP_SLOT_FREE, BP_SLOT_OPEN, BP_SLOT_SEEN, BP_SLOT_DONE };
struct bp_slot {
    uint64_t start; /* of the call */
    uint32_t sequence;
    uint8_t state; /* enum bp_slot_state; SEEN: CUPTI knows of the call */
    uint8_t class;
    uint8_t content;   /* BP_CONTENT_* of the copy, once it was hashed */
    uint8_t returned;  /* 1; 2 once it is marked */
    uint32_t transfer; /* index + 1 when its record has come */
    uint16_t captured; /* enum bp_captured: perhaps it only went into a graph */
    uint16_t graph;    /* GRAPH: which, as far as 16 bits tell */
    uint64_t bytes;    /* of the record */
    uint64_t time;     /* it took; GRAPH: the last end of its records */
    uint32_t records;  /* GRAPH: that have come */
    uint32_t asked;    /* number of its item in BP_ASKED + 1; 0: none, or its record has come */
};
#define BP_SLOTS 65536
#define BP_SLOT_SEQUENCES (UINT32_C(1) << 28)
/* 0 without memory. `graph` is the handle of one that is launched. */
uint32_t bp_slot_open(uint64_t start, unsigned class, enum bp_captured captured, uint64_t graph);
struct bp_slot *bp_slot_get(uint32_t sequence); /* NULL if it was used again */
/* Start of the oldest call whose work is awaited, `limit` if there is none. Calls that are stuck
 * while later ones are done are given up after a while. */
uint64_t bp_slot_oldest(uint64_t limit);
/* Start of the oldest call that CUPTI has not spoken of; UINT64_MAX if there is none. */
uint64_t bp_slot_unknown(void);
/* Before a flush: calls that have returned by now are those that it should bring; and whether a
 * thread waits for the device. */
void bp_slot_mark(void);
/* Marked ones that are awaited: those that CUPTI never spoke of, and those whose work was not over.
 */
void bp_slot_count(uint64_t *unknown, uint64_t *running);
void bp_slot_done(struct bp_slot *slot, uint64_t end);
uint32_t bp_slot_last(void); /* number of the last one */
int bp_slot_awaited(void);   /* whether any is */

/* table.c: items of the profile found by their key, which is how they begin. */
struct bp_table {
    uint16_t kind; /* enum bp_chunk_kind */
    uint16_t key_size;
    uint32_t limit;
    uint32_t count;
    uint32_t slot_count;
    uint32_t *slots; /* index + 1 */
    void **items;
};
#define BP_TABLE_NONE UINT32_MAX
/* Index of the item with that key, a new one if need be; NONE if the table is full. */
uint32_t bp_table_get(struct bp_table *table, const void *key);
uint32_t bp_table_find(const struct bp_table *table, const void *key); /* NONE if there is none */

/* sums.c: tables of the profile, with the lock held. */
struct bp_sums {
    struct bp_table devices, transfers, kernels, splits, waits, asked;
    struct bp_collector *collector;
};
extern struct bp_sums bp_sums;
struct bp_work_record {
    uint64_t start, end; /* ticks */
    uint64_t bytes;
    uint32_t thread, node;
    uint32_t device;
    uint8_t direction, source, target;
    uint8_t flags; /* BP_TRANSFER_* */
    uint32_t half; /* of a copy between devices that goes through the host: 1 down, 2 up */
};
uint32_t bp_sums_transfer(const struct bp_work_record *work);
/* The second half of a copy, whose first half is counted in the transfer of that index. */
uint32_t bp_sums_second(const struct bp_work_record *work, uint32_t first);
uint32_t bp_sums_kernel(const struct bp_work_record *work, const char *name);
struct bp_transfer *bp_sums_transfer_at(uint32_t index);
/* A call that has ended (`ended` 1) or is still open (0), of a thread whose last launch was there.
 */
void bp_sums_call(const struct bp_queued_call *call, uint32_t launch_node, unsigned ended);
/* A copy without records of the device takes all of its call's time. */
struct bp_host_sums bp_sums_host(const struct bp_work_record *work);
void bp_sums_host_copy(const struct bp_host_sums *to, const struct bp_work_record *work, int blocks,
                       uint64_t own);
void bp_sums_own(uint32_t thread, uint32_t node, uint64_t own);
void bp_sums_charge(void *unused, const struct bp_charge *charge);
void bp_sums_busy(const struct bp_window *window);

/* asked.c: copies by what their calls tell, as long as they have no record. By the calling thread
 * when a call begins (0: it is not counted), and when it has succeeded. */
uint32_t bp_asked_get(struct bp_cuda_thread *own, const struct bp_open_call *call);
void bp_asked_count(uint32_t asked, uint64_t bytes);
/* With the lock held: a record has come. `slot` is NULL if it was used again. */
void bp_asked_meet(struct bp_slot *slot, const struct bp_work_record *work);

/* window.c: calls and works until they are attributed. The lock is held. */
int bp_cuda_window_init(void);
void bp_cuda_window_work(const struct bp_work_interval *work);
void bp_cuda_drain(struct bp_cuda_thread *thread);
/* Attribute what is complete; `flushed` is when the last flush began. With `all` everything. */
void bp_cuda_fold(uint64_t flushed, int all);

/* record.c: CUPTI's records. */
void bp_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                         size_t valid);
int bp_record_init(void);
/* Nothing more will come: what waits for its call has none. The lock is held. */
void bp_record_finish(void);

/* overhead.c: memory that came with records of a buffer. What is more than that is lost. */
#define BP_GARBAGE 64
struct bp_garbage {
    void *items[BP_GARBAGE];
    uint32_t count;
};
void bp_overhead_take(const void *record, struct bp_garbage *garbage);
void bp_overhead_free(struct bp_garbage *garbage);

/* managed.c: migrations of managed memory. CUPTI can be asked for them once the driver runs: when
 * managed memory was allocated (`wanted`: then it is said if they cannot be had), and some time
 * after the start. */
void bp_managed_start(int wanted);
int bp_managed_is_on(void);
/* A call that asks for migrations; who asked for that of the page at `address`. */
void bp_managed_prefetch(uint64_t address, uint64_t bytes, const struct bp_work_record *by);
void bp_managed_find(uint64_t address, struct bp_work_record *work);

/* tool.c: the program asks CUPTI for a kind of records; and is about to register callbacks. */
void bp_tool_enables(uint32_t kind);
void bp_tool_registers(void);

/* flush.c: our thread. */
int bp_flush_start(void);
void bp_flush_kick(void);
void bp_flush_brought(void);
int bp_flush_is_last(void);
void bp_flush_finish(void);

/* device.c */
void bp_device_describe(void);
int bp_device_count(void);
int bp_device_has_driver(void);
/* Before libcupti is opened: 0 if there is certainly no driver. */
int bp_device_may_exist(void);

/* content.c: what was copied before. */
#define BP_CONTENT_DUPLICATE 0x1u
#define BP_CONTENT_ROUND_TRIP 0x2u
unsigned bp_content_look(const struct bp_cuda_copy *copy);
void bp_content_apply(struct bp_slot *slot);
/* For a copy without a slot. */
void bp_content_count(struct bp_transfer *transfer, unsigned content, uint64_t bytes,
                      uint64_t time);

/* What comes to the host has its content after the next synchronisation of the thread: then it is
 * looked at. `slot` 0: the transfer is known already. */
void bp_content_later(struct bp_cuda_thread *own, const struct bp_cuda_copy *copy, uint32_t slot,
                      uint32_t transfer);
void bp_content_settle(struct bp_cuda_thread *own);

/* host.c: calls without device records. */
void bp_host_enter(struct bp_open_call *call);
void bp_host_leave(struct bp_cuda_thread *own, struct bp_open_call *call,
                   const struct bp_entry *entry, uint64_t now, const uint64_t *result);
/* For struct bp_source. */
void bp_host_copied(struct bp_thread *thread, struct bp_entry *entry, const struct bp_copy *copy,
                    uint64_t now, struct bp_copy_sums *to);

/* collector.c */
struct bp_cuda {
    struct bp_lock lock;
    uint32_t mode; /* enum bp_collector_mode */
    uint32_t hash;
    uint32_t active;    /* CUPTI runs, in process `pid` */
    uint32_t host_only; /* it does not: copies are timed by their calls */
    uint32_t capturing; /* streams that are recorded into graphs, by whichever threads */
    uint32_t taken;     /* CUPTI's callbacks are the program's */
    int32_t pid;
    struct bp_cuda_thread *threads;
    uint64_t started; /* ticks */
    uint64_t ticks_per_s;
};
extern struct bp_cuda bp_cuda;
/* What is wrong, the first time; more is counted elsewhere. */
void bp_cuda_reason(uint32_t state, uint32_t flags, const char *reason);
/* The process has a CUDA library. */
void bp_cuda_note_found(void);
/* Starts CUPTI, the first time: then 1. */
int bp_cuda_start_once(void);
/* Before a call, where nothing is held: until another thread has done so. */
void bp_cuda_await_start(void);
/* Records that nobody else has asked for need not be made any more; `kinds` has a bit of each. */
void bp_cuda_disable_but(uint64_t kinds);
/* Whether there is anything to tell of calls in this process. */
int bp_cuda_is_collecting(void);
/* Whether there will never be records of the device. */
int bp_cuda_is_host_only(void);

/* calls.c: for struct bp_source. */
void bp_cuda_enter(struct bp_thread *thread, struct bp_entry *entry, unsigned class,
                   const struct bp_registers *arguments);
void bp_cuda_leave(struct bp_thread *thread, struct bp_entry *entry, unsigned class, uint64_t now,
                   const uint64_t *result);

#endif
