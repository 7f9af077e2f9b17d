/* SPDX-License-Identifier: MIT
 *
 * _PyRuntime begins with a table of offsets, made for this (pycore_debug_offsets.h). The settings
 * are in the C environment while the library is loaded, and not in os.environ.
 */
#include "tools/attach/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/base/text.h"
#include "tools/live/exported.h"

#define COOKIE "xdebugpy"
#define LONGEST_PATH 512   /* of a script, with its end: _Py_MAX_SCRIPT_PATH_SIZE */
#define PLEASE_STOP 32u    /* in eval_breaker: look at the requests */
#define START_NS 500000000 /* until it begins; one that computes looks every few microseconds */
#define END_NS 30000000000 /* until the library is loaded: others may take all CPUs */
#define STEP_NS 200000
#define GRACE_NS 20000000 /* after it is withdrawn: it may have begun at that moment */

/* Offsets in the table; the last part, of remote debugging, is elsewhere in each version. */
enum { VERSION = 8, FREE_THREADED = 16, INTERPRETERS = 40, MAIN_THREAD = 80 };
static const struct {
    int minor;
    uint16_t support;
} tables[] = {{14, 712}, {15, 840}};

struct support {
    uint64_t eval_breaker; /* in the thread */
    uint64_t requests;     /* in the thread */
    uint64_t enabled;      /* in the interpreter */
    uint64_t pending;      /* in the requests */
    uint64_t path;         /* the same */
};

struct remote {
    pid_t pid;
    uint64_t breaker, pending, path; /* addresses */
};

static bool copy(pid_t pid, uint64_t address, void *here, size_t size, bool to_there) {
    struct iovec ours = {here, size}, theirs = {(void *)(uintptr_t)address, size};
    ssize_t done = to_there ? process_vm_writev(pid, &ours, 1, &theirs, 1, 0)
                            : process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
    return done == (ssize_t)size;
}

static uint64_t read_word(pid_t pid, uint64_t address) {
    uint64_t word = 0;
    return copy(pid, address, &word, sizeof(word), false) ? word : 0;
}

/* Where _PyRuntime is; 0: this is no Python of 3.14 or later. */
static uint64_t find_runtime(const struct bp_objects *objects) {
    uint64_t runtime = 0;
    char cookie[sizeof(COOKIE) - 1] = "";
    for (uint32_t i = 0; i < objects->count && !runtime; i++) {
        if (!strstr(bp_base_name(objects->rows[i].path), "python3."))
            continue;
        char *path = bp_make_text("/proc/%d/root%s", (int)objects->pid, objects->rows[i].path);
        uint64_t found = bp_exported(path, "_PyRuntime");
        free(path);
        runtime = found ? objects->rows[i].base + found : 0;
    }
    return runtime && copy(objects->pid, runtime, cookie, sizeof(cookie), false) &&
                   memcmp(cookie, COOKIE, sizeof(cookie)) == 0
               ? runtime
               : 0;
}

static const char *look(const struct bp_objects *objects, struct remote *remote) {
    pid_t pid = objects->pid;
    uint64_t runtime = find_runtime(objects), place = 0;
    uint64_t version = runtime ? read_word(pid, runtime + VERSION) : 0;
    struct support support;
    uint32_t enabled = 0;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (version >> 24 == 3 && (int)(version >> 16 & 0xff) == tables[i].minor)
            place = runtime + tables[i].support;
    if (!place)
        return "it is no Python 3.14 or 3.15";
    if (read_word(pid, runtime + FREE_THREADED) ||
        !copy(pid, place, &support, sizeof(support), false))
        return "its Python is free-threaded, or cannot be read";
    uint64_t interpreter = read_word(pid, runtime + read_word(pid, runtime + INTERPRETERS));
    uint64_t thread = read_word(pid, interpreter + read_word(pid, runtime + MAIN_THREAD));
    if (!interpreter || !thread ||
        !copy(pid, interpreter + support.enabled, &enabled, sizeof(enabled), false) || !enabled)
        return "its Python was started with PYTHON_DISABLE_REMOTE_DEBUG, which forbids it";
    *remote = (struct remote){.pid = pid,
                              .breaker = thread + support.eval_breaker,
                              .pending = thread + support.requests + support.pending,
                              .path = thread + support.requests + support.path};
    return NULL;
}

