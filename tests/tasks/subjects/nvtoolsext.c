/* SPDX-License-Identifier: MIT
 *
 * Stands for libnvToolsExt.so.1, the library that NVTX was before version 3. It tells how deep
 * ranges are nested, as the real one does when a tool listens.
 */
#include "tests/tasks/subjects/nvtoolsext.h"

static int level;

int nvtxRangePushA(const char *text) {
    (void)text;
    return level++;
}

int nvtxRangePushW(const wchar_t *text) {
    (void)text;
    return level++;
}

int nvtxRangePop(void) {
    return --level;
}
