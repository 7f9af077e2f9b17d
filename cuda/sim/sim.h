/* SPDX-License-Identifier: MIT
 *
 * The simulated device: what its core (libbattprofsim.so) offers to the simulated libcudart,
 * libcupti and libcuda. Everything here is of no CUDA generation; those libraries are built once
 * for each. Times are CLOCK_MONOTONIC nanoseconds. Functions that return int return a cudaError_t.
 *
 * The model is computed when work is submitted: the start and end of every copy and kernel are
 * known at once. What it does to memory is done later, in the order of submission, by a thread that
 * waits for it anyway. So there is no thread of ours in the target, unless it has host functions,
 * and calls that do not block in reality do not block here.
 */
#ifndef BP_CUDA_SIM_SIM_H
#define BP_CUDA_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BP_SIM_EXPORT __attribute__((visibility("default")))

/* In a cbid: a call of the driver, not of the runtime. */
#define BP_SIM_DRIVER_CALL 0x10000u

enum {
#define X(value, name, text) name = value,
#include "cuda/sim/errors.def"
#undef X
};

struct bp_sim_dim3 {
    unsigned x, y, z;
};

enum bp_sim_fault {
    BP_SIM_FAULT_NONE,
    BP_SIM_FAULT_NO_DRIVER,
    BP_SIM_FAULT_NO_PRIVILEGES,
    BP_SIM_FAULT_DROP_BUFFERS,
    BP_SIM_FAULT_STOLEN_CALLBACK,
    BP_SIM_FAULT_LATE_RECORDS,
    BP_SIM_FAULT_HANG_FLUSH,
    BP_SIM_FAULT_OUT_OF_MEMORY,
    BP_SIM_FAULT_NO_MIGRATIONS,
    BP_SIM_FAULT_SINGLE_DEVICE,
    BP_SIM_FAULT_LATE_CALLS,
    BP_SIM_FAULT_NO_TIMES,
};

/* Memory and copies carry the numbers of CUPTI, so nothing needs translating. */
enum bp_sim_memory {
    BP_SIM_PAGEABLE = 1,
    BP_SIM_PINNED = 2,
    BP_SIM_DEVICE = 3,
    BP_SIM_ARRAY = 4,
    BP_SIM_MANAGED = 5
};
enum bp_sim_copy_kind {
    BP_SIM_HTOD = 1,
    BP_SIM_DTOH = 2,
    BP_SIM_DTOD = 8,
    BP_SIM_HTOH = 9,
    BP_SIM_PTOP = 10,
};

enum bp_sim_record_kind {
    BP_SIM_RECORD_CALL,
    BP_SIM_RECORD_COPY,
    BP_SIM_RECORD_MIGRATION, /* of managed memory: nobody's call */
    BP_SIM_RECORD_SET,
    BP_SIM_RECORD_KERNEL,
    BP_SIM_RECORD_SYNC,
    BP_SIM_RECORD_MEMORY,
    BP_SIM_RECORD_OVERHEAD,
    BP_SIM_RECORD_FAULT, /* the host touched a page that is on a device, and waited */
};

/* CUPTI's numbers. */
enum bp_sim_overhead { BP_SIM_BUFFER_FLUSH = 1 << 16, BP_SIM_QUEUE_FULL = 6 << 16 };

struct bp_sim_record {
    enum bp_sim_record_kind kind;
    uint64_t start, end;
    uint32_t correlation, device, stream, tid;
    uint32_t
        runtime_correlation; /* of the runtime's call, where the driver's within it has its own */
    uint64_t bytes;          /* COPY, SET, MEMORY */
    uint64_t address;
    enum bp_sim_copy_kind copy;
    enum bp_sim_memory source, target; /* MEMORY, SET: target */
    uint32_t source_device, target_device;
    bool async;
    unsigned value;   /* SET: the byte; SYNC: its type; MEMORY: 1 allocation, 2 release;
                         MIGRATION: 1 asked for, 2 it was touched, 3 its neighbour was;
                         OVERHEAD: enum bp_sim_overhead */
    const char *name; /* KERNEL: lasts as long as the process; CALL */
    unsigned cbid, result;
    uint64_t node; /* of a graph that was launched, 0 for none */
    uint32_t graph;
    bool nested; /* CALL: of the driver, within one of the runtime */
    struct bp_sim_dim3 grid, block;
    size_t shared;
};

