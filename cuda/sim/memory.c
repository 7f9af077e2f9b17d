/* SPDX-License-Identifier: MIT
 *
 * Memory that CUDA knows: a list sorted by address. Device memory is ordinary memory that nobody
 * counts as the device's own; pinned memory is not really pinned.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda/sim/internal.h"

#define PAGE 4096
#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23 /* Linux 5.14; older ones refuse it and nothing is lost */
#endif

static struct {
    int lock;
    struct bp_sim_region *region;
    size_t count, room;
} state;

/* The first region that ends above the address. */
static size_t position(uintptr_t address) {
    size_t low = 0, high = state.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (state.region[middle].start + state.region[middle].size > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int add(const struct bp_sim_region *region) {
    if (state.count == state.room) {
        size_t room = state.room ? 2 * state.room : 64;
        struct bp_sim_region *more = realloc(state.region, room * sizeof *more);
        if (!more)
            return cudaErrorMemoryAllocation;
        state.region = more;
        state.room = room;
    }
    size_t at = position(region->start);
    if (at < state.count && state.region[at].start < region->start + region->size)
        return cudaErrorHostMemoryAlreadyRegistered;
    memmove(&state.region[at + 1], &state.region[at], (state.count - at) * sizeof *region);
    state.region[at] = *region;
    state.count++;
    return 0;
}

static int add_locked(const struct bp_sim_region *region) {
    bp_sim_lock(&state.lock);
    int error = add(region);
    bp_sim_unlock(&state.lock);
    return error;
}

bool bp_sim_find(const void *pointer, struct bp_sim_region *region) {
    uintptr_t address = (uintptr_t)pointer;
    *region = (struct bp_sim_region){.kind = BP_SIM_PAGEABLE, .device = -1};
    bp_sim_lock(&state.lock);
    size_t at = position(address);
    bool found = at < state.count && state.region[at].start <= address;
    if (found)
        *region = state.region[at];
    bp_sim_unlock(&state.lock);
    return found;
}

static void tell(const struct bp_sim_region *region, unsigned operation) {
    struct bp_sim_record record = {
        .kind = BP_SIM_RECORD_MEMORY,
        .start = bp_sim_now(),
        .device = (uint32_t)region->device,
        .bytes = region->size,
        .address = region->start,
        .target = region->kind,
        .value = operation,
    };
    record.end = record.start;
    bp_sim_emit(&record);
}

/* Pages are made here, where CUDA too takes its time, and not by the first copy, which would then
 * take longer than the model says. Beyond this they are left to come when they are used. */
#define PREPARED ((size_t)256 << 20)

static void *map(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (size <= PREPARED) {
        madvise(memory, size, MADV_HUGEPAGE);
        madvise(memory, size, MADV_POPULATE_WRITE);
    }
    return memory;
}

static bool charge(int device, size_t size) {
    size_t unused, total;
    if (bp_sim_memory_info(&unused, &total) || size > unused)
        return false;
    bp_sim_lock(&bp_sim_model.lock);
    bp_sim_model.device[device].used += size;
    bp_sim_unlock(&bp_sim_model.lock);
    return true;
}

int bp_sim_allocate(void **memory, size_t size, enum bp_sim_memory kind) {
    int error = bp_sim_ready();
    if (error || !memory)
        return error ? error : cudaErrorInvalidValue;
    *memory = NULL;
    if (!size)
        return 0;
    struct bp_sim_region region = {.kind = kind, .device = bp_sim_device()};
    region.size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    if (region.size < size || (kind != BP_SIM_PINNED && !charge(region.device, region.size)))
        return cudaErrorMemoryAllocation;
    void *mapped = map(region.size);
    if (!mapped)
        return cudaErrorMemoryAllocation;
    region.start = (uintptr_t)mapped;
    region.home = kind == BP_SIM_MANAGED ? bp_sim_managed_new(region.size) : NULL;
    error = add_locked(&region);
    if (!error)
        *memory = mapped;
    tell(&region, 1);
    return error;
}

int bp_sim_adopt_managed(void *memory, size_t size) {
    struct bp_sim_region region = {.start = (uintptr_t)memory,
                                   .size = size,
                                   .kind = BP_SIM_MANAGED,
                                   .registered = true,
                                   .home = bp_sim_managed_new(size)};
    return add_locked(&region);
}

struct bp_sim_pool *bp_sim_pool_default(int device) {
    static struct bp_sim_pool pools[BP_SIM_DEVICES];
    bp_sim_lock(&state.lock);
    if (!pools[device].rules[0])
        pools[device] = (struct bp_sim_pool){.device = device, .rules = {1, 1, 1, 0}};
    bp_sim_unlock(&state.lock);
    return &pools[device];
}

static void pool_take(struct bp_sim_pool *pool, size_t size) {
    uint64_t used = __atomic_add_fetch(&pool->used[0], size, __ATOMIC_RELAXED);
    if (used > pool->used[1])
        pool->used[1] = used;
}

static void pool_give(const struct bp_sim_region *region) {
    if (region->pool)
        __atomic_fetch_sub(&region->pool->used[0], region->size, __ATOMIC_RELAXED);
}

/* Memory of a graph is there as soon as the graph is, and stays. */
int bp_sim_allocate_async(void **memory, size_t size, struct bp_sim_pool *pool,
                          struct bp_sim_stream *stream) {
    int error = bp_sim_allocate(memory, size, BP_SIM_DEVICE), captured;
    const struct bp_sim_content content = {
        .type = BP_SIM_NODE_ALLOCATION, .memory = error ? NULL : *memory, .bytes = size};
    if (error || !*memory || bp_sim_captured_as(stream, &content, &captured))
        return error ? error : *memory ? captured : 0;
    bp_sim_lock(&state.lock);
    struct bp_sim_region *region = &state.region[position((uintptr_t)*memory)];
    region->pool = pool;
    pool_take(pool, region->size);
    bp_sim_unlock(&state.lock);
    return 0;
}

static int take(void *memory, bool registered, bool host, struct bp_sim_region *region) {
    int error = cudaErrorInvalidValue;
    bp_sim_lock(&state.lock);
    size_t at = position((uintptr_t)memory);
    if (at < state.count && state.region[at].start == (uintptr_t)memory &&
        state.region[at].registered == registered &&
        (state.region[at].kind == BP_SIM_PINNED) == host) {
        *region = state.region[at];
        pool_give(region);
        memmove(&state.region[at], &state.region[at + 1], (state.count - at - 1) * sizeof *region);
        state.count--;
        error = 0;
    }
    bp_sim_unlock(&state.lock);
    return error;
}

/* Freeing waits for the device, as cudaFree does. */
int bp_sim_free(void *memory, bool host) {
    struct bp_sim_region region;
    int error = bp_sim_ready();
    if (error || !memory)
        return error;
    error = take(memory, false, host, &region);
    if (error)
        return error;
    bp_sim_lock(&bp_sim_model.lock);
    uint64_t end = bp_sim_model.device[region.device].end, sequence = bp_sim_model.sequence;
    if (!host)
        bp_sim_model.device[region.device].used -= region.size;
    bp_sim_unlock(&bp_sim_model.lock);
    bp_sim_queue_finish(sequence, UINT64_MAX); /* other devices may use it, too */
    bp_sim_wait_until(end);
    munmap(memory, region.size);
    free(region.home);
    tell(&region, 2);
    return 0;
}

static void unmap(void *data) {
    struct bp_sim_region *region = data;
    munmap((void *)region->start, region->size);
    free(region->home);
    free(region);
}

/* In the order of the stream: what was submitted before may still use it. */
int bp_sim_free_async(void *memory, struct bp_sim_stream *stream) {
    const struct bp_sim_content content = {.type = BP_SIM_NODE_RELEASE, .memory = memory};
    int error = bp_sim_ready();
    if (error || bp_sim_captured_as(stream, &content, &error))
        return error;
    struct bp_sim_region region, *copy = malloc(sizeof *copy);
    struct bp_sim_work *work = bp_sim_work_new(BP_SIM_WORK_RELEASE, 0);
    error = copy && work ? take(memory, false, false, &region) : cudaErrorMemoryAllocation;
    if (error) {
        free(copy);
        free(work);
        return memory ? error : 0;
    }
    *copy = region;
    work->host.function = unmap;
    work->host.data = copy;
    bp_sim_lock(&bp_sim_model.lock);
    bp_sim_model.device[region.device].used -= region.size;
    bp_sim_unlock(&bp_sim_model.lock);
    tell(&region, 2);
    return bp_sim_host_submit(work, stream);
}

int bp_sim_register(void *memory, size_t size) {
    struct bp_sim_region region = {.start = (uintptr_t)memory,
                                   .size = size,
                                   .kind = BP_SIM_PINNED,
                                   .device = bp_sim_device(),
                                   .registered = true};
    int error = bp_sim_ready();
    if (error)
        return error;
    return memory && size ? add_locked(&region) : cudaErrorInvalidValue;
}

int bp_sim_unregister(void *memory) {
    struct bp_sim_region region;
    int error = bp_sim_device_synchronize();
    if (error)
        return error;
    return take(memory, true, true, &region) ? cudaErrorHostMemoryNotRegistered : 0;
}
