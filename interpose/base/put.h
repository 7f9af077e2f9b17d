/* SPDX-License-Identifier: MIT
 *
 * Texts without printf, which would bring eight pages of libc and of the stack into every start and
 * every forked child. Each appends to the `used` bytes that `to` has, as far as there is room, and
 * returns how many it has then; a zero byte follows.
 */
#ifndef BP_INTERPOSE_BASE_PUT_H
#define BP_INTERPOSE_BASE_PUT_H

#include <stddef.h>
#include <stdint.h>

/* At most the first `length` bytes of `text`. */
static inline size_t bp_put_part(char *to, size_t size, size_t used, const char *text,
                                 size_t length) {
    for (; length && *text && used + 1 < size; length--)
        to[used++] = *text++;
    to[used] = '\0';
    return used;
}

static inline size_t bp_put_text(char *to, size_t size, size_t used, const char *text) {
    return bp_put_part(to, size, used, text, SIZE_MAX);
}

static inline size_t bp_put_number(char *to, size_t size, size_t used, uint32_t number) {
    char digits[] = "4294967295", *at = digits + sizeof digits - 1;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    return bp_put_text(to, size, used, at);
}

#endif
