/* SPDX-License-Identifier: MIT
 *
 * The import command: which tool wrote a file, by its first bytes, and where the profile goes.
 */
#include "tools/base/terminal/hint.h"
#include "tools/import/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/text.h"
#include "tools/command/commands.h"
#include "tools/command/trace.h"

struct settings {
    const char *output;
};

static const struct bp_option options[] = {
    {"output", 'o', "FILE", "write the profile to FILE; of one trace only", bp_option_text,
     offsetof(struct settings, output)},
};

const struct bp_command bp_command_import = {
    .name = "import",
    .summary = "make profiles of traces that other tools recorded",
    .usage = "[options] FILE...",
    .about = "Turns traces into profiles, for the same reports: SQLite exports of Nsight Systems "
             "(nsys export --type sqlite) and JSON of the PyTorch profiler, also as .json.gz. "
             "The profile of FILE is FILE.bp.",
    .next = "battprof import trace.sqlite; battprof report --by transfer trace.sqlite.bp",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_import,
};

typedef int import_fn(struct bp_trace *trace, const char *path, struct bp_error *error);

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

struct head {
    unsigned char bytes[64];
    size_t length;
};

/* The head is read, then the file from its beginning: a pipe has none. Nor may a slip of the hand
 * make the trace its own profile. */
static int check_paths(const char *path, const char *output, struct bp_error *error) {
    struct stat from;
    struct stat to;
    if (stat(path, &from))
        return bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
    if (!S_ISREG(from.st_mode))
        return bp_error_set(error, BP_FAILED, "%s: not a regular file; copy the trace to one",
                            path);
    if (stat(output, &to) == 0 && to.st_dev == from.st_dev && to.st_ino == from.st_ino)
        return bp_error_set(error, BP_FAILED,
                            "%s: is the trace itself; choose another place with -o", output);
    return 0;
}

static int read_head(const char *path, struct head *head, struct bp_error *error) {
    FILE *file = fopen(path, "rbe");
    if (!file)
        return bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
    *head = (struct head){0};
    head->length = fread(head->bytes, 1, sizeof(head->bytes) - 1, file);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    return failed ? bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(failed)) : 0;
}

static void refuse_profile(const char *path, struct bp_error *error) {
    char *command = bp_hint_report(path, "");
    bp_error_set(error, BP_FAILED, "%s: is a profile already:\n%s", path, command);
    free(command);
}

static void refuse(const char *path, const struct head *head, struct bp_error *error) {
    if (head->length == 0)
        bp_error_set(error, BP_FAILED, "%s: an empty file", path);
    else if (ends_with(path, ".nsys-rep") || ends_with(path, ".qdrep"))
        bp_error_set(error, BP_FAILED,
                     "%s: Nsight's own format; export it first: nsys export --type sqlite %s", path,
                     path);
    else if (memcmp(head->bytes, BP_MAGIC, 8) == 0)
        refuse_profile(path, error);
    else
        bp_error_set(error, BP_FAILED,
                     "%s: neither an SQLite export of Nsight Systems nor JSON of the PyTorch "
                     "profiler",
                     path);
}

/* By what the file begins with: names say little about traces. NULL if it is none. */
static import_fn *importer(const struct head *head) {
    static const unsigned char gzip[2] = {0x1f, 0x8b};
    size_t blank = strspn((const char *)head->bytes, " \t\r\n");
    if (head->length >= 16 && memcmp(head->bytes, "SQLite format 3", 16) == 0)
        return bp_import_nsys;
    if (memcmp(head->bytes, gzip, sizeof(gzip)) == 0 || head->bytes[blank] == '{' ||
        head->bytes[blank] == '[')
        return bp_import_kineto;
    return NULL;
}

/* NULL with the error set. */
static import_fn *choose(const char *path, struct bp_error *error) {
    struct head head;
    if (read_head(path, &head, error))
        return NULL;
    import_fn *found = importer(&head);
    if (!found)
        refuse(path, &head, error);
    return found;
}

