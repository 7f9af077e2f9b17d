/* SPDX-License-Identifier: MIT
 *
 * Ways to end, and things that a guest in the process must not disturb; one mode per case.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static void add(int times) {
    for (int i = 0; i < times; i++)
        work_add(i, 1);
}

static void at_exit_adds(void) {
    add(7);
}

static void exit_code(void) {
    atexit(at_exit_adds);
    add(10);
    exit(42);
}

static void exit_callback(void *arg) {
    add(3);
    exit(*(int *)arg);
}

/* Ends inside of hooked calls; atexit handlers call more. */
static void exit_inside(void) {
    int status = 43;
    atexit(at_exit_adds);
    work_nest(4, exit_callback, &status);
}

static void quit_callback(void *arg) {
    _exit(*(int *)arg);
}

static void quit_inside(void) {
    int status = 44;
    work_nest(4, quit_callback, &status);
}

static void crash(void *arg) {
    *(volatile char *)arg = 1;
}

static void segv(void) {
    add(10);
    work_nest(3, crash, NULL);
}

static void do_abort(void) {
    add(10);
    abort();
}

static void fpe(void) {
    volatile int zero = 0;
    add(10);
    printf("%d\n", 100 / zero);
}

static void term(void) {
    add(10);
    kill(getpid(), SIGTERM);
    pause();
}

static void killed(void) {
    add(10);
    kill(getpid(), SIGKILL);
    pause();
}

/* The reader of stdout is gone. */
static void sigpipe(void) {
    int fds[2];
    if (pipe(fds))
        return;
    close(fds[0]);
    add(10);
    (void)!write(fds[1], "x", 1);
}

static void keep_errno(void) {
    for (int i = 0; i < 134; i++) {
        work_errno(i);
        if (errno != i)
            printf("set %d, got %d\n", i, errno);
        errno = 200 + i;
        work_add(i, i);
        work_depth(i + 1);
        usleep(10);
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        if (errno != 200 + i)
            printf("kept %d, got %d\n", 200 + i, errno);
    }
    errno = 77;
    (void)!write(1, "", 0);
    printf("after write %d\n", errno);
    long got = read(-1, NULL, 0);
    printf("read %ld %d\n", got, errno);
    got = open("/nonexistent", O_RDONLY);
    printf("open %ld %d\n", got, errno);
    got = waitpid(-1, NULL, 0);
    printf("waitpid %ld %d\n", got, errno);
}

/* What descriptors and mappings a program can see and count. */
static void descriptors(void) {
    int open_now = 0;
    for (int fd = 0; fd < 1024; fd++)
        open_now += fcntl(fd, F_GETFD) >= 0;
    add(10);
    printf("open %d next %d\n", open_now, dup(0));
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        add(10);
        printf("child next %d\n", dup(0));
        exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void *thread_adds(void *arg) {
    add(1000);
    return arg;
}

/* Runs under whatever limits it was started with: threads, memory, calls. */
static void limits(void) {
    pthread_t t[4];
    int started = 0;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 128 * 1024);
    for (int i = 0; i < 4; i++)
        started += pthread_create(&t[i], &attr, thread_adds, NULL) == 0;
    for (int i = 0; i < started; i++)
        pthread_join(t[i], NULL);
    printf("threads %d depth %ld\n", started, work_depth(2000));
    void *memory = malloc(1 << 20);
    printf("memory %d\n", memory != NULL);
    free(memory);
}

/* Grows the profile as far as a small disk lets it: threads, contexts, depth. */
static void grow(void) {
    for (int round = 0; round < 30; round++) {
        pthread_t t[8];
        for (int i = 0; i < 8; i++)
            pthread_create(&t[i], NULL, thread_adds, NULL);
        for (int i = 0; i < 8; i++)
            pthread_join(t[i], NULL);
    }
    printf("grown %ld\n", work_depth(20000));
}

static void no_directory(void) {
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    if (mkdir("gone", 0755) || chdir("gone") || rmdir("../gone"))
        return;
    add(10);
    printf("cwd %d\n", getcwd(self + length + 1, 100) == NULL);
    fflush(stdout);
    if (fork() == 0) {
        add(5);
        execl(self, self, "exit_code", (char *)NULL);
    }
    int status = 0;
    wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
}

static void closed(void) {
    add(10);
    int fd = open("made", O_CREAT | O_WRONLY, 0644); /* takes the first closed descriptor */
    char digit = (char)('0' + fd);
    (void)!pwrite(fd, &digit, 1, 0);
    _exit(fd);
}

static void on_xfsz(int sig) {
    static const char text[] = "SIGXFSZ\n";
    (void)sig;
    (void)!write(1, text, sizeof text - 1);
}

static void no_file_size(void) {
    signal(SIGXFSZ, on_xfsz);
    limits();
}

static void mask(void) {
    sigset_t now;
    struct sigaction action;
    sigprocmask(SIG_BLOCK, NULL, &now);
    for (int sig = 1; sig < 65; sig++) {
        memset(&action, 0, sizeof action);
        if (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf("handler %d\n", sig);
        if (sigismember(&now, sig) == 1)
            printf("blocked %d\n", sig);
    }
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e = readdir(tasks); e; e = readdir(tasks))
        threads += e->d_name[0] != '.';
    printf("threads %d\n", threads);
}

/* As shells and servers do: reads stdin, echoes it. */
static void echo(void) {
    char buffer[4096];
    size_t total = 0;
    ssize_t got;
    while ((got = read(0, buffer, sizeof buffer)) > 0) {
        total += (size_t)got;
        if (write(1, buffer, (size_t)got) != got)
            exit(1);
        work_empty();
    }
    fprintf(stderr, "%zu bytes\n", total);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"exit_code", exit_code},
        {"exit_inside", exit_inside},
        {"quit_inside", quit_inside},
        {"segv", segv},
        {"abort", do_abort},
        {"fpe", fpe},
        {"term", term},
        {"killed", killed},
        {"sigpipe", sigpipe},
        {"errno", keep_errno},
        {"descriptors", descriptors},
        {"limits", limits},
        {"grow", grow},
        {"no_directory", no_directory},
        {"closed", closed},
        {"no_file_size", no_file_size},
        {"mask", mask},
        {"echo", echo},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            return 0;
        }
    return 2;
}
