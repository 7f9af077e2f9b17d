/* SPDX-License-Identifier: MIT
 *
 * The library's beginning. The constructor runs before those of the target's libraries (the object
 * is linked with -z initfirst), also before libc's own: environment variables come from the
 * constructor's arguments, and nothing here may need more of libc than memory and strings.
 */
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "cuda/collector.h"
#include "interpose/base/log.h"
#include "interpose/base/put.h"
#include "interpose/hook/hook.h"
#include "interpose/hook/loader.h"
#include "interpose/hook/object.h"
#include "interpose/hook/source.h"
#include "interpose/ledger/calibrate.h"
#include "interpose/process/attached.h"
#include "interpose/process/count.h"
#include "interpose/process/environment.h"
#include "interpose/process/lifetime.h"
#include "interpose/process/place.h"
#include "interpose/process/process.h"
#include "interpose/process/signals.h"
#include "interpose/process/switch.h"
#include "interpose/process/variables.h"
#include "interpose/python/python.h"
#include "interpose/sample/sampler.h"
#include "interpose/sample/sites.h"
#include "interpose/task/native.h"
#include "interpose/task/range.h"
#include "interpose/unwind/tables.h"
#include "interpose/unwind/walk.h"
#include "profile/clock.h"

#define DEFAULT_HOOK "libdsl*"

static struct {
    char library[600];
    char directory[512];
    int late;      /* the program was running when we were loaded */
    uint64_t mask; /* signals, while they are held */
} state;

static void absolute(const char *path, char *text, size_t size) {
    char directory[512] = "";
    if (path[0] != '/')
        BP_SYS2(SYS_getcwd, directory, sizeof directory);
    size_t used = bp_put_text(text, size, 0, directory);
    used = bp_put_text(text, size, used, *directory ? "/" : "");
    bp_put_text(text, size, used, path);
}

/* In load order: what is preloaded comes before libc, what is opened later behind it. */
static int find_self(struct dl_phdr_info *info, size_t size, void *unused) {
    struct bp_elf elf;
    uint64_t here = (uint64_t)&state;
    (void)size;
    (void)unused;
    if (bp_elf_read(&elf, info) != 0)
        return 0;
    if (here < elf.low || here >= elf.high) {
        state.late |= strcmp(elf.soname, "libc.so.6") == 0;
        return 0;
    }
    absolute(elf.path, state.library, sizeof state.library);
    bp_walk_init(elf.low, elf.high);
    return 1;
}

/* The first process of a tree asks its children to be quiet, and not what it becomes by exec. */
static int is_first(const char *quiet) {
    size_t length = sizeof BP_QUIET_UNLESS - 1;
    return quiet && strncmp(quiet, BP_QUIET_UNLESS, length) == 0 &&
           strtol(quiet + length, NULL, 10) == BP_SYS0(SYS_getpid);
}

/* Who is in a tree was given the pattern, too: it writes where the wall page is, or the process
 * that chose would be alone there. */
static void find_place(char **environment, const char *tree) {
    char place[sizeof state.directory];
    const char *pattern = bp_variable_get(BATTPROF_DIR);
    const char *slash = tree && strchr(pattern, '%') ? strrchr(tree, '/') : NULL;
    if (slash)
        bp_put_part(place, sizeof place, 0, tree, (size_t)(slash - tree));
    else if (tree)
        bp_put_text(place, sizeof place, 0, pattern);
    else
        bp_place_expand(environment, pattern, place, sizeof place);
    absolute(place, state.directory, sizeof state.directory);
}

/* One that is run by `ld.so PROGRAM` has no loader, and not the arguments of its beginning. */
static char **first_arguments(char **arguments) {
    return state.late || !getauxval(AT_BASE) ? NULL : arguments;
}

static struct bp_config read_config(char **environment, char **arguments) {
    struct bp_config config = {.directory = state.directory, .library = state.library};
    const char *wait = bp_variable_get(BATTPROF_WAIT);
    config.tree = bp_variable_get(BATTPROF_TREE);
    find_place(environment, config.tree);
    size_t length = strlen(state.directory);
    if (length > 2 && strcmp(state.directory + length - 2, "/.") == 0)
        state.directory[length - 2] = '\0';
    dl_iterate_phdr(find_self, NULL);
    config.arguments = first_arguments(arguments);
    const char *quiet = bp_variable_get(BATTPROF_QUIET);
    int first = is_first(quiet);
    config.quiet = quiet && !first;
    config.speaks = first || (!quiet && !config.tree);
    bp_hook_waits = !(wait && strcmp(wait, "0") == 0);
    return config;
}

