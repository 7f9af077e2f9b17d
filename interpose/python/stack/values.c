/* SPDX-License-Identifier: MIT */
#include "interpose/python/stack/values.h"

#define TYPE_NAME 24   /* PyTypeObject.tp_name */
#define CODE_SIZE 144  /* enough of a code object in every version */
#define DICT_SIZE 48   /* PyDictObject */
#define FIRST_KEYS 32  /* __name__ is the first key of a module, or near it */
#define LARGEST_LOG 40 /* of a table: more makes no sense */

static struct { uint64_t code_type, text_type, dict_type; /* once met */ } state;

static int same_text(struct bp_safe *safe, uint64_t address, const char *text) {
    for (uint64_t i = 0;; i++) {
        if (!bp_safe_range(safe, address + i, 1) || *(const char *)(address + i) != text[i])
            return 0;
        if (!text[i])
            return 1;
    }
}

/* An object of the type called `name`; the type is recognised by its address. */
static int is_a(struct bp_safe *safe, uint64_t object, uint64_t size, const char *name,
                uint64_t *type) {
    uint64_t seen, called;
    if (object & 7 || !bp_safe_range(safe, object, size))
        return 0;
    seen = bp_py_value_word(object, BP_LAYOUT_TYPE);
    if (seen == __atomic_load_n(type, __ATOMIC_RELAXED))
        return 1;
    if (*type || !bp_safe_load(safe, seen + TYPE_NAME, &called) || !same_text(safe, called, name))
        return 0;
    __atomic_store_n(type, seen, __ATOMIC_RELAXED);
    return 1;
}

int bp_py_value_is_code(struct bp_safe *safe, uint64_t object) {
    return is_a(safe, object, CODE_SIZE, "code", &state.code_type);
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

int bp_py_value_text(const struct bp_layout *layout, struct bp_safe *safe, uint64_t object,
                     char *to, size_t size) {
    if (!is_a(safe, object, layout->wide, "str", &state.text_type))
        return 0;
    uint32_t bits = *(const uint32_t *)(object + BP_LAYOUT_TEXT_STATE);
    uint32_t kind = bits >> 2 & 7, compact = bits >> 5 & 1, ascii = bits >> 6 & 1;
    uint64_t length = bp_py_value_word(object, BP_LAYOUT_SIZE), used = 0;
    uint64_t data = object + (ascii ? layout->ascii : layout->wide);
    if (!compact || (kind != 1 && kind != 2 && kind != 4) || length > 1 << 20)
        return 0;
    length = length < size ? length : size;
    if (!bp_safe_range(safe, data, length * kind + 1))
        return 0;
    for (uint64_t i = 0; i < length && used + 5 < size; i++) {
        uint32_t c = 0;
        __builtin_memcpy(&c, (const void *)(data + i * kind), kind);
        used += encode(c, to + used);
    }
    to[used] = '\0';
    return 1;
}

/* A dictionary's table of keys: where its entries are, how many, and how long each is. */
struct keys {
    uint64_t entries, count;
    unsigned size; /* {hash, key, value}, or since 3.11, where all keys are texts, {key, value} */
};

/* {references, size, lookup, usable, entries; indices}, of as many bytes each as they need. */
static int read_keys(struct bp_safe *safe, uint64_t at, struct keys *keys) {
    if (!bp_safe_range(safe, at, 40))
        return 0;
    uint64_t size = bp_py_value_word(at, 8);
    unsigned width = size <= 0xff ? 1 : size <= 0xffff ? 2 : size <= 0xffffffff ? 4 : 8;
    *keys = (struct keys){at + 40 + size * width, bp_py_value_word(at, 32), 24};
    return size >> LARGEST_LOG == 0;
}

/* Since 3.11: {references, log2 of the size, log2 of the indices' bytes, kind, …; indices}. */
static int read_keys_311(struct bp_safe *safe, uint64_t at, struct keys *keys) {
    if (!bp_safe_range(safe, at, 32))
        return 0;
    const uint8_t *bytes = (const uint8_t *)at;
    *keys = (struct keys){at + 32 + (UINT64_C(1) << (bytes[9] & 63)), bp_py_value_word(at, 24),
                          bytes[10] ? 16 : 24};
    return bytes[9] < LARGEST_LOG;
}

int bp_py_value_module(const struct bp_layout *layout, struct bp_safe *safe, uint64_t globals,
                       char *to, size_t size) {
    struct keys keys;
    char key[16];
    if (!is_a(safe, globals, DICT_SIZE, "dict", &state.dict_type) ||
        bp_py_value_word(globals, BP_LAYOUT_DICT_SPLIT))
        return 0;
    uint64_t table = bp_py_value_word(globals, BP_LAYOUT_DICT_KEYS);
    if (!(layout->minor >= 11 ? read_keys_311(safe, table, &keys) : read_keys(safe, table, &keys)))
        return 0;
    for (uint64_t i = 0; i < keys.count && i < FIRST_KEYS; i++) {
        uint64_t entry = keys.entries + i * keys.size + (keys.size == 24 ? 8 : 0);
        if (!bp_safe_range(safe, entry, 16))
            return 0;
        if (bp_py_value_text(layout, safe, bp_py_value_word(entry, 0), key, sizeof key) &&
            __builtin_strcmp(key, "__name__") == 0)
            return bp_py_value_text(layout, safe, bp_py_value_word(entry, 8), to, size);
    }
    return 0;
}
