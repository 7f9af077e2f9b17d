/* SPDX-License-Identifier: MIT */
#include "tools/attach/refusal.h"

#include <errno.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/attach/arch.h"
#include "tools/base/text.h"
#include "tools/live/trace.h"

/* What ptrace would say, without asking it: /proc has the same rules. */
static char *check_rights(pid_t pid) {
    char *path = bp_make_text("/proc/%d/mem", (int)pid);
    int failed = access(path, R_OK) ? errno : 0;
    FILE *file = fopen(path, "re");
    if (!file && !failed)
        failed = errno;
    if (file)
        fclose(file);
    free(path);
    return bp_trace_refusal(pid, failed == ENOENT ? -ESRCH : failed ? -EPERM : 0);
}

char *bp_refusal_of_process(pid_t pid) {
    if (kill(pid, 0) && errno == ESRCH)
        return bp_make_text("there is no such process");
    if (pid == getpid())
        return bp_make_text("that is this command itself");
    if (bp_trace_status(pid, "VmSize:") < 0 && bp_trace_status(pid, "Threads:") > 0)
        return bp_make_text("it is a thread of the kernel, or it has ended");
    return check_rights(pid);
}

char *bp_refusal_of_ptrace(pid_t pid) {
    if (bp_trace_status(pid, "Seccomp:") > 0)
        return bp_make_text("a seccomp filter restricts its system calls, and might end it for "
                            "ours; it is left alone. Start it with: battprof run");
    return NULL;
}

/* Why the program's own file forbids it. */
static char *check_program(pid_t pid) {
    unsigned char head[20] = {0};
    char *path = bp_make_text("/proc/%d/exe", (int)pid);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(head, 1, sizeof(head), file) : 0;
    if (file)
        fclose(file);
    free(path);
    if (got < sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
        return bp_make_text("its program cannot be read");
    if (head[EI_CLASS] != ELFCLASS64)
        return bp_make_text("it is a 32-bit program, and libbattprof.so has 64 bits");
    if (head[18] != EM_X86_64 || head[19] != 0)
        return bp_make_text("it is a program for another architecture");
    return NULL;
}

/* The library's path must mean the same file there. */
static char *check_root(pid_t pid, const char *library) {
    struct stat here, there;
    char *path = bp_make_text("/proc/%d/root%s", (int)pid, library);
    bool same = stat(library, &here) == 0 && stat(path, &there) == 0 &&
                here.st_dev == there.st_dev && here.st_ino == there.st_ino;
    free(path);
    return same ? NULL
                : bp_make_text("%s does not exist for it: it runs in another container or chroot; "
                               "run battprof inside that",
                               library);
}

static char *check_libraries(const struct bp_objects *objects) {
    bool loader = false, c_library = false;
    for (uint32_t i = 0; i < objects->count; i++) {
        loader |= objects->rows[i].role == BP_OBJECT_LOADER;
        c_library |= objects->rows[i].role == BP_OBJECT_C_LIBRARY;
    }
    if (objects->musl)
        return bp_make_text("its C library is musl, and libbattprof.so needs glibc");
    if (!loader && !c_library)
        return bp_make_text("it is statically linked: it has no loader that could load a library");
    if (!loader || !c_library)
        return bp_make_text("its loader or C library cannot be read: replaced since it began?");
    return NULL;
}

char *bp_refusal_of_objects(const struct bp_objects *objects,
                            const struct bp_attach_request *request) {
    const char *cpu = bp_attach_arch_init();
    char *refusal = cpu ? bp_make_text("%s", cpu) : check_program(objects->pid);
    if (!refusal)
        refusal = check_libraries(objects);
    if (!refusal)
        refusal = check_root(objects->pid, request->library);
    if (!refusal && strlen(request->library) >= BP_ATTACH_PATH)
        refusal = bp_make_text("the library's path is too long");
    if (!refusal && !bp_objects_function(objects, "dlopen") &&
        !bp_objects_function(objects, "__libc_dlopen_mode"))
        refusal = bp_make_text("its C library has no dlopen");
    if (!refusal && !bp_objects_room(objects, bp_loan_size()))
        refusal = bp_make_text("there is no room behind the code of its libraries");
    return refusal;
}
