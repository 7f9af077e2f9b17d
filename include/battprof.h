/* SPDX-License-Identifier: MIT
 *
 * For programs that want to tell battprof about their tasks and phases. Nothing to link: under the
 * profiler (battprof run, or LD_PRELOAD) the functions are those of libbattprof.so, without it they
 * do nothing.
 *
 *     battprof_task_begin(id);
 *     ...
 *     battprof_task_end(0);
 *
 * A task or phase belongs to the thread that begins it, and the same thread ends it. They may be
 * nested. Texts are copied, 64 bytes of them.
 *
 *     battprof_start();
 *     ...
 *     battprof_stop();
 *
 * switch the recording of the process on and off: a program that is run with `battprof run
 * --paused` records what it wants. When they return, it is so, in all threads. battprof_mark()
 * notes an instant, with a text of up to 111 bytes.
 */
#ifndef BATTPROF_H
#define BATTPROF_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(BATTPROF_DISABLE)
#    define BATTPROF_WEAK __attribute__((weak))
extern void libbattprof_task_begin(const char *id) BATTPROF_WEAK;
extern void libbattprof_task_end(int failed) BATTPROF_WEAK;
extern void libbattprof_phase_begin(const char *name) BATTPROF_WEAK;
extern void libbattprof_phase_end(void) BATTPROF_WEAK;
extern void libbattprof_sample(void) BATTPROF_WEAK;
extern void libbattprof_start(void) BATTPROF_WEAK;
extern void libbattprof_stop(void) BATTPROF_WEAK;
extern void libbattprof_mark(const char *text) BATTPROF_WEAK;
#    undef BATTPROF_WEAK
#    define BATTPROF_CALL(function, arguments)                                                     \
        do {                                                                                       \
            if (function)                                                                          \
                function arguments;                                                                \
        } while (0)
#else
#    define BATTPROF_CALL(function, arguments)                                                     \
        do {                                                                                       \
        } while (0)
#endif

/* A task begins; the id tells it from others and may be NULL. */
static inline void battprof_task_begin(const char *id) {
    (void)id;
    BATTPROF_CALL(libbattprof_task_begin, (id));
}

/* The innermost task of the thread that was begun this way ends; did it fail? */
static inline void battprof_task_end(int failed) {
    (void)failed;
    BATTPROF_CALL(libbattprof_task_end, (failed));
}

static inline void battprof_phase_begin(const char *name) {
    (void)name;
    BATTPROF_CALL(libbattprof_phase_begin, (name));
}

static inline void battprof_phase_end(void) {
    BATTPROF_CALL(libbattprof_phase_end, ());
}

/* One sample of the task is done. */
static inline void battprof_sample(void) {
    BATTPROF_CALL(libbattprof_sample, ());
}

/* Record from now on. */
static inline void battprof_start(void) {
    BATTPROF_CALL(libbattprof_start, ());
}

/* Pause: from now on nothing is recorded, and calls cost what they cost without the profiler. */
static inline void battprof_stop(void) {
    BATTPROF_CALL(libbattprof_stop, ());
}

static inline void battprof_mark(const char *text) {
    (void)text;
    BATTPROF_CALL(libbattprof_mark, (text));
}

#undef BATTPROF_CALL

#ifdef __cplusplus
}
#endif
#endif
