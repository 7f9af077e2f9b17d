/* SPDX-License-Identifier: MIT
 *
 * A new environment is made on the stack of the call, never with malloc: exec and spawn may run in
 * a child of vfork. What the caller passed is not changed.
 */
#include "interpose/process/environment.h"

#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/base/put.h"
#include "interpose/hook/hook.h"
#include "interpose/process/variables.h"

#define OURS 24
#define TEXT 1024
#define PRELOAD "LD_PRELOAD="
#define PRELOAD_LENGTH 11

extern char **environ;

static struct {
    const char *texts[OURS]; /* NAME=value, in `text`; the first one is LD_PRELOAD */
    unsigned count;
    size_t used;
    char text[OURS * TEXT];
} state;

static struct {
    int (*execve)(const char *, char *const *, char *const *);
    int (*execv)(const char *, char *const *);
    int (*execvp)(const char *, char *const *);
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    int (*execveat)(int, const char *, char *const *, char *const *, int);
    int (*execl)(const char *, const char *, ...);
    int (*execlp)(const char *, const char *, ...);
    int (*execle)(const char *, const char *, ...);
    int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const *, char *const *);
    int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                        const posix_spawnattr_t *, char *const *, char *const *);
    FILE *(*popen)(const char *, const char *);
} real;

static void add(const char *name, const char *value) {
    if (!value || state.count == OURS)
        return;
    char *text = state.text + state.used;
    size_t used = bp_put_text(text, TEXT, 0, name);
    used = bp_put_text(text, TEXT, bp_put_text(text, TEXT, used, "="), value);
    state.texts[state.count++] = text;
    state.used += used + 1;
}

void bp_environment_set(const char *tree, const struct bp_config *config) {
    const char *cuda = bp_variable_get(BATTPROF_CUDA), *name, *value;
    unsigned at = 0;
    char quiet[32] = "1";
    if (config->speaks)
        bp_put_number(quiet, sizeof quiet, bp_put_text(quiet, sizeof quiet, 0, BP_QUIET_UNLESS),
                      (uint32_t)bp_process.pid);
    state.count = 0;
    state.used = 0;
    add("LD_PRELOAD", config->library);
    add("BATTPROF_TREE", config->tree ? config->tree : tree);
    add("BATTPROF_DIR", config->directory);
    add("BATTPROF_QUIET", quiet);
    while ((name = bp_variables_inherited(&at, &value)) != NULL)
        add(name, value);
    /* The CUDA driver opens us and calls InitializeInjection when it starts. */
    if (strcmp(cuda, "off") != 0 && strcmp(cuda, "wrappers") != 0)
        add("CUDA_INJECTION64_PATH", config->library);
    add("NVTX_INJECTION64_PATH", config->library); /* unless the program has one, as all of these */
}

static size_t name_length(const char *text) {
    return (size_t)(strchr(text, '=') - text);
}

static const char *find(char *const *environment, const char *text) {
    size_t length = name_length(text) + 1;
    for (; environment && *environment; environment++)
        if (strncmp(*environment, text, length) == 0)
            return *environment;
    return NULL;
}

static int preloads_us(const char *text) {
    return text && strstr(text, state.texts[0] + PRELOAD_LENGTH) != NULL;
}

/* How many variables are missing; LD_PRELOAD counts if it is there without us. BATTPROF=off in the
 * new environment is somebody's wish to be left alone. */
static unsigned missing(char *const *environment) {
    unsigned n = 0;
    if (!bp_process.on || !state.count || find(environment, "BATTPROF=off"))
        return 0;
    for (unsigned i = 0; i < state.count; i++) {
        const char *there = find(environment, state.texts[i]);
        n += !there || (i == 0 && !preloads_us(there));
    }
    return n;
}

static size_t length_of(char *const *environment) {
    size_t n = 0;
    while (environment && environment[n])
        n++;
    return n;
}

/* Fill `full` (room for length + OURS + 1) with what the child gets; `preload` takes our LD_PRELOAD
 * joined with one that was there. */
static void complete(char *const *environment, const char **full, char *preload, size_t size) {
    size_t n = 0;
    const char *theirs = find(environment, PRELOAD);
    for (; environment && *environment; environment++)
        if (*environment != theirs || preloads_us(theirs))
            full[n++] = *environment;
    full[n] = NULL;
    if (theirs && !preloads_us(theirs)) {
        snprintf(preload, size, "%s:%s", state.texts[0], theirs + PRELOAD_LENGTH);
        full[n++] = preload;
        full[n] = NULL;
    }
    for (unsigned i = 0; i < state.count; i++)
        if (!find((char *const *)full, state.texts[i])) {
            full[n++] = state.texts[i];
            full[n] = NULL;
        }
}

/* The environment for a child, in `place` on the caller's stack if it differs from the given one:
 * after vfork there is no other memory to leave behind. */
#define PLACE_SIZE(environment) ((length_of(environment) + OURS + 1) * sizeof(char *) + 2 * TEXT)

