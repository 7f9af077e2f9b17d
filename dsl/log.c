/* SPDX-License-Identifier: MIT
 *
 * The call log: one line per DSL call with time, thread, name and arguments, flushed at once so
 * that a crash loses nothing. That is what the Python pipeline did, and what made it several times
 * slower; it is kept so that a profile can show it. Forked workers share the file description, and
 * each flush is one write, so lines stay whole.
 */
#include "dsl/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *dsl_log_stream;

int dsl_log_open(const char *path) {
    FILE *stream = fopen(path, "w");
    if (!stream)
        return -errno;
    dsl_log_stream = stream;
    return 0;
}

void dsl_log_close(void) {
    if (dsl_log_stream)
        fclose(dsl_log_stream);
    dsl_log_stream = NULL;
}

static int format_value(char *out, size_t room, struct dsl_value value) {
    switch (value.type) {
    case DSL_INT:
        return snprintf(out, room, "%d", value.number);
    case DSL_PAIR:
        return snprintf(out, room, "(%d, %d)", value.pair.i, value.pair.j);
    case DSL_GRID:
        return snprintf(out, room, "grid %dx%d", value.grid->height, value.grid->width);
    case DSL_OBJECT:
        return snprintf(out, room, "object of %d", value.object->n);
    case DSL_TUPLE:
        return snprintf(out, room, "%s of %d", value.tuple->is_set ? "set" : "tuple",
                        value.tuple->n);
    case DSL_FUNCTION:
        return snprintf(out, room, "%s", value.function->name);
    case DSL_NONE:
        break;
    }
    return snprintf(out, room, "none");
}

static struct dsl_value next_argument(char letter, va_list *args) {
    switch (letter) {
    case 'G':
        return value_grid(va_arg(*args, const struct dsl_grid *));
    case 'O':
        return value_object(va_arg(*args, const struct dsl_object *));
    case 'T':
        return value_tuple(va_arg(*args, const struct dsl_tuple *));
    case 'F':
        return value_function(va_arg(*args, const struct dsl_function *));
    case 'P':
        return value_pair(va_arg(*args, struct dsl_pair));
    case 'V':
        return va_arg(*args, struct dsl_value);
    default:
        return value_int(va_arg(*args, int));
    }
}

void dsl_log_call(const char *name, const char *signature, ...) {
    char text[256] = "";
    size_t used = 0;
    va_list args;
    va_start(args, signature);
    for (const char *letter = signature; *letter && used < sizeof(text) - 64; letter++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, letter > signature ? ", " : "");
        int wrote = format_value(text + used, sizeof(text) - used, next_argument(*letter, &args));
        used += (size_t)wrote;
    }
    va_end(args);
    struct timespec now;
    struct tm date;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &date);
    strftime(stamp, sizeof(stamp), "%F %T", &date);
    fprintf(dsl_log_stream, "%s,%03ld %ld dsl DEBUG %s(%s)\n", stamp, now.tv_nsec / 1000000,
            syscall(SYS_gettid), name, text);
    fflush(dsl_log_stream);
}
