/* SPDX-License-Identifier: MIT
 *
 * Whose time was it? Pure arithmetic over intervals, used inside the target by the collector and by
 * `battprof import`. With A = the CUDA calls of a thread, X = host<->device copies on the devices,
 * K = kernels, every instant of A is one of
 *
 *     transfer   A and X             charged to one of the copies that run
 *     wait       A and K, not X      charged to one of the kernels that run, so to its launcher
 *     overhead   A, neither X nor K  launch, allocation, context creation, JIT
 *
 * and an instant of X in which no thread is in A is hidden. Of several copies (or kernels) that run
 * at an instant the charged one is the call's own (same thread and node), else one that the same
 * thread issued, else any; among equals the one that began first. So charges never overlap: per
 * thread they sum to |A|, and transfer, wait and overhead are the formulae of the design.
 *
 * CUDA calls may nest (runtime over driver): the innermost one has the time. Any unit of time, one
 * clock for all. No libc call, no allocation, no lock: the caller brings memory and exclusion.
 */
#ifndef BP_CUDA_ATTRIBUTE_H
#define BP_CUDA_ATTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

/* A CUDA call of a host thread. */
struct bp_call_interval {
    uint64_t start;
    uint64_t end;
    uint32_t thread;
    uint32_t node;
    uint32_t mark; /* the caller's: returned in charges */
    uint32_t unused;
};

enum bp_work_kind {
    BP_WORK_COPY,   /* X: between host and device, managed migrations too */
    BP_WORK_KERNEL, /* K */
    BP_WORK_OTHER   /* within and between devices, memset: keeps the device busy, no more */
};

/* Something that a device did. */
struct bp_work_interval {
    uint64_t start;
    uint64_t end;
    uint32_t thread; /* of the call that issued it; UINT32_MAX if unknown */
    uint32_t node;
    uint32_t owner;  /* the caller's: returned in charges; index of a bp_transfer or bp_kernel */
    uint16_t device; /* BP_ATTRIBUTE_DEVICES and more count as the last one */
    uint16_t kind;   /* enum bp_work_kind */
};

enum bp_charge_kind {
    BP_CHARGE_TRANSFER, /* to call and owner (a copy) */
    BP_CHARGE_WAIT,     /* to call and owner (a kernel) */
    BP_CHARGE_OVERHEAD, /* to call */
    BP_CHARGE_HIDDEN    /* to owner (a copy) */
};

/* `time` of a call's (thread, node) goes to `kind`. A call gets as many charges as its time has
 * pieces; a caller adds them up. */
struct bp_charge {
    enum bp_charge_kind kind;
    uint32_t thread;
    uint32_t node;
    uint32_t owner;
    uint64_t time;
    uint64_t began; /* the call; 0 for BP_CHARGE_HIDDEN, as is its mark */
    uint32_t mark;
    uint32_t unused;
};

typedef void bp_charge_fn(void *data, const struct bp_charge *charge);

#define BP_ATTRIBUTE_DEVICES 32

/* Time in which a device did anything, copied, or computed. */
struct bp_busy {
    uint64_t any;
    uint64_t copy;
    uint64_t compute;
};

struct bp_sweep_event;

/* Calls and device work of which not everything is known yet. Records may come late and in any
 * order; bp_window_fold charges everything before a horizon and forgets it. */
struct bp_window {
    struct bp_call_interval *calls;
    struct bp_work_interval *works;
    struct bp_sweep_event *events;
    uint32_t *active;
    uint32_t call_capacity;
    uint32_t call_count;
    uint32_t work_capacity;
    uint32_t work_count;
    uint64_t horizon;    /* everything before it is charged */
    uint64_t late_works; /* records that came, at least in part, after their time was folded */
    uint64_t late_time;  /* of these; it was charged without them */
    struct bp_busy busy[BP_ATTRIBUTE_DEVICES]; /* up to the horizon, in sum */
};

/* Bytes of memory for a window that holds that many: about 100 per call and 108 per work. */
size_t bp_window_size(uint32_t calls, uint32_t works);

/* `memory` is of bp_window_size bytes, aligned to 8, and must stay. */
void bp_window_init(struct bp_window *window, void *memory, uint32_t calls, uint32_t works);

/* Add a call or a piece of device work; what is before the horizon is cut off. 0, or -1 if there is
 * no room: fold first. A call that is still open may be added up to the next horizon and again when
 * it has ended: the part that was folded is not counted twice. Of calls that begin together the one
 * that ends first is the inner one; of equal ones the one that was added first. */
int bp_window_call(struct bp_window *window, const struct bp_call_interval *call);
int bp_window_work(struct bp_window *window, const struct bp_work_interval *work);

/* Charge all time before `horizon`. To be exact nothing that began before it may be missing: calls
 * that are open (see above), and device work that was issued but whose record is yet to come, so a
 * horizon is at most the start of the oldest call whose record is awaited. A horizon further on,
 * when there is no room, loses no time: calls get overhead for what they waited for, and records
 * that come later count as late. */
void bp_window_fold(struct bp_window *window, uint64_t horizon, bp_charge_fn *charge, void *data);

/* Attributes arrays that are complete: memory as for a window of that many. Either may be NULL
 * if it is empty. `busy` may be NULL, or has BP_ATTRIBUTE_DEVICES elements, which are added to. */
void bp_attribute(const struct bp_call_interval *calls, uint32_t call_count,
                  const struct bp_work_interval *works, uint32_t work_count, void *memory,
                  struct bp_busy *busy, bp_charge_fn *charge, void *data);

#endif
