/* SPDX-License-Identifier: MIT
 *
 * fork, vfork, exec*, posix_spawn, system and popen; one mode per case. `callee N STATUS` is what
 * the others start: N calls, then that exit status. Output is written with write(2), so that
 * nothing buffered is printed twice after fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

extern char **environ;
static char self[4096];
static char *no_env[] = {NULL};
static char *own_env[] = {"OWN=1", "PATH=/usr/bin:/bin", NULL};

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (write(1, line, (size_t)length) != length)
        _exit(99);
}

static void add(int times) {
    for (int i = 0; i < times; i++)
        work_add(i, 1);
}

static void reap(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid)
        say("waitpid: %s\n", strerror(errno));
    if (WIFEXITED(status))
        say("child exited %d\n", WEXITSTATUS(status));
    else
        say("child signal %d\n", WTERMSIG(status));
}

static void fork_plain(void) {
    add(100);
    pid_t pid = fork();
    if (pid == 0) {
        add(200);
        exit(3);
    }
    add(300);
    reap(pid);
}

static void fork_exits(void) {
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            add(10 + i);
            if (i == 0)
                _exit(4);
            if (i == 1)
                quick_exit(5);
            syscall(SYS_exit_group, 6);
        }
        reap(pid);
    }
    add(1);
}

static pid_t inner_pid;

static void fork_here(void *arg) {
    (void)arg;
    work_empty();
    inner_pid = fork();
    work_empty();
}

/* Both processes return through the call that was open when they parted. */
static void fork_inside(void) {
    work_call(fork_here, NULL);
    add(10);
    if (inner_pid == 0)
        exit(0);
    reap(inner_pid);
}

static void fork_deep(void) {
    work_nest(50, fork_here, NULL);
    work_even(10);
    if (inner_pid == 0)
        _exit(0);
    reap(inner_pid);
}

static jmp_buf outside;

static void fork_and_jump(void *arg) {
    fork_here(arg);
    if (inner_pid == 0)
        longjmp(outside, 1);
}

static void count_one(void *arg) {
    (void)arg;
    work_empty();
}

/* The child leaves the parent's calls by longjmp and makes as many of its own. */
static void fork_jump(void) {
    if (!setjmp(outside))
        work_nest(50, fork_and_jump, NULL);
    work_nest(70, count_one, NULL);
    work_even(10);
    if (inner_pid == 0)
        _exit(0);
    reap(inner_pid);
}

/* Every child opens calls above the inherited ones and forks again within them. */
static void descend(void *arg) {
    int generations = *(int *)arg - 1;
    pid_t pid = generations ? fork() : -1;
    if (pid == 0)
        work_nest(3, descend, &generations);
    else if (pid > 0)
        reap(pid);
    work_empty();
}

/* All processes return through all calls, of which each counts its own. */
static void fork_generations(void) {
    int generations = 5;
    work_nest(3, descend, &generations);
    add(10);
}

/* A worker works on, and waits, after the run is over. */
static void fork_outlived(void) {
    pid_t pid = fork();
    if (pid == 0) {
        work_busy(0.5);
        work_sleep(0.1);
        work_busy(0.3);
        close(creat("done", 0666));
        _exit(0);
    }
    work_busy(0.3);
    work_sleep(0.05);
}

static volatile int stop;

static void *background(void *arg) {
    while (!stop)
        work_add(1, 1);
    return arg;
}

static void *forker(void *arg) {
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            for (int k = 0; k < 50; k++)
                work_sub(k, 1);
            exit(0);
        }
        reap(pid);
    }
    return arg;
}

/* fork in a thread, while others are in hooked calls: the child has one thread. */
static void fork_in_thread(void) {
    pthread_t busy[4], t;
    for (int i = 0; i < 4; i++)
        pthread_create(&busy[i], NULL, background, NULL);
    pthread_create(&t, NULL, forker, NULL);
    pthread_join(t, NULL);
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(busy[i], NULL);
}

static void *child_thread(void *arg) {
    add(20);
    return arg;
}