struct bp_sim_properties {
    const char *id, *name;
    int major, minor, multiprocessors;
    size_t memory;
    int memory_gbs;
    int h2d_mbs, d2h_mbs, pageable_h2d_mbs, pageable_d2h_mbs;
    int copy_latency_ns, copy_engines, launch_call_ns, launch_latency_ns, clock_khz;
    /* What a multiprocessor has, then the device. */
    int threads, blocks, shared_kib, shared_optin_kib;
    int l2_kib, memory_bits, memory_khz;
};

/* clock.c */
BP_SIM_EXPORT uint64_t bp_sim_now(void);
BP_SIM_EXPORT uint64_t bp_sim_realtime(uint64_t monotonic);
BP_SIM_EXPORT void bp_sim_wait_until(uint64_t time);
BP_SIM_EXPORT uint32_t bp_sim_tid(void);
BP_SIM_EXPORT void bp_sim_lock(int *lock);
BP_SIM_EXPORT void bp_sim_unlock(int *lock);

/* call.c: around every call of an API. */
struct bp_sim_call {
    const char *name;
    unsigned cbid, driver;
    uint32_t correlation;
    uint64_t start, driver_start;
};
/* driver: cbid of the driver's function that a call of the runtime goes through, 0 for none. */
BP_SIM_EXPORT void bp_sim_enter(struct bp_sim_call *call, const char *name, unsigned cbid,
                                unsigned driver);
BP_SIM_EXPORT int bp_sim_leave(const struct bp_sim_call *call, int error);
BP_SIM_EXPORT int bp_sim_last_error(bool clear);
struct bp_sim_error {
    int value;
    const char *name, *text;
};
BP_SIM_EXPORT const struct bp_sim_error *bp_sim_error(int value); /* NULL: there is none such */
/* The one who formats records; NULL for none. */
BP_SIM_EXPORT void bp_sim_set_sink(void (*sink)(const struct bp_sim_record *record));

/* device.c */
BP_SIM_EXPORT enum bp_sim_fault bp_sim_fault(void);
/* 0, or why no device can be used; the first success creates the context of the current device. */
BP_SIM_EXPORT int bp_sim_ready(void);
/* Whether that has happened, on any device. */
BP_SIM_EXPORT bool bp_sim_started(void);
BP_SIM_EXPORT int bp_sim_device_count(int *count);
BP_SIM_EXPORT int bp_sim_device(void);
BP_SIM_EXPORT int bp_sim_set_device(int device);
BP_SIM_EXPORT const struct bp_sim_properties *bp_sim_properties(int device);
BP_SIM_EXPORT int bp_sim_peer_enable(int device, int peer, bool on);
BP_SIM_EXPORT int bp_sim_device_synchronize(void);
/* A function of the simulated libcuda, as cuGetProcAddress finds it; NULL if there is none. */
BP_SIM_EXPORT void *bp_sim_driver_function(const char *name);
BP_SIM_EXPORT int bp_sim_memory_info(size_t *unused, size_t *total);

/* attribute.c: cudaDeviceAttr, the driver's numbers too; those not listed are 0. Blocks that run at
 * a time on a multiprocessor, and the shared memory that each of so many can have. */
BP_SIM_EXPORT int bp_sim_attribute(int *value, int which, int device);
BP_SIM_EXPORT int bp_sim_occupancy(int *blocks, int block, size_t shared);
BP_SIM_EXPORT int bp_sim_room_for(size_t *shared, int blocks, int block);

