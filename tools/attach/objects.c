/* SPDX-License-Identifier: MIT
 *
 * Files are opened by way of /proc/PID/root: the process may live in another one.
 */
#include "tools/attach/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

#define PAGE 4096

struct lookup {
    const char *name;
    uint64_t address;
};

void bp_objects_visit(const struct bp_attach_object *object,
                      void (*visit)(void *context, const char *name, uint64_t low, uint64_t high),
                      void *context) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Sym symbol;
    while (object->elf && (section = elf_nextscn(object->elf, section)) != NULL) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !header.sh_entsize)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = header.sh_size / header.sh_entsize;
        for (size_t i = 0; data && i < count && gelf_getsym(data, (int)i, &symbol); i++) {
            const char *name = elf_strptr(object->elf, header.sh_link, symbol.st_name);
            if (name && symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
                visit(context, name, object->base + symbol.st_value,
                      object->base + symbol.st_value + symbol.st_size);
        }
    }
}

static void note_address(void *context, const char *name, uint64_t low, uint64_t high) {
    struct lookup *lookup = context;
    (void)high;
    if (!lookup->address && strcmp(name, lookup->name) == 0)
        lookup->address = low;
}

uint64_t bp_objects_function(const struct bp_objects *objects, const char *name) {
    struct lookup lookup = {.name = name};
    for (uint32_t i = 0; i < objects->count && !lookup.address; i++)
        if (objects->rows[i].role == BP_OBJECT_C_LIBRARY)
            bp_objects_visit(&objects->rows[i], note_address, &lookup);
    return lookup.address;
}

/* .eh_frame_hdr as all linkers make it: sorted starts of functions, relative to itself. */
struct table {
    uint8_t version, frame_encoding, count_encoding, encoding;
    int32_t frame;
    uint32_t count;
    struct {
        int32_t start, description;
    } rows[];
};
#define TABLE_ENCODING 0x3b

static const struct table *find_table(Elf *elf, uint64_t *address) {
    GElf_Phdr part;
    size_t count = 0;
    for (size_t i = 0; !elf_getphdrnum(elf, &count) && i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &part) || part.p_type != PT_GNU_EH_FRAME)
            continue;
        Elf_Data *data =
            elf_getdata_rawchunk(elf, (int64_t)part.p_offset, part.p_filesz, ELF_T_BYTE);
        const struct table *table = data ? data->d_buf : NULL;
        *address = part.p_vaddr;
        return table && data->d_size > sizeof(*table) && table->encoding == TABLE_ENCODING &&
                       table->count <= (data->d_size - sizeof(*table)) / sizeof(table->rows[0])
                   ? table
                   : NULL;
    }
    return NULL;
}

uint64_t bp_objects_function_end(const struct bp_attach_object *object, uint64_t address) {
    uint64_t header;
    const struct table *table = object->elf ? find_table(object->elf, &header) : NULL;
    if (!table)
        return 0;
    int64_t wanted = (int64_t)(address - object->base - header);
    for (uint32_t i = 0; i + 1 < table->count; i++)
        if (table->rows[i].start == wanted)
            return object->base + header + (uint64_t)(int64_t)table->rows[i + 1].start;
    return 0;
}

/* The bytes of a function: borrowed; NULL if the file does not have them. */
const uint8_t *bp_objects_code(const struct bp_attach_object *object, uint64_t low, uint64_t high) {
    GElf_Phdr part;
    size_t count = 0;
    uint64_t address = low - object->base;
    for (size_t i = 0; object->elf && !elf_getphdrnum(object->elf, &count) && i < count; i++) {
        if (!gelf_getphdr(object->elf, (int)i, &part) || part.p_type != PT_LOAD ||
            address < part.p_vaddr || address + (high - low) > part.p_vaddr + part.p_filesz)
            continue;
        Elf_Data *data = elf_getdata_rawchunk(
            object->elf, (int64_t)(part.p_offset + address - part.p_vaddr), high - low, ELF_T_BYTE);
        return data && data->d_size == high - low ? data->d_buf : NULL;
    }
    return NULL;
}

