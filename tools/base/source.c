/* SPDX-License-Identifier: MIT */
#include "tools/base/source.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"

/* Bytes: more is not written by hand, and a profile may name any file. */
#define LARGEST (16 << 20)

struct file {
    char *text;
    char **lines; /* within the text, ended by zero bytes */
    uint32_t count;
};

struct bp_sources {
    uint64_t began_ns;
    struct bp_keys table; /* by path */
    struct file *files;
};

struct bp_sources *bp_sources_new(uint64_t began_ns) {
    struct bp_sources *sources = bp_alloc(1, sizeof(*sources));
    sources->began_ns = began_ns;
    return sources;
}

void bp_sources_free(struct bp_sources *sources) {
    if (!sources)
        return;
    for (uint32_t i = 0; i < sources->table.count; i++) {
        free(sources->files[i].text);
        free(sources->files[i].lines);
    }
    free(sources->files);
    bp_keys_fini(&sources->table);
    free(sources);
}

static bool is_unchanged(const struct bp_sources *sources, const struct stat *status) {
    uint64_t changed_ns =
        (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;
    return sources->began_ns == 0 || changed_ns <= sources->began_ns;
}

/* A new text, or NULL. A pipe must not hold up the report. */
static char *read_text(const struct bp_sources *sources, const char *path) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    char *text = NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= LARGEST &&
        is_unchanged(sources, &status)) {
        text = bp_alloc((size_t)status.st_size + 1, 1);
        ssize_t size = read(fd, text, (size_t)status.st_size);
        text[size > 0 ? size : 0] = 0;
    }
    close(fd);
    return text;
}

/* One line of it, as it is shown: what a terminal would obey becomes a space. */
static char *trim(char *line) {
    for (char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    line += strspn(line, " ");
    for (char *end = line + strlen(line); end > line && end[-1] == ' ';)
        *--end = 0;
    return line;
}

static void split(struct file *file) {
    for (char *at = file->text; at && *at;) {
        char *next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        *BP_APPEND(file->lines, file->count) = trim(at);
        at = next;
    }
}

/* NULL if it has no name. */
static const struct file *find_file(struct bp_sources *sources, const char *directory,
                                    const char *name) {
    bool joined = name[0] != '/' && directory[0];
    if (!name[0] || name[0] == '<') /* <frozen …>, <string> */
        return NULL;
    char *path = bp_make_text("%s%s%s", joined ? directory : "", joined ? "/" : "", name);
    uint32_t before = sources->table.count;
    uint32_t number = bp_keys_put(&sources->table, path, strlen(path));
    if (number == before) {
        struct file *fresh = BP_PLACE(sources->files, number);
        fresh->text = read_text(sources, path);
        split(fresh);
    }
    free(path);
    return &sources->files[number];
}

const char *bp_sources_line(struct bp_sources *sources, const char *directory, const char *name,
                            uint32_t line) {
    const struct file *file = find_file(sources, directory, name);
    return file && line > 0 && line <= file->count && file->lines[line - 1][0]
               ? file->lines[line - 1]
               : NULL;
}

uint32_t bp_sources_indent(struct bp_sources *sources, const char *directory, const char *name,
                           uint32_t line) {
    const char *text = bp_sources_line(sources, directory, name, line);
    const char *begin = text;
    if (!text)
        return 0;
    const struct file *file = find_file(sources, directory, name);
    while (begin > file->text && begin[-1] == ' ')
        begin--;
    return (uint32_t)(text - begin);
}
