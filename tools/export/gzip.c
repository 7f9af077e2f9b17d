/* SPDX-License-Identifier: MIT */
#include "tools/export/gzip.h"

#include <errno.h>
#include <stdlib.h>

#include <zlib.h>

#include "tools/base/memory.h"

/* zlib's own: 15 bits of window, and 16 for a gzip header; its usual memory. */
#define GZIP_WINDOW (15 + 16)
#define USUAL_MEMORY 8
/* A third of the time of level 6 for files that are a tenth larger. */
#define LEVEL 4

struct packer {
    z_stream stream;
    FILE *out;
    unsigned char buffer[1 << 16];
};

/* 0, or -1 with errno of the stream below. */
static int pack(struct packer *packer, int flush) {
    z_stream *stream = &packer->stream;
    do {
        stream->next_out = packer->buffer;
        stream->avail_out = sizeof(packer->buffer);
        deflate(stream, flush);
        size_t got = sizeof(packer->buffer) - stream->avail_out;
        if (fwrite(packer->buffer, 1, got, packer->out) != got)
            return -1;
    } while (stream->avail_out == 0);
    return 0;
}

static ssize_t write_some(void *cookie, const char *data, size_t size) {
    struct packer *packer = cookie;
    packer->stream.next_in = (Bytef *)data;
    packer->stream.avail_in = (uInt)size;
    return pack(packer, Z_NO_FLUSH) ? 0 : (ssize_t)size;
}

static int end(void *cookie) {
    struct packer *packer = cookie;
    packer->stream.avail_in = 0;
    int result = pack(packer, Z_FINISH);
    int reason = errno;
    deflateEnd(&packer->stream);
    free(packer);
    errno = reason;
    return result;
}

FILE *bp_gzip_open(FILE *out) {
    struct packer *packer = bp_alloc(1, sizeof(*packer));
    packer->out = out;
    if (deflateInit2(&packer->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, USUAL_MEMORY,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return fopencookie(packer, "w", (cookie_io_functions_t){.write = write_some, .close = end});
    free(packer);
    errno = ENOMEM;
    return NULL;
}