/* DT_SONAME; "" without one. */
static const char *soname_of(Elf *elf) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Dyn entry;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC || !header.sh_entsize)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        int count = (int)(header.sh_size / header.sh_entsize);
        for (int i = 0; data && i < count && gelf_getdyn(data, i, &entry); i++) {
            const char *name =
                entry.d_tag == DT_SONAME ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
            if (name)
                return name;
        }
    }
    return "";
}

static enum bp_object_role role_of(const struct bp_attach_object *object) {
    static const char *const runtime[] = {"libc.so.6", "libpthread.so.0", "libdl.so.2"};
    struct lookup lookup = {.name = "malloc"};
    const char *soname = object->elf ? soname_of(object->elf) : "";
    if (strncmp(soname, "ld-linux", 8) == 0)
        return BP_OBJECT_LOADER;
    for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++)
        if (strcmp(soname, runtime[i]) == 0)
            return BP_OBJECT_C_LIBRARY;
    bp_objects_visit(object, note_address, &lookup);
    return lookup.address ? BP_OBJECT_ALLOCATOR : BP_OBJECT_OTHER;
}

/* The first mapping of the file is where its first part is. */
static void read_parts(struct bp_attach_object *object) {
    GElf_Ehdr head;
    GElf_Phdr part;
    size_t count = 0;
    bool based = false;
    if (!object->elf || !gelf_getehdr(object->elf, &head) || elf_getphdrnum(object->elf, &count))
        return;
    for (size_t i = 0; i < count && gelf_getphdr(object->elf, (int)i, &part); i++) {
        if (part.p_type != PT_LOAD)
            continue;
        if (!based)
            object->base = object->low - (part.p_vaddr & ~(uint64_t)(PAGE - 1));
        based = true;
        if (!(part.p_flags & PF_X) || part.p_flags & PF_W || part.p_memsz != part.p_filesz)
            continue;
        object->code_end = (object->base + part.p_vaddr + part.p_memsz + 15) & ~UINT64_C(15);
        object->room = -object->code_end & (PAGE - 1);
    }
    object->entry = head.e_entry ? object->base + head.e_entry : 0;
}

static int open_at(char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    return fd;
}

/* One that was deleted or replaced, as a program that was built anew, is still to be had from the
 * kernel: the program from its owner, other files as root. */
static int open_deleted(const struct bp_attach_object *object, pid_t pid) {
    if (object->main)
        return open_at(bp_make_text("/proc/%d/exe", (int)pid));
    return open_at(bp_make_text("/proc/%d/map_files/%llx-%llx", (int)pid,
                                (unsigned long long)object->low,
                                (unsigned long long)object->first_end));
}

static void open_file(struct bp_attach_object *object, pid_t pid) {
    object->fd = open_at(bp_make_text("/proc/%d/root%s", (int)pid, object->path));
    if (object->fd < 0) /* of a changed root the kernel tells the path from ours, if it can */
        object->fd = open_at(bp_copy_text(object->path));
    if (object->fd < 0)
        object->fd = open_deleted(object, pid);
    object->elf = object->fd < 0 ? NULL : elf_begin(object->fd, ELF_C_READ_MMAP, NULL);
    if (object->elf && (elf_kind(object->elf) != ELF_K_ELF || gelf_getclass(object->elf) != 2)) {
        elf_end(object->elf);
        object->elf = NULL;
    }
}

struct line {
    unsigned long long low, high, offset;
    char access[5];
    char *path;
};

static bool parse(char *text, struct line *line) {
    text[strcspn(text, "\n")] = 0;
    line->path = strchr(text, '/');
    return line->path && sscanf(text, "%llx-%llx %4s %llx", &line->low, &line->high, line->access,
                                &line->offset) == 4;
}

