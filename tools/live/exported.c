/* SPDX-License-Identifier: MIT
 *
 * The dynamic symbols of a file, by its section headers: files that were stripped have them, too.
 */
#include "tools/live/exported.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const uint8_t *bytes;
    uint64_t size;
};

/* `count` rows of `size` bytes; NULL if they are not all in the file. */
static const void *rows(const struct image *image, uint64_t offset, uint64_t count, uint64_t size) {
    bool fits = offset <= image->size && count <= (image->size - offset) / size && offset % 8 == 0;
    return fits ? image->bytes + offset : NULL;
}

static uint64_t find_in(const struct image *image, const Elf64_Shdr *symbols,
                        const Elf64_Shdr *texts, const char *name) {
    uint64_t count = symbols->sh_size / sizeof(Elf64_Sym), length = strlen(name) + 1;
    const Elf64_Sym *symbol = rows(image, symbols->sh_offset, count, sizeof(*symbol));
    if (texts->sh_offset > image->size || texts->sh_size > image->size - texts->sh_offset)
        return 0;
    for (uint64_t i = 0; symbol && i < count; i++, symbol++)
        if (symbol->st_shndx != SHN_UNDEF && symbol->st_name < texts->sh_size &&
            length <= texts->sh_size - symbol->st_name &&
            memcmp(image->bytes + texts->sh_offset + symbol->st_name, name, length) == 0)
            return symbol->st_value;
    return 0;
}

static uint64_t find(const struct image *image, const char *name) {
    const Elf64_Ehdr *head = rows(image, 0, 1, sizeof(*head));
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64)
        return 0;
    const Elf64_Shdr *section = rows(image, head->e_shoff, head->e_shnum, sizeof(*section));
    for (unsigned i = 0; section && i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_DYNSYM && section[i].sh_link < head->e_shnum)
            return find_in(image, &section[i], &section[section[i].sh_link], name);
    return 0;
}

uint64_t bp_exported(const char *path, const char *name) {
    struct stat status;
    uint64_t found = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            found = find(&(struct image){bytes, size}, name);
            munmap(bytes, size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}
