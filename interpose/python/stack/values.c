/* SPDX-License-Identifier: MIT */
#include "interpose/python/stack/values.h"

#define TYPE_NAME 24   /* PyTypeObject.tp_name */
#define CODE_SIZE 144  /* enough of a code object in every version */
#define DICT_SIZE 48   /* PyDictObject */
#define FIRST_KEYS 32  /* __name__ is the first key of a module, or near it */
#define LARGEST_LOG 40 /* of a table: more makes no sense */
#define TEXT_SIZE 40   /* of a text, what says how long it is and of which kind */
#define LONGEST 256    /* characters of a text that is copied: a module's name */

/* Room for a text that another thread may free while it is read. */
struct room {
    uint64_t head[TEXT_SIZE / 8];
    char characters[4 * LONGEST];
};

static struct { uint64_t code_type, text_type, dict_type; /* once met */ } state;

/* Bytes to be read: where they are, or a copy if there is room for one. NULL if unreadable. */
static const char *view(struct bp_safe *safe, uint64_t address, uint64_t size, void *copy) {
    if (copy)
        return bp_safe_copy(safe, address, copy, size) ? copy : NULL;
    return bp_safe_range(safe, address, size) ? (const char *)address : NULL;
}

static uint64_t word_of(const char *bytes, unsigned offset) {
    return bp_py_value_word((uint64_t)bytes, offset);
}

static int same_text(struct bp_safe *safe, uint64_t address, const char *text) {
    char c;
    for (uint64_t i = 0;; i++) {
        if (!bp_safe_copy(safe, address + i, &c, 1) || c != text[i])
            return 0;
        if (!c)
            return 1;
    }
}

/* Whether a type is the one called `name`; once met it is recognised by its address. */
static int is_type(struct bp_safe *safe, uint64_t seen, const char *name, uint64_t *type) {
    uint64_t called;
    if (seen == __atomic_load_n(type, __ATOMIC_RELAXED))
        return 1;
    if (*type || !bp_safe_copy(safe, seen + TYPE_NAME, &called, sizeof called) ||
        !same_text(safe, called, name))
        return 0;
    __atomic_store_n(type, seen, __ATOMIC_RELAXED);
    return 1;
}

/* An object of that type, or a copy of it. */
static const char *object_of(struct bp_safe *safe, uint64_t object, uint64_t size, const char *name,
                             uint64_t *type, void *copy) {
    const char *bytes = object & 7 ? NULL : view(safe, object, size, copy);
    return bytes && is_type(safe, word_of(bytes, BP_LAYOUT_TYPE), name, type) ? bytes : NULL;
}

int bp_py_value_is_code(struct bp_safe *safe, uint64_t object) {
    return object_of(safe, object, CODE_SIZE, "code", &state.code_type, NULL) != NULL;
}

/* UTF-8 of one character; the number of bytes. */
static unsigned encode(uint32_t c, char *to) {
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800)
        return to[0] = (char)(0xc0 | c >> 6), to[1] = (char)(0x80 | (c & 0x3f)), 2;
    unsigned n = c < 0x10000 ? 3 : 4;
    for (unsigned i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((n == 3 ? 0xe0 : 0xf0) | c);
    return n;
}

/* With `room` for it a copy is read; `size` is then at most LONGEST. */
static int read_text(const struct bp_layout *layout, struct bp_safe *safe, uint64_t object,
                     char *to, size_t size, struct room *room) {
    const char *head =
        object_of(safe, object, TEXT_SIZE, "str", &state.text_type, room ? room->head : NULL);
    if (!head)
        return 0;
    uint32_t bits = (uint32_t)word_of(head, BP_LAYOUT_TEXT_STATE);
    uint32_t kind = bits >> 2 & 7, compact = bits >> 5 & 1, ascii = bits >> 6 & 1;
    uint64_t length = word_of(head, BP_LAYOUT_SIZE), used = 0;
    uint64_t data = object + (ascii ? layout->ascii : layout->wide);
    if (!compact || (kind != 1 && kind != 2 && kind != 4) || length > 1 << 20)
        return 0;
    length = length < size ? length : size;
    const char *characters = view(safe, data, length * kind, room ? room->characters : NULL);
    if (!characters)
        return 0;
    for (uint64_t i = 0; i < length && used + 5 < size; i++) {
        uint32_t c = 0;
        __builtin_memcpy(&c, characters + i * kind, kind);
        used += encode(c, to + used);
    }
    to[used] = '\0';
    return 1;
}

int bp_py_value_text(const struct bp_layout *layout, struct bp_safe *safe, uint64_t object,
                     char *to, size_t size) {
    return read_text(layout, safe, object, to, size, NULL);
}

/* A dictionary's table of keys: where its entries are, how many, and how long each is. */
struct keys {
    uint64_t entries, count;
    unsigned size; /* {hash, key, value}, or since 3.11, where all keys are texts, {key, value} */
};

/* {references, size, lookup, usable, entries; indices}, of as many bytes each as they need. */
static int read_keys(struct bp_safe *safe, uint64_t at, struct keys *keys) {
    uint64_t head[5];
    if (!bp_safe_copy(safe, at, head, sizeof head))
        return 0;
    uint64_t size = head[1];
    unsigned width = size <= 0xff ? 1 : size <= 0xffff ? 2 : size <= 0xffffffff ? 4 : 8;
    *keys = (struct keys){at + sizeof head + size * width, head[4], 24};
    return size >> LARGEST_LOG == 0;
}

/* Since 3.11: {references, log2 of the size, log2 of the indices' bytes, kind, …; indices}. */
static int read_keys_311(struct bp_safe *safe, uint64_t at, struct keys *keys) {
    uint64_t head[4];
    if (!bp_safe_copy(safe, at, head, sizeof head))
        return 0;
    const uint8_t *bytes = (const uint8_t *)head;
    *keys = (struct keys){at + sizeof head + (UINT64_C(1) << (bytes[9] & 63)), head[3],
                          bytes[10] ? 16 : 24};
    return bytes[9] < LARGEST_LOG;
}

/* All is copied: another thread may enlarge the dictionary and so free its table of keys, or give
 * the module another name. */
int bp_py_value_module(const struct bp_layout *layout, struct bp_safe *safe, uint64_t globals,
                       char *to, size_t size) {
    struct keys keys;
    struct room room;
    uint64_t dict[DICT_SIZE / 8], entries[FIRST_KEYS * 3];
    char key[16];
    if (!object_of(safe, globals, DICT_SIZE, "dict", &state.dict_type, dict) ||
        dict[BP_LAYOUT_DICT_SPLIT / 8])
        return 0;
    uint64_t table = dict[BP_LAYOUT_DICT_KEYS / 8];
    if (!(layout->minor >= 11 ? read_keys_311(safe, table, &keys) : read_keys(safe, table, &keys)))
        return 0;
    uint64_t count = keys.count < FIRST_KEYS ? keys.count : FIRST_KEYS;
    if (!bp_safe_copy(safe, keys.entries, entries, count * keys.size))
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t *entry = &entries[i * keys.size / 8 + (keys.size == 24)];
        if (read_text(layout, safe, entry[0], key, sizeof key, &room) &&
            __builtin_strcmp(key, "__name__") == 0)
            return read_text(layout, safe, entry[1], to, size < LONGEST ? size : LONGEST, &room);
    }
    return 0;
}