static void fork_then_threads(void) {
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&t[i], NULL, child_thread, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(t[i], NULL);
        exit(0);
    }
    reap(pid);
    child_thread(NULL);
}

static void fork_many(void) {
    for (int round = 0; round < 10; round++) {
        pid_t pids[10];
        for (int i = 0; i < 10; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                add(10);
                _exit(i);
            }
        }
        for (int i = 0; i < 10; i++)
            reap(pids[i]);
    }
    add(5);
}

static void vfork_exec(void) {
    add(5);
    pid_t pid = vfork();
    if (pid == 0) {
        execl(self, self, "callee", "50", "9", (char *)NULL);
        _exit(127);
    }
    reap(pid);
    pid = vfork();
    if (pid == 0)
        _exit(8);
    reap(pid);
    add(5);
}

/* Each variant in a child of its own; the child's calls before exec are counted too. */
static void exec_all(void) {
    char *argv[] = {self, "callee", "50", "9", NULL};
    for (int i = 0; i < 10; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            add(2);
            switch (i) {
            case 0:
                execl(self, self, "callee", "50", "9", (char *)NULL);
                break;
            case 1:
                execle(self, self, "callee", "50", "9", (char *)NULL, environ);
                break;
            case 2:
                execle(self, self, "callee", "50", "9", (char *)NULL, no_env);
                break;
            case 3:
                execlp(self, self, "callee", "50", "9", (char *)NULL);
                break;
            case 4:
                execv(self, argv);
                break;
            case 5:
                execve(self, argv, own_env);
                break;
            case 6:
                execvp(self, argv);
                break;
            case 7:
                execvpe(self, argv, no_env);
                break;
            case 8:
                fexecve(open(self, O_RDONLY | O_CLOEXEC), argv, no_env);
                break;
            case 9:
                execveat(AT_FDCWD, self, argv, no_env, 0);
                break;
            }
            say("exec %d: %s\n", i, strerror(errno));
            _exit(127);
        }
        reap(pid);
    }
}

/* The same pid runs three images. */
static void exec_chain(int left) {
    char number[16];
    add(10 * left);
    if (left == 0)
        return;
    snprintf(number, sizeof number, "%d", left - 1);
    execl(self, self, "exec_chain", number, (char *)NULL);
}

static void failed(int result) {
    int error = errno;
    say("%d %s\n", result, strerror(error));
}

static void exec_fails(void) {
    char *argv[] = {"x", NULL};
    int fd = open("/etc/passwd", O_RDONLY);
    add(1);
    failed(execv("/nonexistent", argv));
    add(1);
    failed(execve("/etc/passwd", argv, no_env));
    failed(execvp("no-such-program-here", argv));
    failed(execl("/", "x", (char *)NULL));
    failed(fexecve(fd, argv, environ));
    failed(execv("", argv));
    add(1);
    pid_t pid = 0;
    say("spawn %d\n", posix_spawn(&pid, "/nonexistent", NULL, NULL, argv, environ));
    say("spawnp %d\n", posix_spawnp(&pid, "no-such-program-here", NULL, NULL, argv, environ));
    pid = vfork();
    if (pid == 0) {
        execl("/nonexistent", "x", (char *)NULL);
        _exit(errno == ENOENT ? 77 : 1);
    }
    reap(pid);
    add(1);
    say("system %d\n", WEXITSTATUS(system("no-such-program-here 2>/dev/null")));
}

/* As a search along PATH does, only longer. */
static void exec_retried(void) {
    char *argv[] = {"x", NULL};
    for (int i = 0; i < 3000; i++)
        execv("/nonexistent", argv);
    add(1);
}

static void *busy_beside(void *over) {
    while (!__atomic_load_n((int *)over, __ATOMIC_RELAXED))
        work_busy(0.001);
    return NULL;
}

static void exec_retried_beside(void) {
    int over = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, busy_beside, &over);
    exec_retried();
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

