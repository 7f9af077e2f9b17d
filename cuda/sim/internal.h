/* SPDX-License-Identifier: MIT
 *
 * What the files of the core share. One lock, bp_sim_model.lock, guards all of it; it is never held
 * while waiting, nor while a kernel's CPU function runs.
 */
#ifndef BP_CUDA_SIM_INTERNAL_H
#define BP_CUDA_SIM_INTERNAL_H

#include "cuda/sim/sim.h"

#define BP_SIM_DEVICES 8
#define BP_SIM_SPANS 64

/* An engine does one thing at a time. Work goes into the first gap where it fits, since a queue
 * that waits for another stream does not hold up the others. */
struct bp_sim_engine {
    struct {
        uint64_t start, end;
    } span[BP_SIM_SPANS];
    unsigned count;
};
uint64_t bp_sim_engine_place(struct bp_sim_engine *engine, uint64_t ready, uint64_t duration);

/* Kernels of different streams run beside each other as long as the multiprocessors last: each
 * takes as many lanes of the compute engine as it has work for. */
#define BP_SIM_LANES 8
uint64_t bp_sim_lanes_place(struct bp_sim_engine *lanes, unsigned needed, uint64_t ready,
                            uint64_t duration);

struct bp_sim_capture;

struct bp_sim_stream {
    uint32_t magic, id;
    int device, priority;
    bool nonblocking;
    uint64_t end;      /* of all that was submitted to it */
    uint64_t sequence; /* of the last of it */
    struct bp_sim_capture *capture;
    struct bp_sim_nodes tail; /* what the next captured node waits for */
    struct bp_sim_stream *next_captured;
};

struct bp_sim_device {
    const struct bp_sim_properties *properties;
    struct bp_sim_stream legacy;
    struct bp_sim_engine upload, download, compute[BP_SIM_LANES];
    uint64_t end;          /* of all work */
    uint64_t blocking_end; /* of the streams that the legacy stream waits for */
    size_t used;
    unsigned peers; /* bit of each device whose memory this one may use */
    bool started;
};

struct bp_sim_model {
    int lock;
    int devices;
    struct bp_sim_device device[BP_SIM_DEVICES];
    uint64_t sequence;
};
extern struct bp_sim_model bp_sim_model;

enum bp_sim_work_kind {
    BP_SIM_WORK_COPY,
    BP_SIM_WORK_SET,
    BP_SIM_WORK_KERNEL,
    BP_SIM_WORK_HOST,
    BP_SIM_WORK_RELEASE, /* a function of ours */
};

/* One piece of work: waiting to be done, or a node of a graph. */
struct bp_sim_work {
    struct bp_sim_work *next;
    enum bp_sim_work_kind kind;
    uint64_t sequence, end;
    uint64_t node; /* of a graph: its id, else 0 */
    uint32_t graph;
    size_t size; /* of this allocation, with the arguments of a kernel or a staged copy behind it */
    union {
        struct bp_sim_copy copy;
        struct bp_sim_set set;
        struct {
            struct bp_sim_launch launch;
            bp_sim_run run;
        } kernel;
        struct {
            void (*function)(void *);
            void *data;
            bool runs;
        } host;
    };
    void *pointers[]; /* arguments of a kernel */
};

/* graph.c */
struct bp_sim_node {
    struct bp_sim_graph *graph;
    struct bp_sim_content content;
    struct bp_sim_nodes after;
    struct bp_sim_node *copy; /* while the graph is copied */
    uint64_t id, origin;      /* its number, and that of the node that it is a copy of */
    uint32_t stream;          /* that CUPTI names, 0 for the launching one */
    bool continued;           /* another node has its stream */
    bool disabled;
    uint64_t end, sequence; /* of the last launch */
};
struct bp_sim_graph {
    struct bp_sim_nodes nodes;
    uint32_t id;
};
int bp_sim_nodes_add(struct bp_sim_nodes *set, struct bp_sim_node *node);
int bp_sim_nodes_join(struct bp_sim_nodes *set, const struct bp_sim_nodes *more);
void bp_sim_nodes_clear(struct bp_sim_nodes *set);
/* Steals the work and the child. */
int bp_sim_graph_add(struct bp_sim_graph *graph, const struct bp_sim_content *content,
                     const struct bp_sim_nodes *after, struct bp_sim_node **added);
struct bp_sim_content bp_sim_content_of(struct bp_sim_work *work);
void bp_sim_content_free(struct bp_sim_content *content);
/* A copy whose nodes are in an order in which they can be submitted; without streams and ids. */
int bp_sim_graph_copy(struct bp_sim_graph **copy, const struct bp_sim_graph *graph);

/* graph_launch.c: CUPTI's numbers for a graph and its children. */
void bp_sim_graph_number(struct bp_sim_graph *graph);

