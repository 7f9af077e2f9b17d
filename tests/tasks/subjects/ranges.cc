// SPDX-License-Identifier: MIT
#include "tests/tasks/subjects/ranges.c"
