/* SPDX-License-Identifier: MIT
 *
 * Programs that use CUPTI themselves.
 */
#ifndef BP_CUDA_CUPTI_TOOL_H
#define BP_CUDA_CUPTI_TOOL_H

#include <stdint.h>

/* The program asks CUPTI for a kind of records; and is about to register callbacks. */
void bp_tool_enables(uint32_t kind);
void bp_tool_registers(void);

#endif
