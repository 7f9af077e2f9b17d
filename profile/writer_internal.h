/* SPDX-License-Identifier: MIT
 *
 * What writer.c and writer_fork.c share: files and memory, by system calls alone.
 */
#ifndef BP_PROFILE_WRITER_INTERNAL_H
#define BP_PROFILE_WRITER_INTERNAL_H

#include <sys/stat.h>

#include "profile/writer.h"

/* A new file: its descriptor or -errno. */
int bp_writer_open(const char *path, struct stat *status);
/* This is the file from now on. */
void bp_writer_remember(struct bp_writer *writer, const char *path, const struct stat *status);

/* Whole pages. */
static inline uint64_t bp_writer_round(uint64_t size) {
    return (size + BP_PAGE - 1) & ~(uint64_t)(BP_PAGE - 1);
}

/* Blocks for a part of the file, zeroed. 0 or -errno. */
int bp_writer_reserve(int fd, uint64_t offset, uint64_t size);

/* What a new file contains, at once. 0 or -errno. */
int bp_writer_write(int fd, const char *memory, uint64_t size);

/* At `address` if there is one; else anywhere. See bp_sys_failed(). */
void *bp_writer_map(int fd, void *address, uint64_t size, uint64_t offset);
/* Private pages; NULL without memory. */
void *bp_writer_memory(uint64_t size);

#endif
