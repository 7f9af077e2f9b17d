/* SPDX-License-Identifier: MIT
 *
 * What tests/tasks use of libnvToolsExt.
 */
#ifndef TESTS_TASKS_NVTOOLSEXT_H
#define TESTS_TASKS_NVTOOLSEXT_H

#include <wchar.h>

int nvtxRangePushA(const char *text);
int nvtxRangePushW(const wchar_t *text);
int nvtxRangePop(void);

#endif
