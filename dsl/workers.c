/* SPDX-License-Identifier: MIT
 *
 * Worker processes: worker k of n takes every n-th task and writes each result whole into its own
 * pipe. The parent reads all pipes at once until they end, so no worker waits for another. A worker
 * that dies leaves its pipe at its end and its tasks undone, which the parent reports.
 */
#include "dsl/pipeline.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
    pid_t pid;
    size_t have;           /* bytes of the result that is coming in */
    struct result *result; /* room for it */
};

static int write_result(void *context, const struct result *result) {
    const char *at = (const char *)result;
    size_t left = sizeof(*result);
    while (left) {
        ssize_t wrote = write(*(int *)context, at, left);
        if (wrote < 0 && errno != EINTR)
            return -errno;
        at += wrote > 0 ? wrote : 0;
        left -= wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

/* exit, not _exit: a worker is an ordinary process whose exit handlers may matter to tools. */
static void worker_main(struct pipeline *pipeline, int number, int output) {
    int stride = pipeline->options->processes;
    int status = pool_execute(pipeline, number, stride, write_result, &output);
    close(output);
    pipeline_fini(pipeline);
    exit(status ? 1 : 0);
}

static int worker_start(struct pipeline *pipeline, int number, struct worker *worker,
                        struct pollfd *polled) {
    int ends[2];
    if (pipe(ends))
        return -errno;
    fflush(NULL);
    worker->pid = fork();
    if (worker->pid < 0) {
        int code = errno;
        close(ends[0]);
        close(ends[1]);
        return -code;
    }
    if (!worker->pid) {
        for (int k = 0; k <= number; k++)
            close(k < number ? polled[k - number].fd : ends[0]);
        worker_main(pipeline, number, ends[1]);
    }
    close(ends[1]);
    *polled = (struct pollfd){.fd = ends[0], .events = POLLIN};
    return 0;
}

/* Takes what has come; false at the end of the pipe. */
static bool worker_read(struct pipeline *pipeline, struct worker *worker, int input) {
    char *into = (char *)worker->result + worker->have;
    ssize_t got = read(input, into, sizeof(*worker->result) - worker->have);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    worker->have += (size_t)got;
    if (worker->have == sizeof(*worker->result)) {
        pipeline->results[worker->result->task] = *worker->result;
        worker->have = 0;
    }
    return true;
}

static void collect(struct pipeline *pipeline, struct worker *workers, struct pollfd *polled,
                    int n) {
    for (int open = n; open > 0;) {
        if (poll(polled, (nfds_t)n, -1) < 0 && errno != EINTR)
            return;
        for (int k = 0; k < n; k++) {
            if (polled[k].fd < 0 || !polled[k].revents)
                continue;
            if (worker_read(pipeline, &workers[k], polled[k].fd))
                continue;
            close(polled[k].fd);
            polled[k].fd = -1;
            open--;
        }
    }
}

static int run_workers(struct pipeline *pipeline, struct worker *workers, struct pollfd *polled,
                       struct result *room, int n) {
    int started = 0, status = 0;
    while (started < n && !status) {
        workers[started].result = &room[started];
        status = worker_start(pipeline, started, &workers[started], &polled[started]);
        started += !status;
    }
    collect(pipeline, workers, polled, started);
    for (int k = 0; k < started; k++)
        while (waitpid(workers[k].pid, NULL, 0) < 0 && errno == EINTR)
            ;
    return status;
}

int workers_execute(struct pipeline *pipeline) {
    int n = pipeline->options->processes;
    struct worker *workers = calloc((size_t)n, sizeof(*workers));
    struct pollfd *polled = calloc((size_t)n, sizeof(*polled));
    struct result *room = calloc((size_t)n, sizeof(*room));
    int status = -ENOMEM;
    if (workers && polled && room)
        status = run_workers(pipeline, workers, polled, room, n);
    free(workers);
    free(polled);
    free(room);
    return status;
}
