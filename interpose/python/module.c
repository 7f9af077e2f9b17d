/* SPDX-License-Identifier: MIT
 *
 * Both tables only grow, one writer at a time (the GIL), and an item is complete before it is
 * counted: a signal handler may read at any instant.
 */
#include "interpose/python/module.h"

#include <stdint.h>
#include <string.h>

#define MAINS 4
#define CELLS 1024 /* of a notebook; further ones are In[?] */
#define FILE_SIZE 512
#define NUMBER_SIZE 12

struct main_file {
    char file[FILE_SIZE];
    char name[BP_MODULE_NAME];
};

struct cell {
    uint64_t file; /* hash */
    unsigned number;
};

static struct {
    struct main_file mains[MAINS];
    unsigned main_count;
    struct cell cells[CELLS];
    unsigned cell_count;
} state;

static uint64_t hash_of(const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    return hash;
}

/* As much of it as there is room for; what is used then. */
static size_t add(char *name, size_t used, const char *text, size_t length) {
    if (length > BP_MODULE_NAME - 1 - used)
        length = BP_MODULE_NAME - 1 - used;
    memcpy(name + used, text, length);
    name[used + length] = '\0';
    return used + length;
}

/* Is it __main__, or what multiprocessing makes of it in a child? */
static int is_main_name(const char *given) {
    return strcmp(given, "__main__") == 0 || strcmp(given, "__mp_main__") == 0;
}

/* <ipython-input-7-1f0a…>, or /tmp/ipykernel_123/1548148056.py. */
int bp_module_is_cell(const char *file) {
    return strncmp(file, "<ipython-input-", 15) == 0 || strstr(file, "/ipykernel_") != NULL;
}

void bp_module_note_main(const char *file, const char *name) {
    if (state.main_count == MAINS || strlen(file) >= FILE_SIZE || strlen(name) >= BP_MODULE_NAME)
        return;
    for (unsigned i = 0; i < state.main_count; i++)
        if (strcmp(state.mains[i].file, file) == 0)
            return;
    strcpy(state.mains[state.main_count].file, file);
    strcpy(state.mains[state.main_count].name, name);
    __atomic_store_n(&state.main_count, state.main_count + 1, __ATOMIC_RELEASE);
}

void bp_module_note_cell(const char *file, unsigned number) {
    uint64_t hash = hash_of(file);
    for (unsigned i = 0; i < state.cell_count; i++)
        if (state.cells[i].file == hash)
            return; /* run again it is still what it was */
    if (state.cell_count == CELLS)
        return;
    state.cells[state.cell_count] = (struct cell){hash, number};
    __atomic_store_n(&state.cell_count, state.cell_count + 1, __ATOMIC_RELEASE);
}

static unsigned cell_number(const char *file) {
    unsigned number = 0, count = __atomic_load_n(&state.cell_count, __ATOMIC_ACQUIRE);
    if (*file == '<') { /* IPython's own names have it */
        for (const char *c = file + 15; *c >= '0' && *c <= '9' && number < 100000000; c++)
            number = 10 * number + (unsigned)(*c - '0');
        return number;
    }
    uint64_t hash = hash_of(file);
    for (unsigned i = 0; i < count; i++)
        if (state.cells[i].file == hash)
            return state.cells[i].number;
    return 0;
}

static void name_cell(const char *file, char *name) {
    char digits[NUMBER_SIZE];
    unsigned number = cell_number(file), at = NUMBER_SIZE;
    size_t used = add(name, 0, "In[", 3);
    if (!number)
        digits[--at] = '?';
    for (; number && at; number /= 10)
        digits[--at] = (char)('0' + number % 10);
    used = add(name, used, digits + at, NUMBER_SIZE - at);
    add(name, used, "]", 1);
}

/* The file's name without .py; __main__.py is one of many: with its folder. */
static void name_by_file(const char *file, char *name) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *folder = file;
    size_t length = strlen(base), used = 0;
    if (length > 3 && strcmp(base + length - 3, ".py") == 0)
        length -= 3;
    if (slash && length == 8 && strncmp(base, "__main__", 8) == 0) {
        for (const char *c = file; c < slash; c++)
            if (*c == '/')
                folder = c + 1;
        used = add(name, 0, folder, (size_t)(slash - folder));
        used = add(name, used, ".", 1);
    }
    add(name, used, base, length);
}

static const char *imported_name(const char *file) {
    unsigned count = __atomic_load_n(&state.main_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(state.mains[i].file, file) == 0)
            return state.mains[i].name;
    return NULL;
}

/* Where a file's name within its package begins: behind the last folder that programs import from,
 * or at its own name. */
static const char *start_of(const char *file) {
    const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file;
    for (const char *c = file; (c = strchr(c, '/')) != NULL; c++) {
        const char *folder = c;
        while (folder > file && folder[-1] != '/')
            folder--;
        size_t length = (size_t)(c - folder);
        if ((length >= 9 && strncmp(c - 9, "-packages", 9) == 0) ||
            (length >= 8 && strncmp(folder, "python3.", 8) == 0))
            start = c + 1;
    }
    return start;
}

/* As far as the file tells it: json.decoder for …/python3.11/json/decoder.py. */
static void guess(const char *file, char *name) {
    const char *start = start_of(file), *end = file + strlen(file);
    if (strncmp(file, "<frozen ", 8) == 0) { /* <frozen importlib._bootstrap> */
        start = file + 8;
        end -= end > start;
    } else if (end - start > 3 && strcmp(end - 3, ".py") == 0) {
        end -= 3;
    }
    if (end - start > 9 && strncmp(end - 9, "/__init__", 9) == 0)
        end -= 9;
    add(name, 0, start, (size_t)(end - start));
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '.';
}

int bp_module_name(const char *given, const char *file, char name[BP_MODULE_NAME]) {
    int is_main = is_main_name(given);
    const char *imported = is_main ? imported_name(file) : NULL;
    if (bp_module_is_cell(file)) {
        name_cell(file, name);
        return 1;
    }
    if (imported)
        add(name, 0, imported, strlen(imported));
    else if (is_main && *file && *file != '<')
        name_by_file(file, name);
    else if (is_main)
        add(name, 0, "__main__", 8);
    else if (*given && strncmp(file, "<frozen ", 8) != 0) /* importlib's changes */
        add(name, 0, given, strlen(given));
    else
        guess(file, name);
    return is_main;
}
