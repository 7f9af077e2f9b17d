/* SPDX-License-Identifier: MIT
 *
 * See build_id.h. Reads a few hundred bytes and believes none of the offsets in them.
 */
#include "tools/base/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/text.h"

#define MOST_SEGMENTS 64
#define MOST_NOTES 4096 /* bytes of one segment */
#define SHOWN 16        /* digits of our own: 64 bits of a hash */
#define ALIGNED(n) (((size_t)(n) + 3) & ~(size_t)3)

/* The id among the notes of a segment: a new text, or NULL. */
static char *search_notes(const char *notes, size_t size) {
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note, id = name + ALIGNED(note.n_namesz);
        if (note.n_namesz > size || note.n_descsz > size || id + note.n_descsz > size)
            return NULL;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(notes + name, "GNU", 4)) {
            struct bp_text text = {0};
            for (size_t i = 0; i < note.n_descsz; i++)
                bp_text_add(&text, "%02x", (unsigned char)notes[id + i]);
            return bp_text_take(&text);
        }
        at = id + ALIGNED(note.n_descsz);
    }
    return NULL;
}

static char *read_segment(int fd, const Elf64_Phdr *segment) {
    char notes[MOST_NOTES];
    size_t wanted = segment->p_filesz < sizeof notes ? segment->p_filesz : sizeof notes;
    ssize_t size = pread(fd, notes, wanted, (off_t)segment->p_offset);
    return size > 0 ? search_notes(notes, (size_t)size) : NULL;
}

char *bp_build_id(const char *path) {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    char *found = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    bool elf = pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
               memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof segment;
    for (unsigned i = 0; elf && !found && i < header.e_phnum && i < MOST_SEGMENTS; i++) {
        off_t at = (off_t)(header.e_phoff + i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) == (ssize_t)sizeof segment &&
            segment.p_type == PT_NOTE)
            found = read_segment(fd, &segment);
    }
    close(fd);
    return found;
}

char *bp_build_id_own(void) {
    char *id = bp_build_id(BP_OWN_FILE);
    if (id && strlen(id) > SHOWN)
        id[SHOWN] = 0;
    return id;
}

char *bp_version(void) {
    char *id = bp_build_id_own();
    char *text = id ? bp_make_text(BP_VERSION " (build %s)", id) : bp_make_text(BP_VERSION);
    free(id);
    return text;
}
