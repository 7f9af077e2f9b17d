/* SPDX-License-Identifier: MIT
 *
 * The library's beginning. The constructor runs before those of the target's libraries (the object
 * is linked with -z initfirst), also before libc's own: environment variables come from the
 * constructor's arguments, and nothing here may need more of libc than memory and strings.
 */
#include "interpose/init.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "interpose/log.h"

/* BP_UNKNOWN_MACHINE: a test's way to see what happens elsewhere. */
#if defined(__x86_64__) && !defined(BP_UNKNOWN_MACHINE)
#    include "cuda/collector.h"
#    include "interpose/calibrate.h"
#    include "interpose/count.h"
#    include "interpose/environment.h"
#    include "interpose/hook.h"
#    include "interpose/lifetime.h"
#    include "interpose/loader.h"
#    include "interpose/object.h"
#    include "interpose/process.h"
#    include "interpose/python/python.h"
#    include "interpose/sample/sampler.h"
#    include "interpose/task_call.h"
#    include "interpose/task_range.h"
#    include "interpose/variables.h"
#    include "profile/clock.h"

#    define VARIABLES 32
#    define DEFAULT_HOOK "libdsl*"

static struct {
    struct {
        char name[32];
        char value[600];
    } variables[VARIABLES]; /* BATTPROF_*, copied: programs write over their environment */
    unsigned count;
    char library[600];
    char directory[512];
} state;

static void read_variables(char **environment) {
    for (; environment && *environment && state.count < VARIABLES; environment++) {
        const char *text = *environment, *value = strchr(text, '=');
        if (strncmp(text, "BATTPROF", 8) != 0 || !value || value - text >= 32)
            continue;
        memcpy(state.variables[state.count].name, text, (size_t)(value - text));
        snprintf(state.variables[state.count].value, sizeof state.variables[0].value, "%s",
                 value + 1);
        state.count++;
    }
}

const char *bp_config_variable(const char *name) {
    for (unsigned i = 0; i < state.count; i++)
        if (strcmp(state.variables[i].name, name) == 0 && *state.variables[i].value)
            return state.variables[i].value;
    return NULL;
}

static void absolute(const char *path, char *text, size_t size) {
    char directory[512] = "";
    if (path[0] != '/')
        BP_SYS2(SYS_getcwd, directory, sizeof directory);
    snprintf(text, size, "%s%s%s", directory, *directory ? "/" : "", path);
}

static int find_self(struct dl_phdr_info *info, size_t size, void *unused) {
    struct bp_elf elf;
    uint64_t here = (uint64_t)&state;
    (void)size;
    (void)unused;
    if (bp_elf_read(&elf, info) != 0 || here < elf.low || here >= elf.high)
        return 0;
    absolute(elf.path, state.library, sizeof state.library);
    return 1;
}

/* The first process of a tree asks its children to be quiet, and not what it becomes by exec. */
static int is_first(const char *quiet) {
    size_t length = sizeof BP_QUIET_UNLESS - 1;
    return quiet && strncmp(quiet, BP_QUIET_UNLESS, length) == 0 &&
           strtol(quiet + length, NULL, 10) == BP_SYS0(SYS_getpid);
}

static struct bp_config read_config(void) {
    struct bp_config config = {.directory = state.directory, .library = state.library};
    const char *directory = bp_config_variable("BATTPROF_DIR");
    const char *wait = bp_config_variable("BATTPROF_WAIT");
    absolute(directory ? directory : ".", state.directory, sizeof state.directory);
    size_t length = strlen(state.directory);
    if (length > 2 && strcmp(state.directory + length - 2, "/.") == 0)
        state.directory[length - 2] = '\0';
    dl_iterate_phdr(find_self, NULL);
    config.tree = bp_config_variable("BATTPROF_TREE");
    const char *quiet = bp_config_variable("BATTPROF_QUIET");
    int first = is_first(quiet);
    config.quiet = quiet && !first;
    config.speaks = first || (!quiet && !config.tree);
    bp_hook_waits = !(wait && strcmp(wait, "0") == 0);
    return config;
}

/* CPUID 0Dh EBX: the size of an XSAVE area for all enabled features; 0 without OSXSAVE. */
static uint64_t preserve_size(void) {
    uint32_t a = 1, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (!(c >> 27 & 1))
        return 0;
    a = 0x0d;
    c = 0;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return b;
}

