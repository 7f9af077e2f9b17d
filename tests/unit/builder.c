/* SPDX-License-Identifier: MIT */
#include "tests/unit/builder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/header.h"
#include "profile/reader.h"

void builder_begin_header(struct bp_header *header) {
    bp_header_begin(header, BP_CLOCK_MONOTONIC);
    header->state = BP_EXITED;
    header->exit_status = 0;
    bp_header_publish(header);
}

void builder_init(struct builder *builder) {
    bp_image_init(&builder->image, BUILDER_ADDRESS);
    struct bp_header *header = builder_header(builder);
    builder_begin_header(header);
    header->pid = 100;
    header->start = 1000000000;
    header->end = 2000000000;
    strcpy(header->executable, "/bin/run_batt");
    strcpy(header->command, "run_batt");
}

void builder_fini(struct builder *builder) {
    bp_image_fini(&builder->image);
}

struct bp_header *builder_header(struct builder *builder) {
    return (struct bp_header *)builder->image.data;
}

size_t builder_chunk(struct builder *builder, uint32_t kind, uint32_t thread, uint32_t count,
                     uint32_t capacity) {
    size_t offset = bp_image_add(&builder->image, kind, thread, NULL, capacity);
    builder_head(builder, offset)->count = count;
    return offset;
}

struct bp_chunk *builder_head(struct builder *builder, size_t chunk) {
    return (struct bp_chunk *)(builder->image.data + chunk);
}

void *builder_item(struct builder *builder, size_t chunk, uint32_t index) {
    return builder->image.data + chunk + sizeof(struct bp_chunk) +
           (size_t)index * builder_head(builder, chunk)->item_size;
}

uint64_t builder_address(struct builder *builder, size_t chunk, uint32_t index) {
    return BUILDER_ADDRESS +
           (uint64_t)((char *)builder_item(builder, chunk, index) - builder->image.data);
}

void builder_names(struct builder *builder) {
    size_t strings = builder_chunk(builder, BP_STRINGS, BP_NO_THREAD, 64, 64);
    char *text = builder_item(builder, strings, 0);
    strcpy(text + 1, "libdsl.so");
    for (int i = 0; i < BUILDER_FUNCS; i++)
        snprintf(text + 11 + 3 * i, 3, "f%d", i);
    size_t objects = builder_chunk(builder, BP_OBJECTS, BP_NO_THREAD, 1, 4);
    struct bp_object *object = builder_item(builder, objects, 0);
    object->path = 1;
    object->flags = BP_OBJECT_HOOKED;
    object->exports = BUILDER_FUNCS;
    size_t funcs = builder_chunk(builder, BP_FUNCS, BP_NO_THREAD, BUILDER_FUNC + BUILDER_FUNCS, 16);
    struct bp_func *func = builder_item(builder, funcs, 0);
    func[BP_FUNC_INDEX_ROOT] = (struct bp_func){.kind = BP_FUNC_ROOT, .object = BP_NO_OBJECT};
    func[BP_FUNC_INDEX_FOLDED] = (struct bp_func){.kind = BP_FUNC_FOLDED, .object = BP_NO_OBJECT};
    for (uint32_t i = 0; i < BUILDER_FUNCS; i++)
        func[BUILDER_FUNC + i] = (struct bp_func){.name = 11 + 3 * i, .kind = BP_FUNC_CALL};
}

static int write_all(int fd, const struct builder *builder) {
    for (size_t done = 0; done < builder->image.size;) {
        ssize_t n = write(fd, builder->image.data + done, builder->image.size - done);
        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    return 0;
}

int builder_open(const struct builder *builder) {
    int fd = memfd_create("profile", MFD_CLOEXEC);
    if (fd >= 0 && write_all(fd, builder)) {
        close(fd);
        return -1;
    }
    return fd;
}

int builder_write(const struct builder *builder, const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    int result = write_all(fd, builder);
    close(fd);
    return result;
}

struct bp_profile *builder_read(const struct builder *builder) {
    struct bp_profile *profile = NULL;
    struct bp_read_error error;
    int fd = builder_open(builder);
    if (fd < 0 || bp_profile_read_fd(fd, &profile, &error))
        profile = NULL;
    if (fd >= 0)
        close(fd);
    return profile;
}

struct bp_profile *builder_take(const char *path) {
    struct bp_profile *profile = NULL;
    struct bp_read_error error;
    if (bp_profile_read(path, &profile, &error))
        profile = NULL;
    unlink(path);
    return profile;
}