/* capture.c. An event that was recorded while its stream captured. The lock is held, but for
 * captured, which takes the work if the stream is capturing or the thread adds a node. */
struct bp_sim_mark {
    uint64_t capture; /* its id, 0 for none */
    struct bp_sim_nodes nodes;
};
int bp_sim_capture_record(const struct bp_sim_stream *stream, struct bp_sim_mark *to);
int bp_sim_capture_wait(struct bp_sim_stream *stream, const struct bp_sim_mark *event);
/* What cannot be captured: 0 for a stream that does not capture, else the error. No lock is held.
 */
int bp_sim_capture_refuse(struct bp_sim_stream *stream);
void bp_sim_capture_leave(struct bp_sim_stream *stream);
bool bp_sim_captured(struct bp_sim_stream *handle, struct bp_sim_work *work, int *error);
/* bp_sim_captured() for what is not the device's own work. */
bool bp_sim_captured_as(struct bp_sim_stream *handle, const struct bp_sim_content *content,
                        int *error);

/* memory.c: a managed variable, which is never freed. No context is made for it. */
int bp_sim_adopt_managed(void *memory, size_t size);

/* managed.c: where the pages of a region are, all on the host; NULL without memory. */
signed char *bp_sim_managed_new(size_t size);
/* Managed memory comes to the stream's device before what is placed next, which uses it. The lock
 * is held. */
void bp_sim_managed_use(struct bp_sim_stream *stream, const void *pointer);

/* queue.c. add steals the work, whose time is the stream's end; the lock is held. */
void bp_sim_queue_add(struct bp_sim_work *work, struct bp_sim_stream *stream);
/* Blocks while the queue is full. No lock is held, here and below. */
void bp_sim_queue_throttle(void);
/* Does the work that was submitted up to and with this one and ends by then. Something is left, a
 * host function whose time has not come or that another thread runs, if it returns when to try
 * again; finish waits for that. */
uint64_t bp_sim_queue_run(uint64_t sequence, uint64_t end);
void bp_sim_queue_finish(uint64_t sequence, uint64_t end);
/* There is a host function that somebody has to wait for. */
void bp_sim_queue_watch(void);
struct bp_sim_work *bp_sim_work_new(enum bp_sim_work_kind kind, size_t extra);
struct bp_sim_work *bp_sim_work_clone(const struct bp_sim_work *work);

/* stream.c: real streams for handles; the lock is held. NULL for a handle that is none. */
struct bp_sim_stream *bp_sim_stream_get(struct bp_sim_stream *handle);
/* Room in the model for work of this length: its start. The lock is held. */
uint64_t bp_sim_place(struct bp_sim_stream *stream, struct bp_sim_engine *engine, uint64_t latency,
                      uint64_t duration);
uint64_t bp_sim_place_on_lanes(struct bp_sim_stream *stream, unsigned lanes, uint64_t latency,
                               uint64_t duration);
/* The last submission of a stream, with its end; waits and does the work. No lock is held. */
void bp_sim_finish(uint64_t end, uint64_t sequence);
/* A synchronisation that is part of another call, and no record of its own. */
int bp_sim_stream_settle(struct bp_sim_stream *handle);
/* A number for one more stream; a stream for one branch of a graph that is launched, and the
 * launching one's wait for it. No lock is held. */
uint32_t bp_sim_stream_number(void);
void bp_sim_stream_fork(const struct bp_sim_stream *stream, struct bp_sim_stream *branch);
void bp_sim_stream_join(struct bp_sim_stream *stream, uint64_t end, uint64_t sequence);

/* An event of a graph: recorded at that time, or what a branch waits for. No lock is held. */
void bp_sim_event_mark(struct bp_sim_event *event, const struct bp_sim_stream *branch);
void bp_sim_event_await(const struct bp_sim_event *event, struct bp_sim_stream *branch);

/* device.c: whether the driver's call within one of the runtime has an id of its own. */
bool bp_sim_has_own_ids(void);

/* call.c */
uint64_t bp_sim_call_start(void);
void bp_sim_emit(struct bp_sim_record *record);

/* Submits work that is described; also from a graph. */
int bp_sim_copy_submit(struct bp_sim_work *work, struct bp_sim_stream *handle);
int bp_sim_set_submit(struct bp_sim_work *work, struct bp_sim_stream *handle);
int bp_sim_kernel_submit(struct bp_sim_work *work, struct bp_sim_stream *handle);
int bp_sim_host_submit(struct bp_sim_work *work, struct bp_sim_stream *handle);

/* truth.c */
void bp_sim_truth_write(const struct bp_sim_record *record);

/* clock.c: a system call that no profiler sees, as the driver's own. */
long bp_sim_syscall(long number, long a, long b, long c, long d);

#endif