/* execvp runs a file without #! through sh; execv does not. */
static void exec_script(void) {
    FILE *script = fopen("script", "w");
    fprintf(script, "%s callee 5 0\nexit 6\n", self);
    fclose(script);
    chmod("script", 0755);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char *argv[] = {"./script", NULL};
            if (i == 0)
                execvp(argv[0], argv);
            else if (i == 1)
                execlp(argv[0], argv[0], (char *)NULL);
            else
                execv(argv[0], argv);
            say("%s\n", strerror(errno));
            _exit(1);
        }
        reap(pid);
    }
}

static void spawn(void) {
    char *argv[] = {self, "callee", "25", "2", NULL};
    char **envs[] = {environ, own_env, no_env};
    for (int i = 0; i < 6; i++) {
        pid_t pid = 0;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawnattr_t attr;
        posix_spawnattr_init(&attr);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
        int error = i < 3 ? posix_spawn(&pid, self, NULL, NULL, argv, envs[i])
                          : posix_spawnp(&pid, self, &actions, &attr, argv, envs[i - 3]);
        if (error)
            say("spawn: %s\n", strerror(error));
        else
            reap(pid);
    }
}

static void shell(void) {
    char command[3 * sizeof self], line[100];
    snprintf(command, sizeof command, "%s callee 30 4", self);
    say("system %d\n", WEXITSTATUS(system(command)));
    FILE *p = popen(command, "r");
    while (fgets(line, sizeof line, p))
        say("popen %s", line);
    say("pclose %d\n", WEXITSTATUS(pclose(p)));
    snprintf(command, sizeof command, "%s callee 1 0 | cat; (%s callee 2 0) & wait; kill -TERM $$",
             self, self);
    say("system %d\n", WTERMSIG(system(command)));
}

/* Closes every descriptor, forks twice, leaves the session: its calls must not be lost. */
static void daemonise(void) {
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (fork())
            _exit(0);
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
        syscall(SYS_close_range, 3u, ~0u, 0u);
        add(100);
        if (open("done", O_CREAT | O_WRONLY, 0644) != 0)
            add(1000); /* the lowest descriptor must be free */
        _exit(0);
    }
    reap(pid);
    for (int i = 0; i < 500 && access("done", F_OK); i++)
        usleep(10000);
    usleep(20000);
    add(1);
    say("done %d\n", access("done", F_OK));
}

/* libc's own: forks once, closes 0, 1, 2. The parent _exits at once. */
static void daemon_libc(void) {
    if (daemon(1, 0))
        _exit(1);
    add(40);
    close(open("done", O_CREAT | O_WRONLY, 0644));
}

static void on_child(int sig) {
    int saved = errno;
    (void)sig;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = saved;
}

static void sigchld(void) {
    signal(SIGCHLD, on_child);
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            add(3);
            _exit(0);
        }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    say("children gone: %s\n", strerror(errno));
}

static void children_die(void) {
    static const int signals[] = {SIGKILL, SIGSEGV, SIGABRT, SIGTERM, SIGPIPE};
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            add(10);
            kill(getpid(), signals[i]);
            pause();
        }
        reap(pid);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"fork", fork_plain},
        {"exits", fork_exits},
        {"inside", fork_inside},
        {"jump", fork_jump},
        {"deep", fork_deep},
        {"generations", fork_generations},
        {"outlived", fork_outlived},
        {"thread", fork_in_thread},
        {"threads", fork_then_threads},
        {"many", fork_many},
        {"vfork", vfork_exec},
        {"exec_all", exec_all},
        {"exec_fails", exec_fails},
        {"exec_retried", exec_retried},
        {"exec_retried_beside", exec_retried_beside},
        {"exec_script", exec_script},
        {"spawn", spawn},
        {"shell", shell},
        {"daemonise", daemonise},
        {"daemon_libc", daemon_libc},
        {"sigchld", sigchld},
        {"die", children_die},
    };
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0 || argc < 2)
        return 2;
    self[length] = '\0';
    if (!strcmp(argv[1], "callee")) {
        add(atoi(argv[2]));
        say("callee %s\n", argv[2]);
        return atoi(argv[3]);
    }
    if (!strcmp(argv[1], "exec_chain")) {
        exec_chain(atoi(argv[2]));
        say("last image\n");
        return 11;
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            say("end\n");
            return 0;
        }
    return 2;
}
