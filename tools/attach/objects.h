/* SPDX-License-Identifier: MIT
 *
 * The files that a process has mapped as code: who is the loader, who the C library, where their
 * functions are and where there is room behind the code. Read from /proc and from the files
 * themselves, without stopping the process.
 */
#ifndef BP_TOOLS_ATTACH_OBJECTS_H
#define BP_TOOLS_ATTACH_OBJECTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/base/error.h"

/* libdw's; frames.c alone knows more of it. */
typedef struct Dwarf_CFI_s Dwarf_CFI;

enum bp_object_role {
    BP_OBJECT_OTHER,
    BP_OBJECT_LOADER,    /* ld-linux */
    BP_OBJECT_C_LIBRARY, /* libc, and libpthread and libdl where they are apart */
    BP_OBJECT_ALLOCATOR, /* another one that has a malloc */
};

struct bp_attach_object {
    char *path;         /* as the process sees it */
    uint64_t low, high; /* all of its mappings */
    uint64_t first_end; /* of the first one */
    uint64_t base;      /* address - base is that in the file */
    uint64_t code_end;  /* what follows on the last page of the code is nobody's */
    uint64_t room;      /* bytes there */
    uint64_t entry;     /* where it starts, of a program; else 0 */
    enum bp_object_role role;
    bool main; /* the program itself */
    int fd;
    Elf *elf; /* NULL if the file cannot be read */
    Dwarf_CFI *cfi;
    bool no_cfi;
};

struct bp_objects {
    pid_t pid;
    struct bp_attach_object *rows;
    uint32_t count;
    bool musl; /* it is not linked with glibc */
};

/* 0, or -1 with the error set: the process is gone, or its files cannot be read. */
int bp_objects_init(struct bp_objects *objects, pid_t pid, struct bp_error *error);
void bp_objects_fini(struct bp_objects *objects);

/* NULL if no file is mapped there. */
struct bp_attach_object *bp_objects_at(const struct bp_objects *objects, uint64_t address);

/* The address of an exported function of the loader and the C library; 0 if there is none. */
uint64_t bp_objects_function(const struct bp_objects *objects, const char *name);

/* Calls `visit` for every function that an object exports, with its bounds in the process. */
void bp_objects_visit(const struct bp_attach_object *object,
                      void (*visit)(void *context, const char *name, uint64_t low, uint64_t high),
                      void *context);

/* Where the function that begins at `address`, and need not be exported, ends at the latest; 0 if
 * none begins there. */
uint64_t bp_objects_function_end(const struct bp_attach_object *object, uint64_t address);

const uint8_t *bp_objects_code(const struct bp_attach_object *object, uint64_t low, uint64_t high);

/* An address with room for `size` bytes behind some code; 0 if there is none. */
uint64_t bp_objects_room(const struct bp_objects *objects, size_t size);

#endif
