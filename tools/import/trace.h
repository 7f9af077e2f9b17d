/* SPDX-License-Identifier: MIT
 *
 * A trace of another tool on its way to a profile: every call and every piece of device work by
 * itself. Readers of foreign files (import_*.c) fill it; bp_trace_write turns it into what a target
 * would have recorded: calling contexts with sums. Times are nanoseconds on any one clock.
 */
#ifndef BP_TOOLS_IMPORT_TRACE_H
#define BP_TOOLS_IMPORT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/attribute.h"
#include "profile/format.h"
#include "tools/base/error.h"
#include "tools/base/keys.h"
#include "tools/base/text.h"

/* A function; texts are copied when it is added. */
struct bp_trace_function {
    char *name;
    char *library; /* "" if none */
    char *file;    /* of a Python function, else "" */
    char *module;
    uint32_t line;
    uint16_t kind;  /* enum bp_func_kind */
    uint16_t flags; /* BP_FUNC_CUDA */
};

struct bp_trace_frame {
    uint64_t start;
    uint64_t end;
    uint64_t correlation; /* names the device work that it issued; 0 if none */
    uint32_t thread;
    uint32_t func;
    uint32_t node;  /* of its thread; set by bp_trace_place_frames */
    uint32_t layer; /* of those with equal times the lower one is the outer one; set when added */
};

struct bp_trace_work {
    uint64_t start;
    uint64_t end;
    uint64_t bytes;
    uint64_t correlation;
    uint32_t process; /* correlations are those of one process */
    uint32_t device;
    uint32_t name; /* of a kernel: number in `names` */
    bool kernel;
    uint8_t direction; /* of what is no kernel: enum bp_direction */
    uint8_t source;    /* enum bp_memory */
    uint8_t target;
    bool fault;  /* pages that the host touched */
    bool second; /* the second record of one copy: only its time counts */
};

struct bp_trace_thread {
    int32_t process;
    int32_t tid;
    char name[16];
    bool main;
    uint64_t start;
    uint64_t end;
    struct bp_node *nodes; /* set by bp_trace_place_frames */
    uint32_t node_count;
};

struct bp_trace_device {
    uint32_t index;
    char *name;
    uint64_t memory;
};

/* What the works come to: set by bp_trace_attribute. */
struct bp_trace_sums {
    struct bp_transfer *transfers;
    struct bp_kernel *kernels; /* `name` is a number in `names` */
    struct bp_split *splits;
    struct bp_wait *waits;
    uint32_t transfer_count;
    uint32_t kernel_count;
    uint32_t split_count;
    uint32_t wait_count;
    uint64_t unmatched; /* works whose call is not in the trace */
    struct bp_busy busy[BP_ATTRIBUTE_DEVICES];
};

struct bp_trace {
    struct bp_trace_function *funcs; /* 0 is the root, 1 the folded one, as in a profile */
    struct bp_trace_frame *frames;
    struct bp_trace_work *works;
    struct bp_trace_thread *threads;
    struct bp_trace_device *devices;
    char **names;
    uint32_t func_count;
    uint32_t frame_count;
    uint32_t work_count;
    uint32_t thread_count;
    uint32_t device_count;
    uint32_t name_count;
    struct bp_keys function_table;
    struct bp_keys thread_table;
    struct bp_keys name_table;
    uint64_t start; /* of all that is in it */
    uint64_t end;
    uint64_t realtime; /* of `start`, 0 if unknown */
    int32_t pid;
    char command[1024];
    char executable[512];
    struct bp_text missing; /* what was left out, for the user; "" if nothing */
    struct bp_trace_sums sums;
};

void bp_trace_init(struct bp_trace *trace);
void bp_trace_fini(struct bp_trace *trace);

/* Numbers; adding the same again gives the same. */
uint32_t bp_trace_function(struct bp_trace *trace, const struct bp_trace_function *func);
uint32_t bp_trace_thread(struct bp_trace *trace, int64_t process, int64_t tid);
uint32_t bp_trace_name(struct bp_trace *trace, const char *name);
struct bp_trace_device *bp_trace_device(struct bp_trace *trace, uint32_t index);

/* A CUDA call by its name: "cudaMemcpy_v3020" is cudaMemcpy of libcudart. */
uint32_t bp_trace_cuda_function(struct bp_trace *trace, const char *name);

void bp_trace_frame(struct bp_trace *trace, const struct bp_trace_frame *frame);
void bp_trace_work(struct bp_trace *trace, const struct bp_trace_work *work);

/* Another thing that is left out, as one more part of `missing`. */
void bp_trace_miss(struct bp_trace *trace, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* So many of something, unless there are none. */
void bp_trace_miss_count(struct bp_trace *trace, uint64_t count, const char *what);

/* The steps of bp_trace_write: trace_context.c and trace_device.c. */
void bp_trace_place_frames(struct bp_trace *trace);
void bp_trace_attribute(struct bp_trace *trace);

/* Write the profile; `source` is the imported file. 0, or -1 with the error set. */
int bp_trace_write(struct bp_trace *trace, const char *source, const char *path,
                   struct bp_error *error);

#endif
