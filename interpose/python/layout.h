/* SPDX-License-Identifier: MIT
 *
 * Where things are in CPython's structures, by minor version; offsets in bytes. tests/python
 * compares them with the headers of the interpreters it finds.
 */
#ifndef BP_INTERPOSE_PYTHON_LAYOUT_H
#define BP_INTERPOSE_PYTHON_LAYOUT_H

#include <stdint.h>

enum bp_layout_place {
    BP_PLACE_BYTES,  /* int: offset of the last instruction in bytes */
    BP_PLACE_WORDS,  /* int: the same in units of two bytes */
    BP_PLACE_POINTER /* address of the instruction */
};

enum bp_layout_lines {
    BP_LINES_NOTAB, /* 3.8, 3.9: pairs (bytes, lines) */
    BP_LINES_TABLE, /* 3.10: the same, lines of a range first */
    BP_LINES_SPANS  /* 3.11 and later: variable length */
};

struct bp_layout {
    int minor;
    /* PyThreadState: the innermost frame, or a structure that has it at `indirect`. */
    uint16_t current;
    int16_t indirect; /* -1: none */
    /* A frame. */
    uint16_t previous, code, instruction, globals;
    uint16_t owner; /* 0: every frame has a call of its own in C */
    uint8_t entry;  /* what `owner` holds in a frame that C code has called: 3.11; or at least, in
                       the frame that stands between it and its caller: 3.12 */
    uint8_t tags;   /* bits of `code` that are no address */
    uint8_t place;  /* enum bp_layout_place */
    uint8_t lines;  /* enum bp_layout_lines */
    /* PyCodeObject. */
    uint16_t filename, name, qualname, line, table, instructions;
    uint16_t constants, flags;
    uint16_t tuple; /* the items of a tuple */
    /* JUMP_BACKWARD, where a loop within a line has no line event: 3.12 and later; else 0. */
    uint8_t jump_back;
    uint8_t jump_caches;  /* code units that follow it */
    uint8_t extended_arg; /* EXTENDED_ARG, before a longer jump */
    /* PyUnicodeObject: where the characters are, ASCII or not. */
    uint16_t ascii, wide;
};

/* Offsets that are equal in all versions. */
#define BP_LAYOUT_TYPE 8        /* of an object */
#define BP_LAYOUT_SIZE 16       /* of a bytes object, and of a text in characters */
#define BP_LAYOUT_BYTES 32      /* of a bytes object */
#define BP_LAYOUT_TEXT_HASH 24  /* -1 until somebody asks */
#define BP_LAYOUT_TEXT_STATE 32 /* bits: kind 2..4, compact 5, ASCII 6 */
#define BP_LAYOUT_DICT_KEYS 32  /* of a dictionary: its table of keys */
#define BP_LAYOUT_DICT_SPLIT 40 /* values, if they are not in that table; else 0 */

/* The newest minor version that has a layout. */
#define BP_LAYOUT_NEWEST 15

/* x of "3.x.y (main, …", what Py_GetVersion says; 0 for anything else. */
int bp_layout_minor(const char *version);

/* That of such a version; NULL: battprof does not know it. */
const struct bp_layout *bp_layout_find(const char *version);

#endif
