/* SPDX-License-Identifier: MIT
 *
 * What the files of the simulated libcuda share.
 */
#ifndef BP_CUDA_SIM_DRIVER_DRIVER_H
#define BP_CUDA_SIM_DRIVER_DRIVER_H

#include "cuda/sim/sim.h"

#define API BP_SIM_EXPORT

enum {
#define X(name, id) BP_CBID_##name = (int)((id) | BP_SIM_DRIVER_CALL),
#include "cuda/sim/driver/driver.def"
#undef X
};
#define CALL(name, expression)                                                                     \
    struct bp_sim_call call_;                                                                      \
    bp_sim_enter(&call_, #name, BP_CBID_##name, 0);                                                \
    return bp_sim_leave(&call_, (expression))

typedef struct bp_sim_stream *bp_stream;
typedef struct bp_sim_event *bp_event;

#endif
