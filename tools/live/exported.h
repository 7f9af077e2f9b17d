/* SPDX-License-Identifier: MIT
 *
 * What a file exports, without libdw: its dynamic symbols.
 */
#ifndef BP_TOOLS_LIVE_EXPORTED_H
#define BP_TOOLS_LIVE_EXPORTED_H

#include <stdint.h>

/* The address in an ELF file of what it exports under this name; 0 if it does not. */
uint64_t bp_exported(const char *path, const char *name);

#endif
