/* SPDX-License-Identifier: MIT
 *
 * Texts that the program has, for ids of tasks and inputs of code generation. An argument of a
 * native function may be anything: memory is read by the kernel, which fails where there is none.
 * Runs below stubs and is built as thread.c is.
 */
#include <sys/uio.h>

#include "interpose/ledger/task.h"

#define LONGEST_INPUT 65536
#define SHORTEST_INPUT 16 /* of several lines: less may be a number or an address */
#define PIECE 256         /* of an input, on whatever stack the program has */
#define HEAD 40           /* bytes of a long input that are shown */

/* Two pieces, so that a text at the end of a mapping can be read. */
static long read_memory(uint64_t address, char *to, uint64_t size) {
    uint64_t left = BP_PAGE - address % BP_PAGE, first = left < size ? left : size;
    struct iovec own = {to, size};
    struct iovec there[2] = {{(void *)address, first}, {(void *)(address + first), size - first}};
    return BP_SYS6(SYS_process_vm_readv, bp_process.pid, &own, 1, there, first < size ? 2 : 1, 0);
}

/* Bytes of the UTF-8 character that begins there; 0: it is none, or none that is printed. */
static unsigned character(const char *text, long left) {
    unsigned char first = (unsigned char)text[0];
    unsigned length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < ' ' || first == 0x7f || first > 0xf4 || length > left)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* The bytes of an address look like a text of up to six letters. */
static int is_address(const char *text) {
    uint64_t value = 0;
    char byte;
    for (unsigned i = 8; i-- > 0;)
        value = value << 8 | (unsigned char)text[i];
    return value >= BP_PAGE && value >> 48 == 0 && read_memory(value, &byte, 1) == 1;
}

int bp_task_read_text(uint64_t address, char text[BP_TASK_TEXT], int sure) {
    long got = address >= BP_PAGE ? read_memory(address, text, BP_TASK_TEXT - 1) : 0;
    long length = 0;
    unsigned next;
    while (length < got && text[length] && (next = character(text + length, got - length)))
        length += next;
    int whole = length < got && text[length] == '\0';
    int cut = got == BP_TASK_TEXT - 1 && length > got - 4;
    if (length <= 0 || !(whole || (sure && cut)) || (!sure && got >= 8 && is_address(text)))
        return 0;
    text[length] = '\0';
    return 1;
}

void bp_task_print_number(char *text, uint64_t value) {
    char digits[24];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count > 0)
        *text++ = digits[--count];
    *text = '\0';
}

uint64_t bp_task_hash(uint64_t hash, const char *bytes, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void bp_task_print_input(char text[BP_TASK_TEXT], const char *bytes, uint64_t size, uint64_t hash) {
    unsigned length = 0;
    while (length < size && length < HEAD && bytes[length] >= ' ' && bytes[length] < 0x7f) {
        text[length] = bytes[length];
        length++;
    }
    for (const char *dots = "... #"; *dots; dots++)
        text[length++] = *dots;
    for (int shift = 60; shift >= 0; shift -= 4)
        text[length++] = "0123456789abcdef"[hash >> shift & 15];
    text[length] = '\0';
}

static int is_text(char byte) {
    return byte >= ' ' ? byte != 0x7f : byte < 0 || (byte >= '\t' && byte <= '\r');
}

/* The longest piece that does not go beyond a page: the next one may not be there. */
static long read_piece(uint64_t address, char piece[PIECE]) {
    uint64_t left = BP_PAGE - address % BP_PAGE;
    return read_memory(address, piece, left < PIECE ? left : PIECE);
}

int bp_task_read_input(uint64_t address, char text[BP_TASK_TEXT]) {
    char piece[PIECE], head[HEAD];
    uint64_t hash = BP_TASK_HASH, size = 0;
    if (bp_task_read_text(address, text, 0))
        return 1;
    while (address >= BP_PAGE && size < LONGEST_INPUT) {
        long got = read_piece(address + size, piece);
        for (long i = 0; i < got; i++, size++) {
            if (piece[i] == '\0' && size >= SHORTEST_INPUT) {
                bp_task_print_input(text, head, size < HEAD ? size : HEAD, hash);
                return 1;
            }
            if (!is_text(piece[i]))
                return 0;
            if (size < HEAD)
                head[size] = piece[i];
            hash = bp_task_hash(hash, &piece[i], 1);
        }
        if (got <= 0)
            return 0;
    }
    return 0;
}
