/* SPDX-License-Identifier: MIT */
#include "cuda/copy.h"

#include "cuda/api.h"
#include "cuda/cupti/cupti.h"
#include "interpose/ledger/thread.h"

#define NONE 15u        /* no argument */
#define MEMORY_TYPE 2   /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
#define INVALID_VALUE 1 /* what the driver says of memory that it does not know: the host's */
#define KINDS 5         /* of cudaMemcpyKind */

/* The number of each argument, from 0. */
struct layout {
    unsigned target : 4, source : 4, width : 4, height : 4, kind : 4, target_pitch : 4,
        source_pitch : 4;
    signed direction : 4; /* where no argument tells */
};

static const struct layout layouts[] = {
#define LAYOUT(target, source, width, height, kind, target_pitch, source_pitch, direction)         \
    { target, source, width, height, kind, target_pitch, source_pitch, direction }
    LAYOUT(0, 1, 2, NONE, 3, NONE, NONE, BP_COPY_UNTOLD),        /* KIND */
    LAYOUT(0, 1, 2, NONE, NONE, NONE, NONE, BP_H2D),             /* H2D */
    LAYOUT(0, 1, 2, NONE, NONE, NONE, NONE, BP_D2H),             /* D2H */
    LAYOUT(0, 1, 2, NONE, NONE, NONE, NONE, BP_D2D),             /* D2D */
    LAYOUT(0, 1, 2, NONE, NONE, NONE, NONE, BP_COPY_BY_ADDRESS), /* ANY */
    LAYOUT(0, 2, 4, NONE, NONE, NONE, NONE, BP_P2P),             /* PEER */
    LAYOUT(0, 2, 4, 5, 6, 1, 3, BP_COPY_UNTOLD),                 /* 2D */
    LAYOUT(NONE, 1, 2, NONE, 4, NONE, NONE, BP_COPY_UNTOLD),     /* TO_SYMBOL */
    LAYOUT(0, NONE, 2, NONE, 4, NONE, NONE, BP_COPY_UNTOLD),     /* FROM_SYMBOL */
    LAYOUT(NONE, 3, 4, NONE, 5, NONE, NONE, BP_COPY_UNTOLD),     /* TO_ARRAY */
    LAYOUT(0, NONE, 4, NONE, 5, NONE, NONE, BP_COPY_UNTOLD),     /* FROM_ARRAY */
    LAYOUT(NONE, 3, 5, 6, 7, NONE, 4, BP_COPY_UNTOLD),           /* TO_ARRAY_2D */
    LAYOUT(0, NONE, 5, 6, 7, 1, NONE, BP_COPY_UNTOLD),           /* FROM_ARRAY_2D */
    LAYOUT(NONE, 2, 3, NONE, NONE, NONE, NONE, BP_H2D),          /* TO_ARRAY_DRIVER */
    LAYOUT(0, NONE, 3, NONE, NONE, NONE, NONE, BP_D2H),          /* FROM_ARRAY_DRIVER */
#undef LAYOUT
};

/* NULL: a structure tells, or nothing. */
static const struct layout *layout_of(unsigned class) {
    unsigned shape = (class - BP_CUDA_FIRST_COPY) / 2;
    return bp_cuda_is_copy(class) && shape < sizeof layouts / sizeof *layouts ? &layouts[shape]
                                                                              : NULL;
}

static uint64_t argument(const struct bp_registers *registers, unsigned number) {
    return number == NONE ? 0 : bp_arch_argument(registers, number);
}

/* "Default" goes by the addresses. */
static int direction_of_kind(uint32_t kind) {
    static const int directions[KINDS] = {BP_COPY_ON_HOST, BP_H2D, BP_D2H, BP_D2D,
                                          BP_COPY_BY_ADDRESS};
    return kind < KINDS ? directions[kind] : BP_COPY_UNTOLD;
}

static struct bp_cuda_copy by_layout(const struct layout *layout,
                                     const struct bp_registers *registers) {
    struct bp_cuda_copy copy = {.target = argument(registers, layout->target),
                                .source = argument(registers, layout->source),
                                .width = argument(registers, layout->width),
                                .height = 1,
                                .depth = 1,
                                .direction = layout->direction};
    if (layout->height != NONE)
        copy.height = argument(registers, layout->height);
    if (layout->kind != NONE)
        copy.direction = direction_of_kind((uint32_t)argument(registers, layout->kind));
    copy.pitch =
        argument(registers, copy.direction == BP_H2D ? layout->source_pitch : layout->target_pitch);
    return copy;
}

static uint64_t at(const struct bp_cuda_place *place, uint64_t base, uint64_t pitch,
                   uint64_t height) {
    return base + (place->z * height + place->y) * pitch + place->x;
}

