/* SPDX-License-Identifier: MIT
 *
 * What NVIDIA's driver library says. A command that can open libraries asks it itself (driver.c); a
 * static one runs a small program that it carries (driver_carried.c; the program is driver.c with
 * driver_main.c).
 */
#ifndef BP_TOOLS_COMMAND_DOCTOR_DRIVER_H
#define BP_TOOLS_COMMAND_DOCTOR_DRIVER_H

enum bp_driver_state {
    BP_DRIVER_FINE,
    BP_DRIVER_FAILED,  /* it is there and does not start */
    BP_DRIVER_ABSENT,  /* no libcuda.so.1 */
    BP_DRIVER_UNKNOWN, /* no program with glibc can be run here */
};

struct bp_driver {
    int state;
    int version; /* of CUDA: 12040 is 12.4 */
    int devices;
};

void bp_driver_ask(struct bp_driver *driver);

#endif
