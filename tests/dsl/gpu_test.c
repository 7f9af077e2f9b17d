/* SPDX-License-Identifier: MIT
 *
 * batch_process_samples_gpu gives what the functions of the DSL give, by the processor and, with
 * the argument "device", in each way on a device that must be there.
 */
#include <stdlib.h>
#include <string.h>

#include "dsl/dsl.h"
#include "tests/dsl/check.h"

#define GRIDS 12

static const struct dsl_gpu_op ops[] = {
    {DSL_GPU_HMIRROR, 0, 0}, {DSL_GPU_VMIRROR, 0, 0}, {DSL_GPU_DMIRROR, 0, 0},
    {DSL_GPU_CMIRROR, 0, 0}, {DSL_GPU_ROT90, 0, 0},   {DSL_GPU_ROT180, 0, 0},
    {DSL_GPU_ROT270, 0, 0},  {DSL_GPU_REPLACE, 1, 5}, {DSL_GPU_SWITCH, 2, 0},
};
#define OPS ((int)(sizeof(ops) / sizeof(ops[0])))

static const struct dsl_grid *expected(struct dsl_arena *arena, const struct dsl_grid *grid,
                                       struct dsl_gpu_op op) {
    struct dsl_value value = value_grid(grid);
    switch (op.kind) {
    case DSL_GPU_HMIRROR:
        return hmirror(arena, value).grid;
    case DSL_GPU_VMIRROR:
        return vmirror(arena, value).grid;
    case DSL_GPU_DMIRROR:
        return dmirror(arena, value).grid;
    case DSL_GPU_CMIRROR:
        return cmirror(arena, value).grid;
    case DSL_GPU_ROT90:
        return rot90(arena, grid);
    case DSL_GPU_ROT180:
        return rot180(arena, grid);
    case DSL_GPU_ROT270:
        return rot270(arena, grid);
    case DSL_GPU_REPLACE:
        return replace(arena, grid, op.a, op.b);
    default:
        return switch_(arena, grid, op.a, op.b);
    }
}

static void fill_grids(struct task_grid *grid) {
    for (int k = 0; k < GRIDS; k++) {
        grid[k].height = (uint8_t)(k ? 1 + rand() % DSL_ARC_SIDE : DSL_ARC_SIDE);
        grid[k].width = (uint8_t)(k ? 1 + rand() % DSL_ARC_SIDE : 1);
        for (int c = 0; c < DSL_ARC_SIDE * DSL_ARC_SIDE; c++)
            grid[k].cell[c] = (uint8_t)(rand() % DSL_COLOURS);
    }
}

static void compare(const struct task_grid *in, const struct task_grid *out, const char *how) {
    struct dsl_arena *arena = dsl_arena_new();
    const struct dsl_grid *grid = dsl_grid_new(arena, in->height, in->width, in->cell);
    for (int k = 0; k < OPS; k++) {
        const struct task_grid *got = &out[k * GRIDS];
        const struct dsl_grid *want = expected(arena, grid, ops[k]);
        CHECK(want && got->height == want->height && got->width == want->width &&
                  !memcmp(got->cell, want->cell, (size_t)(want->height * want->width)),
              "%s: operation %d on %d x %d", how, k, in->height, in->width);
    }
    dsl_arena_free(arena);
}

static void test_way(struct dsl_gpu *gpu, const char *how) {
    struct task_grid in[GRIDS], *out = calloc(GRIDS * OPS, sizeof(*out));
    fill_grids(in);
    for (int round = 0; round < 3; round++) {
        memset(out, 255, GRIDS * OPS * sizeof(*out));
        batch_process_samples_gpu(gpu, in, GRIDS, ops, OPS, out);
        for (int k = 0; k < GRIDS; k++)
            compare(&in[k], &out[k], how);
    }
    free(out);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"batch", "naive", "resident"};
    bool device = argc > 1 && !strcmp(argv[1], "device");
    test_way(NULL, "processor");
    for (int mode = 0; mode < 3; mode++) {
        struct dsl_gpu *gpu = dsl_gpu_new((enum dsl_gpu_mode)mode);
        CHECK(gpu || !device, "no device");
        test_way(gpu, names[mode]);
        dsl_gpu_free(gpu);
    }
    return check_status;
}