/* Widths of arrays are in elements of a size that only they know. */
static struct bp_cuda_copy by_3d(const struct bp_cuda_3d *p) {
    struct bp_cuda_copy copy = {.direction = BP_COPY_UNTOLD};
    if (!p || p->source_array || p->target_array)
        return copy;
    copy.direction = direction_of_kind(p->kind);
    copy.target = at(&p->target_place, p->target, p->target_pitch, p->target_height);
    copy.source = at(&p->source_place, p->source, p->source_pitch, p->source_height);
    copy.width = p->width;
    copy.height = p->height;
    copy.depth = p->depth;
    copy.pitch = copy.direction == BP_H2D ? p->source_pitch : p->target_pitch;
    copy.slice = copy.pitch * (copy.direction == BP_H2D ? p->source_height : p->target_height);
    return copy;
}

static int direction_of_types(uint32_t source, uint32_t target) {
    if (source == BP_CUDA_UNIFIED || target == BP_CUDA_UNIFIED)
        return BP_COPY_BY_ADDRESS;
    if (source == BP_CUDA_HOST)
        return target == BP_CUDA_HOST ? BP_COPY_ON_HOST : BP_H2D;
    return target == BP_CUDA_HOST ? BP_D2H : BP_D2D;
}

static struct bp_cuda_copy by_driver_3d(const struct bp_cuda_driver_3d *p) {
    struct bp_cuda_copy copy = {.direction = BP_COPY_UNTOLD};
    if (!p)
        return copy;
    copy.direction = direction_of_types(p->source.type, p->target.type);
    if (copy.direction == BP_D2D && p->source.context != p->target.context)
        copy.direction = BP_P2P;
    const struct bp_cuda_3d_side *host = copy.direction == BP_H2D ? &p->source : &p->target;
    const struct bp_cuda_place place = {host->x, host->y, host->z};
    uint64_t address = at(&place, host->host, host->pitch, host->height);
    copy.source = copy.direction == BP_H2D ? address : p->source.device;
    copy.target = copy.direction == BP_H2D ? p->target.device : address;
    copy.width = p->width;
    copy.height = p->height;
    copy.depth = p->depth;
    copy.pitch = host->pitch;
    copy.slice = host->pitch * host->height;
    return copy;
}

static struct bp_cuda_copy by_driver_2d(const struct bp_cuda_2d *p) {
    if (!p)
        return (struct bp_cuda_copy){.direction = BP_COPY_UNTOLD};
    struct bp_cuda_driver_3d wide = bp_cuda_copy_widen(p);
    return by_driver_3d(&wide);
}

struct bp_cuda_copy bp_cuda_copy_of(unsigned class, const struct bp_registers *arguments) {
    struct bp_cuda_copy copy = {.direction = BP_COPY_UNTOLD};
    unsigned blocking = class - (class - BP_CUDA_FIRST_COPY) % 2;
    const struct layout *layout = layout_of(class);
    if (blocking == BP_CUDA_COPY_3D)
        copy = by_3d((const struct bp_cuda_3d *)bp_arch_argument(arguments, 0));
    else if (blocking == BP_CUDA_COPY_DRIVER_2D)
        copy = by_driver_2d((const struct bp_cuda_2d *)bp_arch_argument(arguments, 0));
    else if (blocking == BP_CUDA_COPY_DRIVER_3D)
        copy = by_driver_3d((const struct bp_cuda_driver_3d *)bp_arch_argument(arguments, 0));
    else if (layout)
        copy = by_layout(layout, arguments);
    copy.bytes = copy.width * copy.height * copy.depth;
    return copy;
}

/* 1 the device's, 0 the host's, -1 not known. A copy has succeeded: if there is a driver, it is
 * loaded, and looking for it once is enough. */
static int on_device(uint64_t address) {
    static int (*ask)(void *, int, uint64_t);
    static int looked;
    uint32_t type = 0;
    if (!looked)
        ask = bp_cupti_symbol(bp_cupti_loaded("libcuda.so.1"), "cuPointerGetAttribute");
    looked = 1;
    int error = ask ? ask(&type, MEMORY_TYPE, address) : -1;
    if (error == INVALID_VALUE)
        return 0;
    return error ? -1 : type == BP_CUDA_DEVICE;
}

void bp_cuda_copy_resolve(struct bp_cuda_copy *copy) {
    if (copy->direction != BP_COPY_BY_ADDRESS)
        return;
    int source = on_device(copy->source), target = on_device(copy->target);
    if (source < 0 || target < 0)
        copy->direction = BP_COPY_UNTOLD;
    else if (source)
        copy->direction = target ? BP_D2D : BP_D2H;
    else
        copy->direction = target ? BP_H2D : BP_COPY_ON_HOST;
}

uint64_t bp_cuda_copy_host(const struct bp_cuda_copy *copy) {
    return copy->direction == BP_H2D ? copy->source : copy->direction == BP_D2H ? copy->target : 0;
}