/* The kernel puts the program's name at the top of the main stack. */
static void main_stack(uint64_t *low, uint64_t *high) {
    struct rlimit limit;
    uint64_t size = UINT64_C(1) << 30;
    if (BP_SYS4(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        size = limit.rlim_cur;
    *high = getauxval(AT_EXECFN);
    *low = *high > size ? *high - size : 0;
}

static void announce_hooks(void) {
    const char *more = bp_config_variable("BATTPROF_HOOK");
    struct bp_header *header = bp_process.writer.header;
    snprintf(header->hooks, sizeof header->hooks, "%s%s%s", DEFAULT_HOOK, more ? "," : "",
             more ? more : "");
    bp_hook_function("", BP_FUNC_ROOT);
    bp_hook_function("", BP_FUNC_FOLDED);
    bp_hook_patterns(DEFAULT_HOOK, 0);
    if (more)
        bp_hook_patterns(more, 0);
    bp_count_add(bp_config_variable("BATTPROF_COUNT"), BP_FUNC_COUNTED);
    bp_loader_init();
    bp_lifetime_init();
    bp_waiting_init();
    bp_process_init();
    bp_task_init(bp_config_variable("BATTPROF_TASKS"));
    bp_nvtx_init();
    const char *cuda = bp_config_variable("BATTPROF_CUDA");
    bp_cuda_init(cuda, bp_config_variable("BATTPROF_CUDA_HASH") != NULL);
    if (cuda && strcmp(cuda, "off") == 0)
        header->flags |= BP_NO_CUDA;
}

static void note_rate(struct bp_header *header) {
    struct bp_clock_pair now = bp_clock_pair_now(bp_process.clock);
    uint64_t ns = now.monotonic_ns - header->first.monotonic_ns;
    uint64_t ticks = now.ticks - header->first.ticks;
    if (ns)
        header->ticks_per_s = (uint64_t)((double)ticks * 1e9 / (double)ns);
}

static int on_main_thread(void) {
    return BP_SYS0(SYS_getpid) == BP_SYS0(SYS_gettid);
}

/* A directory that was named is made, by the first process: a later one that finds it gone does not
 * bring it back. */
static int create_profile(const struct bp_config *config, uint64_t now) {
    int error = bp_process_create(config, now);
    if (error == -ENOENT && !config->tree && BP_SYS2(SYS_mkdir, config->directory, 0777) == 0)
        error = bp_process_create(config, now);
    return error;
}

/* The arguments lie above the first function's frame, which is of no size: so much and less. */
#    define FIRST_FRAME 64

static void start(char **arguments, char **environment) {
    uint64_t now, low, high;
    struct bp_config config = read_config();
    bp_process.clock = bp_clock_kind(bp_config_variable("BATTPROF_CLOCK"));
    now = bp_clock_now(bp_process.clock);
    bp_startup_mark(BP_STARTUP_BEGIN);
    bp_preserve_size = preserve_size();
    bp_log_init();
    int error = create_profile(&config, now);
    if (error) {
        if (!config.quiet)
            bp_log("cannot write a profile in %s: %s; the program runs unprofiled "
                   "(BATTPROF_DIR names another directory)",
                   config.directory, bp_log_reason(-error));
        return;
    }
    bp_process_join_tree(&config);
    bp_variables_note(environment);
    announce_hooks();
    bp_sampler_init(bp_config_variable("BATTPROF_SAMPLE"));
    bp_process.on = 1;
    main_stack(&low, &high);
    bp_startup_mark(BP_STARTUP_THREAD);
    struct bp_thread *thread = on_main_thread() ? bp_thread_begin(low, high, 0) : NULL;
    if (thread)
        ((struct bp_local *)thread->local)->stack_first = (uint64_t)arguments - FIRST_FRAME;
    bp_object_scan(NULL, NULL);
    bp_hook_place_stubs();
    bp_lifetime_start();
    bp_calibrate();
    bp_python_init(bp_config_variable("BATTPROF_PYTHON"),
                   bp_config_variable("BATTPROF_PYTHON_ALL"));
    bp_python_look();
    bp_sampler_look();
    note_rate(bp_process.writer.header);
    bp_startup_mark(BP_STARTUP_END);
}

__attribute__((constructor)) static void construct(int argc, char **argv, char **environment) {
    int saved = errno;
    (void)argc;
    read_variables(environment);
    const char *off = bp_config_variable("BATTPROF");
    if (!off || strcmp(off, "off") != 0)
        start(argv, environment);
    errno = saved;
}

#else

__attribute__((constructor)) static void construct(void) {
    bp_log_init();
    bp_log("this machine is not x86-64: the program runs unprofiled");
}

#endif
