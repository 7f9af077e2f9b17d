/* SPDX-License-Identifier: MIT
 *
 * Opens a profile, judges its header, and puts the parts together. Uses read, not mmap: a file that
 * someone cuts while it is read must give a sentence, not SIGBUS. Nodes are read before functions
 * and these before strings, the reverse of the order in which a running target publishes them.
 */
#include "profile/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/reader_internal.h"

static const char unknown_name[] = "(unknown)";

__attribute__((format(printf, 3, 4))) static int fail(struct bp_read_error *error, int code,
                                                      const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return code;
}

void bp_reader_clean(char *text, size_t size) {
    text[size - 1] = 0;
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

static void clean_header(struct bp_header *header) {
    bp_reader_clean(header->reason, sizeof(header->reason));
    bp_reader_clean(header->executable, sizeof(header->executable));
    bp_reader_clean(header->command, sizeof(header->command));
    bp_reader_clean(header->directory, sizeof(header->directory));
    bp_reader_clean(header->tree, sizeof(header->tree));
    bp_reader_clean(header->host, sizeof(header->host));
    bp_reader_clean(header->boot_id, sizeof(header->boot_id));
    bp_reader_clean(header->version, sizeof(header->version));
    bp_reader_clean(header->hooks, sizeof(header->hooks));
}

static int check_kind(const struct bp_header *header, uint64_t got, struct bp_read_error *error) {
    if (got == 0)
        return fail(error, -ENOMSG, "empty file, not a profile");
    if (got < sizeof(header->magic) || memcmp(header->magic, BP_MAGIC, sizeof(header->magic)) != 0)
        return fail(error, -ENOMSG, "not a battprof profile");
    if (got < sizeof(*header))
        return fail(error, -EBADMSG, "truncated at %llu of %u bytes; the header is not complete",
                    (unsigned long long)got, BP_PAGE);
    if (header->byte_order == __builtin_bswap32(BP_BYTE_ORDER))
        return fail(error, -EPROTO, "written on a machine of the other byte order");
    if (header->major > BP_MAJOR)
        return fail(error, -EPROTO,
                    "written by battprof format %u, this one reads %u: update battprof",
                    header->major, BP_MAJOR);
    return 0;
}

static int check_header(struct bp_header *header, uint64_t got, struct bp_read_error *error) {
    int result = check_kind(header, got, error);
    if (result)
        return result;
    if (header->byte_order != BP_BYTE_ORDER || header->major != BP_MAJOR ||
        header->header_size < BP_PAGE || header->header_size > header->used ||
        header->header_size % BP_PAGE != 0)
        return fail(error, -EBADMSG, "the header is damaged");
    if (header->clock != BP_CLOCK_TSC && header->clock != BP_CLOCK_MONOTONIC)
        return fail(error, -EBADMSG, "the header is damaged: unknown clock %u", header->clock);
    clean_header(header);
    return 0;
}

static int read_header(int fd, struct bp_header *header, uint64_t *size,
                       struct bp_read_error *error) {
    struct stat status;
    if (fstat(fd, &status))
        return fail(error, -errno, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail(error, -ENOMSG, "not a regular file");
    *size = (uint64_t)status.st_size;
    memset(header, 0, sizeof(*header));
    ssize_t got = pread(fd, header, sizeof(*header), 0);
    if (got < 0)
        return fail(error, -errno, "%s", strerror(errno));
    return check_header(header, (uint64_t)got, error);
}

/* One more function, without use by a whole file, stands for those that a damaged one lacks. */
static int load_names(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    void *items;
    uint32_t count;
    int result = bp_reader_load(reader, bp_reader_find(reader, BP_STRINGS, BP_NO_THREAD), 1,
                                sizeof(unknown_name) + 1, &items, &count);
    if (result)
        return result;
    profile->strings = items;
    for (uint32_t i = 0; i < count; i++)
        if ((unsigned char)profile->strings[i] < 0x20 && profile->strings[i])
            profile->strings[i] = ' ';
    profile->funcs[profile->func_count - 1].name = count + 1;
    memcpy(profile->strings + count + 1, unknown_name, sizeof(unknown_name));
    profile->string_size = (size_t)count + 1 + sizeof(unknown_name);
    return 0;
}

static int load_tree(struct bp_reader *reader) {
    void *items;
    uint32_t count;
    int result = bp_reader_load(reader, bp_reader_find(reader, BP_TREE, BP_NO_THREAD),
                                sizeof(struct bp_tree), 0, &items, &count);
    if (result == 0 && count > 0)
        reader->profile->tree = items;
    else if (result == 0)
        free(items);
    return result;
}

static int load_funcs(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    void *items;
    int result = bp_reader_load(reader, bp_reader_find(reader, BP_FUNCS, BP_NO_THREAD),
                                sizeof(struct bp_func), 2, &items, &profile->func_count);
    if (result)
        return result;
    profile->funcs = items;
    if (profile->func_count == 0)
        profile->funcs[profile->func_count++].object = BP_NO_OBJECT;
    profile->funcs[BP_FUNC_INDEX_ROOT].kind = BP_FUNC_ROOT;
    profile->funcs[profile->func_count++] =
        (struct bp_func){.kind = BP_FUNC_CALL, .object = BP_NO_OBJECT};
    result = bp_reader_load(reader, bp_reader_find(reader, BP_OBJECTS, BP_NO_THREAD),
                            sizeof(struct bp_object), 0, &items, &profile->object_count);
    if (result == 0)
        profile->objects = items;
    for (uint32_t i = 0; i < profile->func_count; i++) {
        struct bp_func *func = &profile->funcs[i];
        if (func->object >= profile->object_count)
            func->object = BP_NO_OBJECT;
        if (func->kind > BP_FUNC_PAUSED)
            func->kind = BP_FUNC_CALL; /* of a newer writer */
    }
    return result;
}

/* Ends it, with blanks for control characters. */
static void clean_mark(struct bp_run_mark *mark) {
    mark->text[sizeof(mark->text) - 1] = 0;
    for (char *c = mark->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

/* A mark that is not filled in, or was being written, is none. */
static int load_marks(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    struct bp_reader_range range = bp_reader_find(reader, BP_MARKS, BP_NO_THREAD);
    void *items;
    uint32_t count, kept = 0;
    int result = bp_reader_load(reader, range, sizeof(struct bp_run_mark), 0, &items, &count);
    if (result)
        return result;
    profile->marks = items;
    for (uint32_t i = 0; i < count; i++)
        if (profile->marks[i].kind >= BP_MARK_TEXT && profile->marks[i].kind <= BP_MARK_STOP) {
            profile->marks[kept] = profile->marks[i];
            clean_mark(&profile->marks[kept++]);
        }
    profile->mark_count = kept;
    uint64_t wanted = range.count ? reader->chunks[range.first].head.links[1] : 0;
    profile->marks_lost = wanted > count ? wanted - count : 0;
    return 0;
}

static int load_all(struct bp_reader *reader) {
    int result = bp_reader_scan(reader);
    if (result == 0)
        result = load_tree(reader);
    if (result == 0)
        result = load_funcs(reader);
    if (result == 0)
        result = bp_reader_load_devices(reader);
    if (result == 0)
        result = bp_reader_load_sampler(reader);
    if (result == 0)
        result = bp_reader_load_tasks(reader);
    if (result == 0)
        result = bp_reader_load_lines(reader);
    if (result == 0)
        result = bp_reader_load_threads(reader);
    if (result == 0)
        result = load_names(reader);
    if (result)
        return result;
    void *items;
    result = bp_reader_load(reader, bp_reader_find(reader, BP_REAPED, BP_NO_THREAD),
                            sizeof(struct bp_reaped), 0, &items, &reader->profile->reaped_count);
    if (result == 0)
        reader->profile->reaped = items;
    if (result == 0)
        result = load_marks(reader);
    bp_reader_check_devices(reader->profile);
    if (result == 0)
        result = bp_reader_check_tasks(reader);
    return result;
}

static void describe_missing(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    char what[96] = "";
    if (reader->truncated)
        snprintf(what, sizeof(what), "truncated at %llu of %llu bytes",
                 (unsigned long long)reader->size, (unsigned long long)profile->header.used);
    else if (reader->broken_at)
        snprintf(what, sizeof(what), "damaged at byte %llu, what follows is lost",
                 (unsigned long long)reader->broken_at);
    else if (reader->bad_chunks)
        snprintf(what, sizeof(what), "damaged: %u chunks make no sense", reader->bad_chunks);
    else if (reader->bad_items && profile->header.state != BP_RUNNING)
        snprintf(what, sizeof(what), "damaged: %u items make no sense", reader->bad_items);
    if (!what[0] && profile->thread_count < profile->threads_recorded)
        snprintf(what, sizeof(what), "damaged");
    if (what[0])
        snprintf(profile->missing, sizeof(profile->missing), "%s; %u of %u threads shown", what,
                 profile->thread_count, profile->threads_recorded);
}

static void reader_fini(struct bp_reader *reader) {
    for (uint32_t i = 0; i < reader->chunk_count; i++)
        free(reader->chunks[i].entries);
    free(reader->chunks);
    free(reader->by_address);
}

int bp_profile_read_fd(int fd, struct bp_profile **profile, struct bp_read_error *error) {
    struct bp_reader reader = {.fd = fd};
    error->text[0] = 0;
    reader.profile = calloc(1, sizeof(*reader.profile));
    if (!reader.profile)
        return fail(error, -ENOMEM, "out of memory");
    int result = read_header(fd, &reader.profile->header, &reader.size, error);
    if (result == 0) {
        result = load_all(&reader);
        if (result == -EBADMSG)
            fail(error, result, "changed while it was read: it became shorter");
        else if (result)
            fail(error, result, "%s", strerror(-result));
    }
    if (result == 0)
        describe_missing(&reader);
    reader_fini(&reader);
    if (result) {
        bp_profile_free(reader.profile);
        return result;
    }
    *profile = reader.profile;
    return 0;
}

int bp_profile_read(const char *path, struct bp_profile **profile, struct bp_read_error *error) {
    /* O_NONBLOCK: opening a FIFO must not hang; it has no effect on a file. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(error, -errno, "%s", strerror(errno));
    int result = bp_profile_read_fd(fd, profile, error);
    close(fd);
    return result;
}

int bp_profile_read_header(const char *path, struct bp_header *header,
                           struct bp_read_error *error) {
    uint64_t size;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(error, -errno, "%s", strerror(errno));
    int result = read_header(fd, header, &size, error);
    close(fd);
    return result;
}

void bp_profile_free(struct bp_profile *profile) {
    if (!profile)
        return;
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        free(profile->threads[i].nodes);
        free(profile->threads[i].open);
        free(profile->threads[i].frames);
        free(profile->threads[i].samples);
    }
    free(profile->threads);
    free(profile->objects);
    free(profile->funcs);
    free(profile->reaped);
    free(profile->marks);
    free(profile->tree);
    free(profile->devices);
    free(profile->transfers);
    free(profile->kernels);
    free(profile->splits);
    free(profile->waits);
    free(profile->collector);
    free(profile->sampler);
    free(profile->tasks);
    free(profile->task_nodes);
    free(profile->task_folds);
    free(profile->variables);
    free(profile->modules);
    free(profile->lines);
    free(profile->strings);
    free(profile);
}

const struct bp_profile_thread *bp_profile_thread_at(const struct bp_profile *profile,
                                                     uint32_t slot) {
    for (uint32_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].slot == slot)
            return &profile->threads[i];
    return NULL;
}

const char *bp_profile_string(const struct bp_profile *profile, uint32_t index) {
    return index < profile->string_size ? profile->strings + index : "";
}

const char *bp_profile_variable(const struct bp_profile *profile, const char *name) {
    for (uint32_t i = 0; i < profile->variable_count; i++)
        if (strcmp(bp_profile_string(profile, profile->variables[i].name), name) == 0)
            return bp_profile_string(profile, profile->variables[i].value);
    return "";
}
