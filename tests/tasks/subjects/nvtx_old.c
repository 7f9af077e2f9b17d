/* SPDX-License-Identifier: MIT
 *
 * A program that was linked with libnvToolsExt: a phase, and tasks with another phase in each.
 * Prints what the library answers, which a profiler must not change.
 */
#include <stdio.h>

#include "tests/tasks/subjects/nvtoolsext.h"
#include "tests/tasks/subjects/pipeline.h"

int main(void) {
    int answers = nvtxRangePushA("loading");
    dsl_work(2, 100);
    answers = answers * 10 + nvtxRangePop();
    for (int i = 0; i < 3; i++) {
        char text[16];
        snprintf(text, sizeof(text), "task %d", i);
        answers = answers * 10 + nvtxRangePushA(text);
        dsl_work(i, 100);
        answers = answers * 10 + nvtxRangePushW(L"inner");
        dsl_leaf(0);
        answers = answers * 10 + nvtxRangePop();
        nvtxRangePop();
    }
    printf("%d\n", answers);
    return 0;
}
