/* SPDX-License-Identifier: MIT
 *
 * The build id that the linker put into an ELF file: a hash of its contents.
 */
#ifndef BP_TOOLS_BASE_BUILD_ID_H
#define BP_TOOLS_BASE_BUILD_ID_H

#define BP_OWN_FILE "/proc/self/exe"

/* In hexadecimal, a new text; NULL if the file cannot be read or has none. */
char *bp_build_id(const char *path);

/* The build id of the running command, a new text as short as tells builds apart; NULL if it is
 * unknown. */
char *bp_build_id_own(void);

/* "0.1.0 (build 1234abcd)", a new text. The build is left out where it is unknown. */
char *bp_version(void);

#endif
