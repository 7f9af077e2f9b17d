/* SPDX-License-Identifier: MIT
 *
 * The terminal by its escape sequences, which all have had for decades, and by termios.
 */
#include "tools/live/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "tools/base/memory.h"

#define ENTER "\033[?1049h\033[?25l\033[?7l" /* another screen, no cursor, no wrapped lines */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static struct {
    struct termios before;
    volatile sig_atomic_t open;
    volatile sig_atomic_t ending; /* the signal */
    volatile sig_atomic_t resized;
} state;

static const int fatal[] = {SIGABRT, SIGFPE, SIGILL, SIGSEGV};
static const int polite[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};

static void put(const char *text, size_t length) {
    while (length) {
        ssize_t done = write(STDOUT_FILENO, text, length);
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return;
        text += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
}

/* System calls alone: it is called in signal handlers too. */
static void leave(void) {
    int saved = errno;
    if (state.open) {
        state.open = 0;
        put(LEAVE, sizeof(LEAVE) - 1);
        tcsetattr(STDIN_FILENO, TCSADRAIN, &state.before);
    }
    errno = saved;
}

static void enter(void) {
    struct termios raw = state.before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put(ENTER, sizeof(ENTER) - 1);
    state.open = 1;
}

static void on_fatal(int signal) {
    leave();
    raise(signal); /* SA_RESETHAND: now it ends the process */
}

static void on_polite(int signal) {
    state.ending = signal;
}

static void on_resize(int signal) {
    (void)signal;
    state.resized = 1;
}

/* Stopped from the keyboard: the shell gets its terminal back, and we ours when we go on. */
static void on_stop(int signal) {
    int saved = errno;
    leave();
    kill(getpid(), SIGSTOP);
    (void)signal;
    enter();
    state.resized = 1;
    errno = saved;
}

static void handle(int signal, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

static void end_without_memory(void) {
    leave();
    _exit(1);
}

bool bp_terminal_open(void) {
    const char *terminal = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !terminal ||
        strcmp(terminal, "dumb") == 0 || tcgetattr(STDIN_FILENO, &state.before))
        return false;
    atexit(leave);
    bp_memory_at_end("", end_without_memory);
    for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
        handle(fatal[i], on_fatal, (int)SA_RESETHAND | SA_NODEFER);
    for (size_t i = 0; i < sizeof(polite) / sizeof(*polite); i++)
        handle(polite[i], on_polite, 0);
    handle(SIGWINCH, on_resize, 0);
    handle(SIGTSTP, on_stop, 0);
    enter();
    return true;
}

void bp_terminal_close(void) {
    leave();
}

void bp_terminal_raise(void) {
    if (!state.ending)
        return;
    handle(state.ending, SIG_DFL, 0);
    raise(state.ending);
}

void bp_terminal_size(int *columns, int *rows) {
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
    *columns = (known ? size.ws_col : 80) - 1; /* clearing behind the last one would clear it */
    *rows = known ? size.ws_row : 24;
}

/* Lines are cleared behind their text and not before: nothing flickers. */
void bp_terminal_show(const char *text, size_t length) {
    char *page = bp_alloc(length * 5 + 16, 1);
    size_t used = 0;
    memcpy(page, "\033[H", 3);
    used = 3;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n') {
            memcpy(page + used, "\033[K\r\n", 5);
            used += 5;
        } else {
            page[used++] = text[i];
        }
    }
    memcpy(page + used, "\033[J", 3);
    put(page, used + 3);
    free(page);
}

int bp_terminal_key(int milliseconds) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char key;
    int got = state.ending || state.resized ? 0 : poll(&input, 1, milliseconds);
    if (state.ending)
        return BP_TERMINAL_END;
    if (state.resized) {
        state.resized = 0;
        return BP_TERMINAL_RESIZED;
    }
    if (got <= 0)
        return BP_TERMINAL_NOTHING;
    ssize_t length = read(STDIN_FILENO, &key, 1);
    if (length == 0 || (length < 0 && errno != EINTR && errno != EAGAIN))
        return BP_TERMINAL_END; /* the terminal is gone */
    return length == 1 ? (unsigned char)key : BP_TERMINAL_NOTHING;
}