/* The kernel puts the program's name at the top of the main stack. */
static void find_main_stack(void) {
    struct rlimit limit;
    uint64_t size = UINT64_C(1) << 30, high = getauxval(AT_EXECFN);
    if (BP_SYS4(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        size = limit.rlim_cur;
    bp_process.main_high = high;
    bp_process.main_low = high > size ? high - size : 0;
}

static void note_tables(const struct bp_elf *elf) {
    bp_tables_add(elf->low, elf->high, elf->unwind);
}

/* Objects were loaded. */
static void look_at_objects(void) {
    bp_python_look();
    bp_sampler_look();
}

static void announce_hooks(void) {
    const char *more = bp_variable_get(BATTPROF_HOOK), *dsl = bp_variable_get(BATTPROF_DSL);
    const char *usual = dsl ? "" : DEFAULT_HOOK;
    struct bp_header *header = bp_process.writer.header;
    size_t used = bp_put_text(header->hooks, sizeof header->hooks, 0, usual);
    used = bp_put_text(header->hooks, sizeof header->hooks, used, *usual && more ? "," : "");
    bp_put_text(header->hooks, sizeof header->hooks, used, more ? more : "");
    bp_hook_function("", BP_FUNC_ROOT);
    bp_hook_function("", BP_FUNC_FOLDED);
    bp_hook_patterns(usual, 0);
    bp_hook_dsl(dsl ? dsl : "");
    if (more)
        bp_hook_patterns(more, 0);
    bp_count_add(bp_variable_get(BATTPROF_COUNT), BP_FUNC_COUNTED);
    bp_count_add(bp_variable_get(BATTPROF_LINES), BP_FUNC_LINES);
    bp_object_watch(note_tables, bp_tables_remove);
    bp_loader_init(look_at_objects);
    bp_lifetime_init();
    bp_waiting_init();
    bp_process_init();
    bp_task_init(bp_variable_get(BATTPROF_TASKS));
    bp_nvtx_init();
    const char *cuda = bp_variable_get(BATTPROF_CUDA);
    bp_cuda_init(cuda, bp_variable_get(BATTPROF_CUDA_HASH) != NULL);
    if (strcmp(cuda, "off") == 0)
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

/* Its clocks go on through exec, too. */
static void begin_main_thread(void) {
    struct bp_thread *thread = bp_thread_begin(bp_process.main_low, bp_process.main_high, 0);
    if (thread && (state.late || bp_process.writer.header->image))
        bp_thread_ran_before(thread);
}

/* By a script that `battprof attach` has the process's own Python run. */
static int is_attached(void) {
    const char *word = bp_variable_get(BATTPROF);
    return word && strcmp(word, "attached") == 0;
}

static enum bp_light how_to_time(const char *exact) {
    if (!exact)
        return BP_LIGHT_ON;
    if (*exact == 'j')
        return BP_LIGHT_JUMPS;
    return *exact == '0' ? BP_LIGHT_EAGER : BP_LIGHT_OFF;
}

/* Where other threads may run, each does for itself. */
static void hold_signals(void) {
    if (state.late)
        return;
    state.mask = bp_signals_block();
    bp_signals_held = 1;
}

static void release_signals(void) {
    if (!bp_signals_held)
        return;
    bp_signals_held = 0;
    bp_signals_restore(state.mask);
}

static void start(char **arguments, char **environment, char **given) {
    uint64_t now;
    struct bp_config config = read_config(environment, arguments);
    bp_process.clock = bp_clock_kind(bp_variable_get(BATTPROF_CLOCK));
    now = bp_clock_now(bp_process.clock);
    bp_startup_mark(BP_STARTUP_BEGIN);
    bp_log_init();
    int error = create_profile(&config, now);
    if (error) {
        if (!config.quiet)
            bp_log("cannot write a profile in %s: %s; the program runs unprofiled "
                   "(BATTPROF_DIR names another directory)",
                   config.directory, bp_log_reason(-error));
        return;
    }
    if (config.speaks && bp_variables_unknown())
        bp_log("battprof has no variable %s", bp_variables_unknown());
    if (state.late)
        bp_process.writer.header->flags |= BP_LATE;
    hold_signals();
    bp_process_join_tree(&config);
    bp_variables_note(given);
    bp_variables_note(environment);
    announce_hooks();
    bp_source_set_sites(bp_sites_count);
    int paused = bp_switch_begins_paused();
    release_signals(); /* the sampler looks which are blocked */
    int sampled = bp_sampler_init(bp_variable_get(BATTPROF_SAMPLE), paused);
    hold_signals();
    if (sampled)
        bp_signals_init();
    bp_process.on = 1;
    find_main_stack();
    bp_startup_mark(BP_STARTUP_THREAD);
    /* One that waits is recorded from when it goes on, as all that were there: what waits in a call
     * that we have not seen would be taken for busy. */
    if (on_main_thread() && !bp_attached_waits())
        begin_main_thread();
    bp_object_scan(NULL, NULL);
    bp_hook_place_stubs();
    bp_lifetime_start();
    bp_light_on = how_to_time(bp_variable_get(BATTPROF_EXACT));
    bp_calibrate(bp_process_run());
    bp_python_init(bp_variable_get(BATTPROF_DSL), bp_variable_get(BATTPROF_PYTHON),
                   bp_variable_get(BATTPROF_PYTHON_ALL), bp_waiting_gil);
    look_at_objects();
    if (given || is_attached())
        bp_attached_threads();
    note_rate(bp_process.writer.header);
    release_signals();
    bp_startup_mark(BP_STARTUP_END);
    bp_switch_init(paused);
}

__attribute__((constructor)) static void construct(int count, char **arguments,
                                                   char **environment) {
    int saved = errno;
    (void)count;
    char **given = bp_attached_settings();
    bp_variables_read(given); /* first: what is set already stays */
    bp_variables_read(environment);
    const char *off = bp_variable_get(BATTPROF);
    if (!off || strcmp(off, "off") != 0)
        start(arguments, environment, given);
    errno = saved;
}
