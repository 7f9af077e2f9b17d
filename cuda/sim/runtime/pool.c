/* SPDX-License-Identifier: MIT
 *
 * libcudart: memory pools. They count, and keep nothing back for later.
 */
#include <stdlib.h>

#include "cuda/sim/runtime/runtime.h"

#define DEVICES 8
typedef struct bp_sim_pool *bp_pool;

/* The one that cudaMallocAsync takes from, of each device; NULL: the default. */
static bp_pool chosen[DEVICES];

static bp_pool pool_of(int device) {
    return chosen[device] ? chosen[device] : bp_sim_pool_default(device);
}

CALL2(cudaMallocAsync, _ptsz, (void **memory, size_t size, bp_stream stream),
      bp_sim_allocate_async(memory, size, pool_of(bp_sim_device()), STREAM(stream)))
CALL2(cudaMallocFromPoolAsync, _ptsz, (void **memory, size_t size, bp_pool pool, bp_stream stream),
      pool ? bp_sim_allocate_async(memory, size, pool, STREAM(stream)) : cudaErrorInvalidValue)

static int get(bp_pool *pool, int device, bool by_default) {
    int error = bp_sim_properties(device) ? bp_sim_ready() : cudaErrorInvalidDevice;
    if (!error)
        *pool = by_default ? bp_sim_pool_default(device) : pool_of(device);
    return error;
}

API int cudaDeviceGetDefaultMemPool(bp_pool *pool, int device) {
    CALL(cudaDeviceGetDefaultMemPool, get(pool, device, true));
}

API int cudaDeviceGetMemPool(bp_pool *pool, int device) {
    CALL(cudaDeviceGetMemPool, get(pool, device, false));
}

static int choose(int device, bp_pool pool) {
    if (!pool || !bp_sim_properties(device) || pool->device != device)
        return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    chosen[device] = pool;
    return 0;
}

API int cudaDeviceSetMemPool(int device, bp_pool pool) {
    CALL(cudaDeviceSetMemPool, choose(device, pool));
}

struct pool_properties {
    int type, handles, location_type, location;
};

static int create(bp_pool *pool, const struct pool_properties *p) {
    int error = bp_sim_ready();
    if (error || !pool || !p || p->type != 1 || p->location_type != 1)
        return error ? error : cudaErrorInvalidValue;
    if (p->handles || !bp_sim_properties(p->location))
        return p->handles ? cudaErrorNotSupported : cudaErrorInvalidDevice;
    *pool = malloc(sizeof **pool);
    if (!*pool)
        return cudaErrorMemoryAllocation;
    **pool = (struct bp_sim_pool){.device = p->location, .made = true, .rules = {1, 1, 1, 0}};
    return 0;
}

API int cudaMemPoolCreate(bp_pool *pool, const struct pool_properties *properties) {
    CALL(cudaMemPoolCreate, create(pool, properties));
}

/* What is allocated from it stays valid, and names the pool. */
static int destroy(bp_pool pool) {
    if (!pool || !pool->made)
        return cudaErrorInvalidValue;
    if (chosen[pool->device] == pool)
        chosen[pool->device] = NULL;
    if (!pool->used[0])
        free(pool);
    return 0;
}

API int cudaMemPoolDestroy(bp_pool pool) {
    CALL(cudaMemPoolDestroy, destroy(pool));
}

API int cudaMemPoolTrimTo(bp_pool pool, size_t keep) {
    (void)keep;
    CALL(cudaMemPoolTrimTo, pool ? 0 : cudaErrorInvalidValue);
}

/* 1 to 3: int; 4 threshold, 5 and 6 reserved, 7 and 8 used bytes, now and at most. */
static int get_attribute(bp_pool pool, int which, void *value) {
    if (!pool || !value || which < 1 || which > 8)
        return cudaErrorInvalidValue;
    if (which < 4)
        *(int *)value = (int)pool->rules[which - 1];
    else
        *(uint64_t *)value = which == 4 ? pool->rules[3] : pool->used[(which - 5) % 2];
    return 0;
}

API int cudaMemPoolGetAttribute(bp_pool pool, int which, void *value) {
    CALL(cudaMemPoolGetAttribute, get_attribute(pool, which, value));
}

static int set_attribute(bp_pool pool, int which, const void *value) {
    bool highest = which == 6 || which == 8;
    if (!pool || !value || which < 1 || (which > 4 && !highest))
        return cudaErrorInvalidValue;
    if (highest && *(const uint64_t *)value)
        return cudaErrorInvalidValue; /* it can be set to zero: counted anew */
    if (highest)
        pool->used[1] = pool->used[0];
    else
        pool->rules[which - 1] =
            which < 4 ? (uint64_t) * (const int *)value : *(const uint64_t *)value;
    return 0;
}

API int cudaMemPoolSetAttribute(bp_pool pool, int which, const void *value) {
    CALL(cudaMemPoolSetAttribute, set_attribute(pool, which, value));
}

/* Every device can use all memory. */
API int cudaMemPoolSetAccess(bp_pool pool, const void *list, size_t count) {
    (void)list, (void)count;
    CALL(cudaMemPoolSetAccess, pool ? 0 : cudaErrorInvalidValue);
}

API int cudaMemPoolGetAccess(int *flags, bp_pool pool, const void *location) {
    (void)location;
    *flags = 3; /* read and write */
    CALL(cudaMemPoolGetAccess, pool ? 0 : cudaErrorInvalidValue);
}