/* memory.c. Pools keep nothing back: what is freed is the device's again. */
struct bp_sim_pool {
    int device;
    bool made;         /* by the program */
    uint64_t used[2];  /* bytes now, and the most there were */
    uint64_t rules[4]; /* that the program may set: three about reuse, the release threshold */
};
BP_SIM_EXPORT struct bp_sim_pool *bp_sim_pool_default(int device);
struct bp_sim_region {
    uintptr_t start;
    size_t size;
    enum bp_sim_memory kind;
    int device;
    bool registered; /* not allocated here: by cudaHostRegister, or a managed variable */
    struct bp_sim_pool *pool;
    signed char *home; /* managed: the device that each page is on, -1 the host */
};
BP_SIM_EXPORT int bp_sim_allocate(void **memory, size_t size, enum bp_sim_memory kind);
BP_SIM_EXPORT int bp_sim_free(void *memory, bool host);
struct bp_sim_stream;
BP_SIM_EXPORT int bp_sim_allocate_async(void **memory, size_t size, struct bp_sim_pool *pool,
                                        struct bp_sim_stream *stream);
BP_SIM_EXPORT int bp_sim_free_async(void *memory, struct bp_sim_stream *stream);
BP_SIM_EXPORT int bp_sim_register(void *memory, size_t size);
BP_SIM_EXPORT int bp_sim_unregister(void *memory);
/* False, and a pageable region without size, for memory that CUDA does not know. */
BP_SIM_EXPORT bool bp_sim_find(const void *pointer, struct bp_sim_region *region);

/* managed.c: moves pages to a device, -1 for the host, in the order of the stream. */
BP_SIM_EXPORT int bp_sim_prefetch(const void *memory, size_t size, int device,
                                  struct bp_sim_stream *stream);
/* What the calling thread waits for when it touches that memory: pages that are on a device come to
 * the host. The simulated device does not see accesses, so a program that wants them modelled says
 * so. */
BP_SIM_EXPORT void bp_sim_touch(const void *memory, size_t size);

/* stream.c */
struct bp_sim_event;
#define BP_SIM_LEGACY ((struct bp_sim_stream *)1)
#define BP_SIM_PER_THREAD ((struct bp_sim_stream *)2)
BP_SIM_EXPORT int bp_sim_stream_new(struct bp_sim_stream **stream, bool nonblocking, int priority);
BP_SIM_EXPORT int bp_sim_stream_free(struct bp_sim_stream *stream);
BP_SIM_EXPORT int bp_sim_stream_synchronize(struct bp_sim_stream *stream);
BP_SIM_EXPORT int bp_sim_stream_query(struct bp_sim_stream *stream);
/* external: in a stream that captures, a node that waits for, or records, the event when the graph
 * is launched. */
BP_SIM_EXPORT int bp_sim_stream_wait(struct bp_sim_stream *stream, struct bp_sim_event *event,
                                     bool external);
struct bp_sim_stream_about {
    unsigned flags;
    int priority, device;
    uint64_t id;
};
BP_SIM_EXPORT int bp_sim_stream_about(struct bp_sim_stream *stream,
                                      struct bp_sim_stream_about *about);
BP_SIM_EXPORT int bp_sim_event_new(struct bp_sim_event **event, bool timing);
BP_SIM_EXPORT int bp_sim_event_free(struct bp_sim_event *event);
BP_SIM_EXPORT int bp_sim_event_record(struct bp_sim_event *event, struct bp_sim_stream *stream,
                                      bool external);
BP_SIM_EXPORT int bp_sim_event_synchronize(struct bp_sim_event *event);
BP_SIM_EXPORT int bp_sim_event_query(struct bp_sim_event *event);
BP_SIM_EXPORT int bp_sim_event_elapsed(float *ms, struct bp_sim_event *from,
                                       struct bp_sim_event *to);

/* copy.c. Rows of width bytes, height rows, depth slices. */
struct bp_sim_copy {
    char *target;
    const char *source;
    size_t target_pitch, source_pitch, target_slice, source_slice;
    size_t width, height, depth;
    int direction;                    /* cudaMemcpyKind */
    int target_device, source_device; /* -1: found by the address */
    bool async;
    bool any; /* the memory is CUDA's by construction, as a symbol's: look at no direction */
};
struct bp_sim_set {
    char *target;
    size_t pitch, width, height;
    unsigned value;
    bool async;
    unsigned element; /* bytes of the value: 2, 4, else 1 */
};
/* A copy of one row. */
static inline struct bp_sim_copy bp_sim_row(void *target, const void *source, size_t size,
                                            int direction, bool async) {
    return (struct bp_sim_copy){.target = target,
                                .source = source,
                                .width = size,
                                .height = 1,
                                .depth = 1,
                                .direction = direction,
                                .async = async};
}
BP_SIM_EXPORT int bp_sim_copy(const struct bp_sim_copy *copy, struct bp_sim_stream *stream);
BP_SIM_EXPORT int bp_sim_set(const struct bp_sim_set *set, struct bp_sim_stream *stream);

