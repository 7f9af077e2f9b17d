/* SPDX-License-Identifier: MIT
 *
 * See carried.h. tools/static/pack.py writes what is read here:
 *
 *     number of files, then for each its offset, packed size and size    (64 bits, little endian)
 *                      and its name and build id                         (64 bytes each, padded by
 * 0) the files, each as zlib packs it
 */
#include "tools/run/carried.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE 65536 /* bytes that are unpacked at once */

struct entry {
    uint64_t offset;
    uint64_t packed_size;
    uint64_t size;
    char name[64];
    char build_id[64];
};

#ifdef BP_STATIC
extern const char bp_carried_begin[]
    __attribute__((visibility("hidden"))); /* tools/static/carried.S */

bool bp_carried_get(size_t number, struct bp_carried *file) {
    const struct entry *entry =
        (const struct entry *)(bp_carried_begin + sizeof(uint64_t)) + number;
    if (number >= *(const uint64_t *)bp_carried_begin)
        return false;
    *file = (struct bp_carried){entry->name, entry->build_id, bp_carried_begin + entry->offset,
                                entry->packed_size, entry->size};
    return true;
}
#else
bool bp_carried_get(size_t number, struct bp_carried *file) {
    (void)number;
    (void)file;
    return false;
}
#endif

bool bp_carried_find(const char *name, struct bp_carried *file) {
    for (size_t i = 0; bp_carried_get(i, file); i++)
        if (strcmp(file->name, name) == 0)
            return true;
    return false;
}

static int write_all(int fd, const unsigned char *data, size_t size) {
    while (size) {
        ssize_t done = write(fd, data, size);
        if (done < 0 && errno != EINTR)
            return -errno;
        if (done > 0) {
            data += done;
            size -= (size_t)done;
        }
    }
    return 0;
}

static int unpack(z_stream *stream, int fd) {
    unsigned char piece[PIECE];
    int state = Z_OK, failed = 0;
    while (state == Z_OK && !failed) {
        stream->next_out = piece;
        stream->avail_out = sizeof piece;
        state = inflate(stream, Z_NO_FLUSH);
        failed = write_all(fd, piece, sizeof piece - stream->avail_out);
    }
    return failed ? failed : state == Z_STREAM_END ? 0 : -EIO;
}

int bp_carried_write(const struct bp_carried *file, int fd) {
    z_stream stream = {.next_in = (unsigned char *)file->packed,
                       .avail_in = (unsigned)file->packed_size};
    if (inflateInit(&stream) != Z_OK)
        return -ENOMEM;
    /* Beyond `ulimit -f` the kernel would kill us. */
    sighandler_t before = signal(SIGXFSZ, SIG_IGN);
    int failed = unpack(&stream, fd);
    signal(SIGXFSZ, before);
    inflateEnd(&stream);
    return failed;
}

int bp_carried_hold(const struct bp_carried *file) {
    int fd = memfd_create(file->name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int failed = fd < 0 ? -errno : bp_carried_write(file, fd);
    if (!failed) {
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return failed;
}