static char *const *child_environment(char *const *environment, void *place, size_t size) {
    if (!missing(environment))
        return environment;
    const char **full = place;
    char *preload = (char *)place + size - 2 * TEXT;
    preload[0] = '\0';
    complete(environment, full, preload, 2 * TEXT);
    return (char *const *)full;
}

#define CHILD_ENVIRONMENT(environment)                                                             \
    child_environment(environment, alloca(PLACE_SIZE(environment)), PLACE_SIZE(environment))

/* Exec does not return unless it fails. */
#define EXEC(call)                                                                                 \
    do {                                                                                           \
        int busy = bp_process_leave_for_exec();                                                    \
        int result = call;                                                                         \
        bp_process_stay(busy);                                                                     \
        return result;                                                                             \
    } while (0)

static int wrap_execve(const char *path, char *const *arguments, char *const *environment) {
    char *const *full = CHILD_ENVIRONMENT(environment);
    EXEC(real.execve(path, arguments, full));
}

static int wrap_execv(const char *path, char *const *arguments) {
    char *const *full = CHILD_ENVIRONMENT(environ);
    EXEC(real.execve(path, arguments, full));
}

static int wrap_execvpe(const char *file, char *const *arguments, char *const *environment) {
    char *const *full = CHILD_ENVIRONMENT(environment);
    EXEC(real.execvpe(file, arguments, full));
}

static int wrap_execvp(const char *file, char *const *arguments) {
    char *const *full = CHILD_ENVIRONMENT(environ);
    EXEC(real.execvpe(file, arguments, full));
}

static int wrap_fexecve(int fd, char *const *arguments, char *const *environment) {
    char *const *full = CHILD_ENVIRONMENT(environment);
    EXEC(real.fexecve(fd, arguments, full));
}

static int wrap_execveat(int fd, const char *path, char *const *arguments, char *const *environment,
                         int flags) {
    char *const *full = CHILD_ENVIRONMENT(environment);
    EXEC(real.execveat(fd, path, arguments, full, flags));
}

static size_t count_arguments(va_list list) {
    size_t n = 1;
    while (va_arg(list, char *))
        n++;
    return n;
}

/* arguments[0] is `first`; the list ends with NULL, which is stored too. */
static void collect_arguments(char **arguments, const char *first, va_list list) {
    size_t n = 0;
    arguments[n++] = (char *)first;
    while (first && (arguments[n] = va_arg(list, char *)))
        n++;
}

#define COLLECT(arguments, first)                                                                  \
    char **arguments;                                                                              \
    do {                                                                                           \
        va_list list;                                                                              \
        va_start(list, first);                                                                     \
        size_t size = (first) ? count_arguments(list) : 0;                                         \
        va_end(list);                                                                              \
        arguments = alloca((size + 1) * sizeof *arguments);                                        \
        va_start(list, first);                                                                     \
        collect_arguments(arguments, first, list);                                                 \
        va_end(list);                                                                              \
    } while (0)

static int wrap_execl(const char *path, const char *first, ...) {
    COLLECT(arguments, first);
    return wrap_execv(path, arguments);
}

static int wrap_execlp(const char *file, const char *first, ...) {
    COLLECT(arguments, first);
    return wrap_execvp(file, arguments);
}

static int wrap_execle(const char *path, const char *first, ...) {
    COLLECT(arguments, first);
    va_list list;
    va_start(list, first);
    if (first)
        count_arguments(list); /* to the NULL; the environment follows it */
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return wrap_execve(path, arguments, environment);
}

static int wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const *arguments,
                            char *const *environment) {
    return real.posix_spawn(pid, path, actions, attributes, arguments,
                            CHILD_ENVIRONMENT(environment));
}

static int wrap_posix_spawnp(pid_t *pid, const char *file,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const *arguments,
                             char *const *environment) {
    return real.posix_spawnp(pid, file, actions, attributes, arguments,
                             CHILD_ENVIRONMENT(environment));
}

void bp_environment_export(void) {
    int saved = errno;
    if (missing(environ)) {
        const char **full = alloca(PLACE_SIZE(environ));
        char preload[2 * TEXT] = "";
        complete(environ, full, preload, sizeof preload);
        for (; *full; full++)
            if (strncmp(*full, "BATTPROF_", 9) == 0 ||
                strncmp(*full, PRELOAD, PRELOAD_LENGTH) == 0) {
                char name[64] = "";
                strncat(name, *full, name_length(*full) < 63 ? name_length(*full) : 63);
                setenv(name, strchr(*full, '=') + 1, 1);
            }
    }
    errno = saved;
}

static FILE *wrap_popen(const char *command, const char *type) {
    bp_environment_export();
    return real.popen(command, type);
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(execve),  BP_WRAP(execv),    BP_WRAP(execvp),      BP_WRAP(execvpe),
    BP_WRAP(fexecve), BP_WRAP(execveat), BP_WRAP(execl),       BP_WRAP(execlp),
    BP_WRAP(execle),  BP_WRAP(popen),    BP_WRAP(posix_spawn), BP_WRAP(posix_spawnp),
};

void bp_environment_init(void) {
    bp_hook_wraps(wraps, sizeof wraps / sizeof *wraps);
}