/* kernel.c */
typedef void (*bp_sim_run)(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args);
/* The CPU function of a kernel, known by its (mangled) name or the address of its host stub; either
 * may be NULL. sizes: bytes of each argument, ended by 0; without it (NULL) the kernel runs within
 * the launch. Its modelled time is fixed_ns plus per_thread_ps for each thread of the grid. */
BP_SIM_EXPORT int bp_sim_register_kernel(const char *name, const void *stub, bp_sim_run run,
                                         const size_t *sizes, uint64_t fixed_ns,
                                         uint64_t per_thread_ps);
BP_SIM_EXPORT int bp_sim_add_function(const void *stub, const char *name);
BP_SIM_EXPORT const char *bp_sim_function_name(const void *stub);
struct bp_sim_launch {
    const void *stub;
    struct bp_sim_dim3 grid, block;
    size_t shared;
    void **args;
};
BP_SIM_EXPORT int bp_sim_launch(const struct bp_sim_launch *launch, struct bp_sim_stream *stream);
/* Cooperative: all blocks run at a time, or it fails. */
BP_SIM_EXPORT int bp_sim_launch_together(const struct bp_sim_launch *launch,
                                         struct bp_sim_stream *stream);
/* Bytes of shared memory that a launch may have for each block. */
BP_SIM_EXPORT size_t bp_sim_shared(const void *stub);
BP_SIM_EXPORT int bp_sim_set_shared(const void *stub, int bytes);
BP_SIM_EXPORT int bp_sim_host_function(void (*function)(void *), void *data,
                                       struct bp_sim_stream *stream);

/* symbol.c: __device__ variables, known by the address of their host shadow or their name. */
BP_SIM_EXPORT int bp_sim_add_symbol(const void *shadow, const char *name, size_t size);
BP_SIM_EXPORT int bp_sim_add_managed(void **shadow, const char *name, size_t size);
BP_SIM_EXPORT int bp_sim_symbol_at(const void *shadow, void **memory, size_t *size);
/* For CPU functions of kernels that use a variable. */
BP_SIM_EXPORT void *bp_sim_symbol(const char *name);

/* graph*.c, capture.c. The numbers of the types are CUDA's. */
enum bp_sim_node_type {
    BP_SIM_NODE_KERNEL,
    BP_SIM_NODE_COPY,
    BP_SIM_NODE_SET,
    BP_SIM_NODE_HOST,
    BP_SIM_NODE_GRAPH,
    BP_SIM_NODE_EMPTY,
    BP_SIM_NODE_WAIT,
    BP_SIM_NODE_RECORD,
    BP_SIM_NODE_ALLOCATION = 10,
    BP_SIM_NODE_RELEASE,
};
struct bp_sim_graph;
struct bp_sim_node;
struct bp_sim_work;
struct bp_sim_nodes {
    struct bp_sim_node **items;
    size_t count;
};
struct bp_sim_content {
    enum bp_sim_node_type type;
    struct bp_sim_work *work;   /* KERNEL, COPY, SET, HOST */
    struct bp_sim_graph *child; /* GRAPH */
    struct bp_sim_event *event; /* WAIT, RECORD */
    void *memory;               /* ALLOCATION, RELEASE */
    size_t bytes;
};
BP_SIM_EXPORT int bp_sim_capture_begin(struct bp_sim_stream *stream);
/* Into a graph that exists; the first node waits for some of its nodes. */
BP_SIM_EXPORT int bp_sim_capture_into(struct bp_sim_stream *stream, struct bp_sim_graph *graph,
                                      const struct bp_sim_nodes *after);