/* What is missing is missing in the trace, not in the profile that was made of it. */
static uint64_t tell(const struct bp_trace *trace, const char *path, const char *output) {
    uint64_t calls = 0;
    uint64_t kernels = 0;
    uint64_t sets = 0;
    for (uint32_t i = 0; i < trace->frame_count; i++)
        calls += trace->funcs[trace->frames[i].func].flags & BP_FUNC_CUDA ? 1 : 0;
    for (uint32_t i = 0; i < trace->work_count; i++) {
        kernels += trace->works[i].kernel;
        sets += !trace->works[i].kernel && trace->works[i].direction == BP_MEMSET;
    }
    uint64_t copies = trace->work_count - kernels - sets;
    printf("%s: %u thread%s, %s CUDA call%s, %s kernel%s, %s cop%s\n", output, trace->thread_count,
           trace->thread_count == 1 ? "" : "s", BP_COUNT(calls), calls == 1 ? "" : "s",
           BP_COUNT(kernels), kernels == 1 ? "" : "s", BP_COUNT(copies), copies == 1 ? "y" : "ies");
    if (trace->missing.length)
        bp_note("%s: %s", path, bp_text_get(&trace->missing));
    return copies;
}

bool bp_trace_is(const char *path) {
    struct bp_error ignored = {0};
    struct stat status;
    struct head head;
    bool trace = stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
                 read_head(path, &head, &ignored) == 0 && importer(&head);
    bp_error_fini(&ignored);
    return trace;
}

char *bp_trace_open(const char *path, struct bp_error *error) {
    struct bp_trace trace;
    struct head head;
    int memory = memfd_create("battprof", 0);
    char *profile = bp_make_text("/proc/self/fd/%d", memory);
    if (memory < 0)
        bp_error_set(error, BP_FAILED, "%s: no memory for its profile: %s", path, strerror(errno));
    bp_trace_init(&trace);
    if (memory < 0 || read_head(path, &head, error) || importer(&head)(&trace, path, error) ||
        bp_trace_write(&trace, path, profile, error)) {
        free(profile);
        profile = NULL;
    } else if (trace.missing.length) {
        bp_note("%s: %s", path, bp_text_get(&trace.missing));
    }
    bp_trace_fini(&trace);
    return profile;
}

static int import_file(const char *path, const char *output, uint64_t *copies,
                       struct bp_error *error) {
    struct bp_trace trace;
    import_fn *import = check_paths(path, output, error) ? NULL : choose(path, error);
    if (!import)
        return -1;
    bp_trace_init(&trace);
    int result = import(&trace, path, error);
    if (result == 0)
        result = bp_trace_write(&trace, path, output, error);
    if (result == 0)
        *copies = tell(&trace, path, output);
    bp_trace_fini(&trace);
    return result;
}

int bp_cmd_import(int argc, char **argv, struct bp_error *error) {
    struct settings settings = {0};
    char *output = NULL;
    uint64_t copies = 0;
    int result = 0;
    int first = bp_options_parse(&bp_command_import, &settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (first == argc) {
        bp_error_set(error, BP_USAGE, "import: no FILE; which kinds there are:\n%s help import",
                     bp_invoked());
        return BP_USAGE;
    }
    if (settings.output && argc - first > 1) {
        bp_error_set(error, BP_USAGE, "import: -o is for one FILE, not %d", argc - first);
        return BP_USAGE;
    }
    for (int i = first; i < argc && result == 0; i++) {
        size_t size = strlen(argv[i]) + 4;
        free(output);
        output = settings.output ? bp_copy_text(settings.output) : bp_alloc(size, 1);
        if (!settings.output)
            snprintf(output, size, "%s.bp", argv[i]);
        result = import_file(argv[i], output, &copies, error);
    }
    char *next = result ? NULL : bp_hint_report(output, copies ? "--by transfer" : "");
    if (next)
        printf("next: %s\n", next);
    free(next);
    free(output);
    return result ? BP_FAILED : BP_FINE;
}
