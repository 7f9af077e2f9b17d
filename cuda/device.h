/* SPDX-License-Identifier: MIT
 *
 * The devices, and whether there are any.
 */
#ifndef BP_CUDA_DEVICE_H
#define BP_CUDA_DEVICE_H

void bp_device_describe(void);
int bp_device_count(void);
int bp_device_has_driver(void);
/* Before libcupti is opened: 0 if there is certainly no driver. */
int bp_device_may_exist(void);

#endif