const char *bp_remote_refusal(const struct bp_objects *objects) {
    struct remote remote;
    return look(objects, &remote);
}

/* A text of Python. */
static void print_text(FILE *file, const char *text) {
    fputc('\'', file);
    for (; *text; text++)
        if (*text < ' ' || *text == '\'' || *text == '\\')
            fprintf(file, "\\x%02x", (unsigned char)*text);
        else
            fputc(*text, file);
    fputc('\'', file);
}

/* It ends by removing itself, whatever happened; nothing is written, nothing remains in __main__.
 */
static bool write_script(const char *path, const struct bp_attach_request *request) {
    FILE *file = fopen(path, "wex");
    if (!file)
        return false;
    fputs("# -*- coding: utf-8 -*-\n"
          "def load(path, library, settings):\n"
          "    try:\n"
          "        import ctypes\n"
          "        c = ctypes.CDLL(None)\n"
          "        c.getenv.restype = ctypes.c_char_p\n"
          "        settings = [text.encode().split(b'=', 1) for text in settings]\n"
          "        before = [(name, c.getenv(name)) for name, _ in settings]\n"
          "        for name, value in settings:\n"
          "            c.setenv(name, value, 1)\n"
          "        try:\n"
          "            ctypes.CDLL(library)\n"
          "        finally:\n"
          "            for name, value in before:\n"
          "                c.unsetenv(name) if value is None else c.setenv(name, value, 1)\n"
          "    except Exception:\n"
          "        pass\n"
          "    import os\n"
          "    os.unlink(path)\n"
          "load(",
          file);
    print_text(file, path);
    fputs(", ", file);
    print_text(file, request->library);
    fputs(", [", file);
    for (char *const *text = request->assignments; *text; text++) {
        print_text(file, strcmp(*text, "BATTPROF=on") == 0 ? "BATTPROF=attached" : *text);
        fputs(", ", file);
    }
    fputs("])\ndel load\n", file);
    bool fine = fchmod(fileno(file), 0644) == 0;
    return fclose(file) == 0 && fine;
}

/* The path, then that it is there, then that it is to be looked for. */
static bool ask(const struct remote *remote, const char *path) {
    char text[LONGEST_PATH] = "";
    uint32_t pending = 1;
    snprintf(text, sizeof(text), "%s", path);
    if (!copy(remote->pid, remote->path, text, sizeof(text), true) ||
        !copy(remote->pid, remote->pending, &pending, sizeof(pending), true))
        return false;
    uint64_t breaker = read_word(remote->pid, remote->breaker) | PLEASE_STOP;
    return copy(remote->pid, remote->breaker, &breaker, sizeof(breaker), true);
}

static bool is_pending(const struct remote *remote) {
    uint32_t pending = 0;
    return copy(remote->pid, remote->pending, &pending, sizeof(pending), false) && pending;
}

static uint64_t now_ns(void) {
    return bp_clock_ns(CLOCK_MONOTONIC);
}

/* The time from the script's beginning to its end, ns; 0: it has not begun, and will not. */
static uint64_t wait_for(const struct remote *remote, const char *script) {
    const struct timespec step = {.tv_nsec = STEP_NS}, grace = {.tv_nsec = GRACE_NS};
    const uint32_t none = 0;
    uint64_t begin = now_ns(), seen = begin;
    for (; is_pending(remote) && seen - begin < START_NS; seen = now_ns())
        nanosleep(&step, NULL);
    if (is_pending(remote)) {
        copy(remote->pid, remote->pending, (void *)(uintptr_t)&none, sizeof(none), true);
        nanosleep(&grace, NULL);
        return 0;
    }
    while (access(script, F_OK) == 0 && now_ns() - seen < END_NS)
        nanosleep(&step, NULL);
    return now_ns() - seen + STEP_NS;
}

bool bp_remote_load(const struct bp_objects *objects, const struct bp_attach_request *request,
                    struct bp_attach_result *result) {
    struct remote remote;
    if (look(objects, &remote))
        return false;
    char *script = bp_make_text("%s/attach.%d.py", request->directory, (int)objects->pid);
    bool asked =
        strlen(script) < LONGEST_PATH && write_script(script, request) && ask(&remote, script);
    result->stopped_ns = asked ? wait_for(&remote, script) : 0;
    result->tid = objects->pid;
    unlink(script);
    free(script);
    return result->stopped_ns > 0;
}
