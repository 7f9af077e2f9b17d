/* SPDX-License-Identifier: MIT
 *
 * Opening a file and making sure that it is the one that ran. Each has a Dwfl of its own, mapped at
 * 0, so that addresses are those of the file whatever other files there are.
 */
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/symbols/internal.h"

/* The kernel maps the same vdso everywhere; its section headers are its end. */
static int open_vdso(void) {
    const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    int fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;
    if (fd < 0)
        return -1;
    size_t size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
    if (write(fd, image, size) == (ssize_t)size)
        return fd;
    close(fd);
    return -1;
}

/* True if the module is the file that ran; says why not. */
static bool is_same(struct bp_symbol_image *file, Dwfl_Module *module, int fd) {
    const unsigned char *bits;
    GElf_Addr address;
    int size = dwfl_module_build_id(module, &bits, &address);
    struct stat status;
    bool same;
    if (file->build_id_size > 0)
        same = size == (int)file->build_id_size && memcmp(bits, file->build_id, (size_t)size) == 0;
    else
        same = file->loaded_ns == 0 || fstat(fd, &status) ||
               (uint64_t)status.st_mtim.tv_sec <= file->loaded_ns / 1000000000u;
    if (!same)
        bp_text_set(&file->problem, "%s is not the file that ran (%s): its functions have no names",
                    file->path, file->build_id_size > 0 ? "another build id" : "changed since");
    return same;
}

/* Takes the descriptor. */
static bool open_module(struct bp_symbol_image *file, int fd) {
    int own = dup(fd);
    file->dwfl = dwfl_begin(file->callbacks);
    file->module = dwfl_report_elf(file->dwfl, bp_base_name(file->path), file->path, fd, 0, true);
    dwfl_report_end(file->dwfl, NULL, NULL);
    if (!file->module) {
        bp_text_set(&file->problem, "%s cannot be read: %s", file->path, dwfl_errmsg(-1));
        close(fd);
    }
    bool good = file->module && is_same(file, file->module, own);
    if (own >= 0)
        close(own);
    if (good)
        return true;
    dwfl_end(file->dwfl);
    file->dwfl = NULL;
    file->module = NULL;
    return false;
}

/* A profile may name anything: a pipe must not hold up the report. */
static int open_regular(const char *path) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    return -1;
}

/* Where the file is gone or replaced, its debug file may still be installed. */
static int open_debug_file(const struct bp_symbol_image *file) {
    struct bp_text path = {0};
    if (file->build_id_size < 2)
        return -1;
    bp_text_add(&path, "/usr/lib/debug/.build-id/%02x/", file->build_id[0]);
    for (uint32_t i = 1; i < file->build_id_size; i++)
        bp_text_add(&path, "%02x", file->build_id[i]);
    bp_text_add(&path, ".debug");
    int fd = open_regular(path.data);
    bp_text_fini(&path);
    return fd;
}

void bp_symbol_image_open(struct bp_symbol_image *file, char **debug_path) {
    if (file->opened)
        return;
    file->opened = true;
    Dwfl_Callbacks *callbacks = bp_alloc(1, sizeof *callbacks);
    *callbacks = (Dwfl_Callbacks){
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .debuginfo_path = debug_path,
    };
    file->callbacks = callbacks;
    int fd = bp_symbol_is_vdso(file->path) ? open_vdso() : open_regular(file->path);
    if (fd < 0)
        bp_text_set(&file->problem, "%s is not here: its functions have no names", file->path);
    bool found = fd >= 0 && open_module(file, fd);
    if (!found && (fd = open_debug_file(file)) >= 0)
        found = open_module(file, fd);
    if (!found)
        return;
    bp_text_fini(&file->problem);
    bp_symbol_table_load(&file->table, file->module);
}

void bp_symbol_image_fini(struct bp_symbol_image *file) {
    bp_symbol_table_fini(&file->table);
    if (file->dwfl)
        dwfl_end(file->dwfl);
    free(file->callbacks);
    free(file->path);
    bp_text_fini(&file->problem);
}
