/* SPDX-License-Identifier: MIT
 *
 * ranges MODE: a program that announces its tasks with battprof.h. Compiled as C and as C++.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "include/battprof.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "tests/tasks/subjects/pipeline.h"
#ifdef __cplusplus
}
#endif

static void plain(void) {
    battprof_phase_begin("loading");
    dsl_work(2, 100);
    battprof_phase_end();
    for (int i = 0; i < 4; i++) {
        char id[16];
        snprintf(id, sizeof(id), "task %d", i);
        battprof_task_begin(id);
        dsl_work(i, 100);
        for (int k = 0; k < i; k++)
            battprof_sample();
        battprof_phase_begin("inner");
        dsl_leaf(0);
        battprof_phase_end();
        battprof_task_end(i == 2);
    }
    battprof_task_begin(NULL);
    battprof_task_end(0);
    battprof_task_end(0); /* one too many */
    battprof_phase_end();
    battprof_sample();
}

int main(int argc, char **argv) {
    plain();
    if (argc > 1 && strcmp(argv[1], "open") == 0) {
        battprof_task_begin("left open");
        dsl_work(3, 1000);
        battprof_phase_begin("left open, too");
    }
    for (int i = 0; argc > 1 && strcmp(argv[1], "deep") == 0 && i < 40; i++)
        battprof_task_begin("deep");
    puts("ok");
    return 0;
}