BP_SIM_EXPORT int bp_sim_capture_end(struct bp_sim_stream *stream, struct bp_sim_graph **graph);
BP_SIM_EXPORT int bp_sim_capturing(struct bp_sim_stream *stream, int *status);
/* What a capturing stream's next node waits for, valid until then; id 0 if it does not capture. */
BP_SIM_EXPORT int bp_sim_capture_info(struct bp_sim_stream *stream, uint64_t *id,
                                      struct bp_sim_graph **graph, struct bp_sim_nodes *tail);
BP_SIM_EXPORT int bp_sim_capture_follow(struct bp_sim_stream *stream,
                                        const struct bp_sim_nodes *after, bool replace);
BP_SIM_EXPORT int bp_sim_graph_new(struct bp_sim_graph **graph);
BP_SIM_EXPORT int bp_sim_graph_clone(struct bp_sim_graph **copy, const struct bp_sim_graph *graph);
BP_SIM_EXPORT int bp_sim_graph_launch(struct bp_sim_graph *graph, struct bp_sim_stream *stream);
BP_SIM_EXPORT int bp_sim_graph_free(struct bp_sim_graph *graph);
/* Adds what is no work of the device's own; a child graph is copied. */
BP_SIM_EXPORT int bp_sim_graph_add_node(struct bp_sim_graph *graph,
                                        const struct bp_sim_content *content,
                                        const struct bp_sim_nodes *after,
                                        struct bp_sim_node **added);
/* Between these a copy, launch or fill of this thread becomes a node, or what an existing node does
 * (again: the node), instead of being done. */
BP_SIM_EXPORT int bp_sim_record_begin(struct bp_sim_graph *graph, const struct bp_sim_nodes *after);
BP_SIM_EXPORT int bp_sim_record_again(struct bp_sim_node *node);
BP_SIM_EXPORT int bp_sim_record_end(struct bp_sim_node **added, int error);

/* graph_edit.c: as cudaGraphGetNodes has it, count is the room and becomes the number; without
 * nodes, the number of all. */
BP_SIM_EXPORT int bp_sim_graph_nodes(const struct bp_sim_graph *graph, struct bp_sim_node **nodes,
                                     size_t *count, bool roots);
BP_SIM_EXPORT int bp_sim_graph_edges(const struct bp_sim_graph *graph, struct bp_sim_node **from,
                                     struct bp_sim_node **to, size_t *count);
BP_SIM_EXPORT int bp_sim_node_neighbours(const struct bp_sim_node *node, struct bp_sim_node **nodes,
                                         size_t *count, bool before);
BP_SIM_EXPORT int bp_sim_graph_depend(struct bp_sim_graph *graph, struct bp_sim_node *const *from,
                                      struct bp_sim_node *const *to, size_t count, bool on);
BP_SIM_EXPORT int bp_sim_node_free(struct bp_sim_node *node);
/* The copy of a node within a clone or an executable graph; NULL if there is none. */
BP_SIM_EXPORT struct bp_sim_node *bp_sim_graph_find(const struct bp_sim_graph *graph,
                                                    const struct bp_sim_node *node);
BP_SIM_EXPORT struct bp_sim_content *bp_sim_node_content(struct bp_sim_node *node);
BP_SIM_EXPORT bool *bp_sim_node_disabled(struct bp_sim_node *node);
/* Puts another child into a node; the same shape, or it fails. */
BP_SIM_EXPORT int bp_sim_node_set_child(struct bp_sim_node *node, const struct bp_sim_graph *child);
/* Puts the nodes of a graph of the same shape into an executable one; otherwise result is CUDA's
 * number of the reason, and the node. */
BP_SIM_EXPORT int bp_sim_graph_update(struct bp_sim_graph *executable,
                                      const struct bp_sim_graph *graph, int *result,
                                      struct bp_sim_node **culprit);
/* What work of a node is; NULL if it is none such. */
BP_SIM_EXPORT const struct bp_sim_launch *bp_sim_content_launch(const struct bp_sim_content *of);
BP_SIM_EXPORT const struct bp_sim_copy *bp_sim_content_copy(const struct bp_sim_content *of);
BP_SIM_EXPORT const struct bp_sim_set *bp_sim_content_set(const struct bp_sim_content *of);
BP_SIM_EXPORT bool bp_sim_content_host(const struct bp_sim_content *of, void (**function)(void *),
                                       void **data);

#endif
