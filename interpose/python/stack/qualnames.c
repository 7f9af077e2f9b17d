/* SPDX-License-Identifier: MIT
 *
 * One writer at a time, the GIL's holder. A table that has become too small is left behind, for a
 * handler may be reading it: all of them together are no larger than the last one.
 */
#include "interpose/python/stack/qualnames.h"

#include <string.h>

#include "interpose/ledger/thread.h"

#define FIRST_SLOTS 1024
#define LARGEST (1u << 20)    /* slots: functions beyond half of that keep their plain names */
#define TEXT_SIZE (64u << 10) /* of prefixes, taken at a time */

struct slot {
    uint64_t key; /* 0: free; written last */
    const char *prefix;
};

struct table {
    uint64_t mask;
    struct slot slots[];
};

static struct {
    struct table *table;
    uint64_t used;
    char *text;
    size_t text_left;
} state;

static uint64_t mix(uint64_t hash, const char *text) {
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t bp_py_qualnames_file(const char *file) {
    return mix(UINT64_C(0xcbf29ce484222325), file);
}

uint64_t bp_py_qualnames_key(uint64_t file, uint32_t line, const char *plain) {
    uint64_t hash = mix((file ^ line) * UINT64_C(0x9e3779b97f4a7c15), plain);
    return hash ? hash : 1;
}

const char *bp_py_qualnames_keep(const char *a, const char *b) {
    size_t length = strlen(a), more = strlen(b) + 1;
    if (length + more > TEXT_SIZE)
        return NULL;
    if (length + more > state.text_left) {
        state.text = bp_pages_new(TEXT_SIZE);
        state.text_left = state.text ? TEXT_SIZE : 0;
    }
    if (!state.text_left)
        return NULL;
    char *text = state.text;
    memcpy(text, a, length);
    memcpy(text + length, b, more);
    state.text += length + more;
    state.text_left -= length + more;
    return text;
}

static struct slot *slot_of(struct table *table, uint64_t key) {
    uint64_t i = key >> 20 & table->mask;
    while (table->slots[i].key && table->slots[i].key != key)
        i = (i + 1) & table->mask;
    return &table->slots[i];
}

static int grow(void) {
    uint64_t size = state.table ? 2 * (state.table->mask + 1) : FIRST_SLOTS;
    struct table *table =
        size <= LARGEST ? bp_pages_new(sizeof *table + size * sizeof *table->slots) : NULL;
    if (!table)
        return 0;
    table->mask = size - 1;
    for (uint64_t i = 0; state.table && i <= state.table->mask; i++)
        if (state.table->slots[i].key)
            *slot_of(table, state.table->slots[i].key) = state.table->slots[i];
    __atomic_store_n(&state.table, table, __ATOMIC_RELEASE);
    return 1;
}

void bp_py_qualnames_note(uint64_t key, const char *prefix) {
    if ((!state.table || state.used > state.table->mask / 2) && !grow())
        return;
    struct slot *slot = slot_of(state.table, key);
    state.used += !slot->key;
    __atomic_store_n(&slot->prefix, prefix, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
}

const char *bp_py_qualnames_get(uint64_t key) {
    struct table *table = __atomic_load_n(&state.table, __ATOMIC_ACQUIRE);
    const struct slot *slot = table ? slot_of(table, key) : NULL;
    return slot && slot->key ? slot->prefix : "";
}
