/* SPDX-License-Identifier: MIT
 *
 * A pool of two workers that live as long as the program. For a while nobody has anything to do;
 * then the first works and the other goes on waiting. The file `truth` gets the seconds of both.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "work.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int jobs, over;
static double began, worked_s;

/* The number of jobs is never larger than one, and who takes it works. */
static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!over) {
        if (jobs) {
            jobs = 0;
            pthread_mutex_unlock(&mutex);
            began = now_s();
            while (now_s() < began + 0.2)
                ;
            worked_s = now_s() - began;
            pthread_mutex_lock(&mutex);
            over = 1;
            pthread_cond_broadcast(&cond);
        } else {
            pthread_cond_wait(&cond, &mutex);
        }
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    FILE *truth = fopen("truth", "w");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    double start = now_s();
    usleep(200000);
    pthread_mutex_lock(&mutex);
    jobs = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    fprintf(truth, "%.9f %.9f\n", began - start, worked_s);
    return fclose(truth);
}
