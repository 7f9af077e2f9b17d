/* SPDX-License-Identifier: MIT
 *
 * The format is that of the Linux Standard Base's .eh_frame and .eh_frame_hdr. Pointers are
 * relative in all objects that linkers make today; other encodings are not understood, and then
 * there is no description.
 */
#include "interpose/unwind/description.h"

#include "interpose/unwind/tables.h"

#define LONGEST (64u << 10) /* bytes of one description */

/* Pointer encodings: how long, and relative to what. */
#define ENCODING_OMIT 0xff
#define ENCODING_RELATIVE 0x10 /* to its own place */
#define ENCODING_TABLE 0x3b    /* of .eh_frame_hdr: signed 4 bytes, relative to the header */

struct header {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
    int32_t frame;
    uint32_t count;
};

struct table_entry {
    int32_t start, description; /* relative to the header */
};

uint64_t bp_description_pointer(struct bp_bytes *bytes, unsigned encoding, int relative) {
    static const uint8_t sizes[8] = {8, 0, 2, 4, 8, 0, 0, 0};
    uint64_t place = (uint64_t)bytes->at;
    unsigned size = sizes[encoding & 7];
    if (!size || encoding & 0xe0) {
        bytes->bad = 1;
        return 0;
    }
    uint64_t value =
        encoding & 8 ? (uint64_t)bp_bytes_signed(bytes, size) : bp_bytes_number(bytes, size);
    return relative && encoding & ENCODING_RELATIVE && value ? place + value : value;
}

/* The bytes of a length-prefixed record. */
static int record(struct bp_safe *safe, uint64_t address, struct bp_bytes *bytes) {
    uint32_t length;
    if (!bp_safe_range(safe, address, sizeof length))
        return 0;
    __builtin_memcpy(&length, (const void *)address, sizeof length);
    if (length < 4 || length > LONGEST || !bp_safe_range(safe, address + 4, length))
        return 0;
    *bytes =
        (struct bp_bytes){(const uint8_t *)address + 4, (const uint8_t *)address + 4 + length, 0};
    return 1;
}

static void read_augmentation(struct bp_description *description, struct bp_bytes *bytes,
                              const char *text) {
    if (*text != 'z') {
        bytes->bad |= *text != 0;
        return;
    }
    description->has_length = 1;
    uint64_t length = bp_bytes_uleb(bytes);
    const uint8_t *after = bytes->at + length;
    for (text++; *text && !bytes->bad; text++)
        if (*text == 'R')
            description->encoding = (uint32_t)bp_bytes_number(bytes, 1);
        else if (*text == 'L')
            bp_bytes_skip(bytes, 1);
        else if (*text == 'P') /* indirect, as always in shared objects: only its size matters */
            bp_description_pointer(bytes, (unsigned)bp_bytes_number(bytes, 1) & 0x7f, 0);
        else if (*text == 'S')
            description->signal = 1;
        else
            bytes->bad = 1;
    bytes->bad |= after > bytes->end;
    bytes->at = after;
}

static int read_common(struct bp_description *description, struct bp_safe *safe, uint64_t address) {
    struct bp_bytes bytes;
    if (!record(safe, address, &bytes))
        return 0;
    uint64_t id = bp_bytes_number(&bytes, 4), version = bp_bytes_number(&bytes, 1);
    const char *augmentation = (const char *)bytes.at;
    while (bp_bytes_number(&bytes, 1))
        ;
    description->code_factor = bp_bytes_uleb(&bytes);
    description->data_factor = bp_bytes_sleb(&bytes);
    uint64_t ra = version == 1 ? bp_bytes_number(&bytes, 1) : bp_bytes_uleb(&bytes);
    if (bytes.bad || id != 0 || (version != 1 && version != 3) || ra != BP_REG_RA)
        return 0;
    read_augmentation(description, &bytes, augmentation);
    description->common = bytes;
    return !bytes.bad;
}

static int read(struct bp_description *description, struct bp_safe *safe, uint64_t address) {
    struct bp_bytes bytes;
    if (!record(safe, address, &bytes))
        return 0;
    uint64_t place = (uint64_t)bytes.at, back = bp_bytes_number(&bytes, 4);
    if (!back || !read_common(description, safe, place - back))
        return 0;
    description->start = bp_description_pointer(&bytes, description->encoding, 1);
    description->end =
        description->start + bp_description_pointer(&bytes, description->encoding, 0);
    if (description->has_length)
        bp_bytes_skip(&bytes, bp_bytes_uleb(&bytes));
    description->own = bytes;
    return !bytes.bad;
}

/* Where the description of the function at `pc` is; 0 if there is none. */
static uint64_t search(struct bp_safe *safe, const struct bp_unwind_table *table, uint64_t pc) {
    struct header header;
    if (!bp_safe_range(safe, table->header, sizeof header))
        return 0;
    __builtin_memcpy(&header, (const void *)table->header, sizeof header);
    if (header.version != 1 || header.table_encoding != ENCODING_TABLE ||
        header.frame_encoding == ENCODING_OMIT || (header.frame_encoding & 7) != 3 ||
        header.count_encoding != 3 || header.count == 0)
        return 0;
    const struct table_entry *entries = (const void *)(table->header + sizeof header);
    int64_t wanted = (int64_t)(pc - table->header);
    uint32_t low = 0, high = header.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (!bp_safe_range(safe, (uint64_t)&entries[middle], sizeof *entries))
            return 0;
        if (entries[middle].start <= wanted)
            low = middle;
        else
            high = middle;
    }
    if (!bp_safe_range(safe, (uint64_t)&entries[low], sizeof *entries) ||
        entries[low].start > wanted)
        return 0;
    return table->header + (uint64_t)(int64_t)entries[low].description;
}

int bp_description_find(struct bp_description *description, struct bp_safe *safe, uint64_t pc) {
    const struct bp_unwind_table *table = bp_tables_find(pc);
    uint64_t address = table ? search(safe, table, pc) : 0;
    *description = (struct bp_description){.start = 0};
    return address && read(description, safe, address) && pc >= description->start &&
           pc < description->end;
}