/* Mappings of a file follow each other, the one of its beginning first. */
static void add_line(struct bp_objects *objects, const struct line *line) {
    struct bp_attach_object *last = objects->count ? &objects->rows[objects->count - 1] : NULL;
    if (!last || strcmp(last->path, line->path) != 0 || line->offset == 0) {
        if (line->offset != 0 || line->access[3] != 'p')
            return; /* data */
        last = BP_APPEND(objects->rows, objects->count);
        *last =
            (struct bp_attach_object){.path = bp_copy_text(line->path), .low = line->low, .fd = -1};
        last->first_end = line->high;
    }
    last->high = line->high;
    if (line->access[2] == 'x')
        last->room = 1; /* it has code */
}

static void keep_code(struct bp_objects *objects) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < objects->count; i++) {
        if (objects->rows[i].room)
            objects->rows[kept++] = objects->rows[i];
        else
            free(objects->rows[i].path);
    }
    objects->count = kept;
}

/* By the loader that it names. */
static bool needs_musl(Elf *elf) {
    GElf_Phdr part;
    size_t count = 0, size = 0;
    const char *file = elf_rawfile(elf, &size);
    for (size_t i = 0; file && !elf_getphdrnum(elf, &count) && i < count; i++)
        if (gelf_getphdr(elf, (int)i, &part) && part.p_type == PT_INTERP && part.p_offset < size &&
            part.p_filesz <= size - part.p_offset)
            return memmem(file + part.p_offset, part.p_filesz, "ld-musl", 7);
    return false;
}

static void describe(struct bp_objects *objects, struct bp_attach_object *object) {
    object->room = 0;
    open_file(object, objects->pid);
    read_parts(object);
    object->role = role_of(object);
    objects->musl |= object->elf && needs_musl(object->elf);
}

static void find_main(struct bp_objects *objects) {
    char link[64], program[4096];
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)objects->pid);
    ssize_t length = readlink(link, program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = 0;
    for (uint32_t i = 0; i < objects->count; i++)
        objects->rows[i].main = strcmp(objects->rows[i].path, program) == 0;
}

int bp_objects_init(struct bp_objects *objects, pid_t pid, struct bp_error *error) {
    struct line line;
    char *text = NULL, *path = bp_make_text("/proc/%d/maps", (int)pid);
    size_t size = 0;
    *objects = (struct bp_objects){.pid = pid};
    elf_version(EV_CURRENT);
    FILE *file = fopen(path, "re");
    free(path);
    while (file && getline(&text, &size, file) > 0)
        if (parse(text, &line))
            add_line(objects, &line);
    int failed = errno;
    if (file)
        fclose(file);
    free(text);
    keep_code(objects);
    find_main(objects);
    for (uint32_t i = 0; i < objects->count; i++)
        describe(objects, &objects->rows[i]);
    if (objects->count)
        return 0;
    return bp_error_set(error, BP_FAILED, "the memory of process %d cannot be read: %s", (int)pid,
                        file ? "it has ended" : strerror(failed));
}

void bp_objects_fini(struct bp_objects *objects) {
    for (uint32_t i = 0; i < objects->count; i++) {
        elf_end(objects->rows[i].elf);
        if (objects->rows[i].fd >= 0)
            close(objects->rows[i].fd);
        free(objects->rows[i].path);
    }
    free(objects->rows);
    *objects = (struct bp_objects){0};
}

struct bp_attach_object *bp_objects_at(const struct bp_objects *objects, uint64_t address) {
    for (uint32_t i = 0; i < objects->count; i++)
        if (address >= objects->rows[i].low && address < objects->rows[i].high)
            return &objects->rows[i];
    return NULL;
}

uint64_t bp_objects_room(const struct bp_objects *objects, size_t size) {
    const struct bp_attach_object *best = NULL;
    for (uint32_t i = 0; i < objects->count; i++)
        if (objects->rows[i].room >= size && (!best || objects->rows[i].room > best->room))
            best = &objects->rows[i];
    return best ? best->code_end : 0;
}
