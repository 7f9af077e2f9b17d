/* SPDX-License-Identifier: MIT
 *
 * A profile while it grows: what is found in it, and what is not taken for an item.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/live.h"
#include "tests/unit/builder.h"
#include "tests/unit/test.h"

static char path[] = "/tmp/battprof-live-XXXXXX";
static struct builder builder;
static size_t first, second;

/* Tasks 0 to 3, of which 3 is not counted yet, and 4 to 6 in a chunk of their own. */
static void open_it(struct bp_live *live) {
    CHECK_EQUAL(builder_write(&builder, path), 0);
    CHECK_EQUAL(bp_live_open(live, path, 0), 0);
}

static void finds_what_is_counted(void) {
    struct bp_live live;
    uint64_t bytes;
    open_it(&live);
    for (uint32_t i = 0; i < 9; i++) {
        const struct bp_task *task = bp_live_find(&live, BP_TASKS, i, &bytes);
        CHECK((task != NULL) == (i < 3 || (i >= 4 && i < 7)));
        CHECK(!task || task->start == 100 + i);
        CHECK(!task || bytes == ((i < 3 ? 3 : 7) - i) * sizeof *task);
    }
    CHECK(!bp_live_find(&live, BP_NODES, 0, &bytes)); /* of a thread */
    bp_live_close(&live);
}

static void chunks_that_are_not_whole(void) {
    struct bp_live live;
    uint64_t bytes;
    struct bp_chunk *head = builder_head(&builder, second);
    head->size += BP_PAGE; /* the file ends before */
    open_it(&live);
    CHECK(bp_live_find(&live, BP_TASKS, 0, &bytes) && !bp_live_find(&live, BP_TASKS, 4, &bytes));
    bp_live_close(&live);
    head->size -= BP_PAGE;
    head->count = 1000; /* more than it has room for */
    open_it(&live);
    CHECK(!bp_live_find(&live, BP_TASKS, 4, &bytes));
    bp_live_close(&live);
    head->count = 3;
}

static void what_is_no_profile(void) {
    struct bp_live live;
    CHECK_EQUAL(truncate(path, 100), 0);
    CHECK_EQUAL(bp_live_open(&live, path, 0), -EINVAL);
    CHECK_EQUAL(bp_live_open(&live, "/tmp", 0), -EINVAL);
    unlink(path);
    CHECK_EQUAL(bp_live_open(&live, path, 0), -ENOENT);
}

int main(void) {
    close(mkstemp(path));
    builder_init(&builder);
    builder_chunk(&builder, BP_NODES, 0, 1, 1);
    first = builder_chunk(&builder, BP_TASKS, BP_NO_THREAD, 3, 4);
    second = builder_chunk(&builder, BP_TASKS, BP_NO_THREAD, 3, 4);
    builder_head(&builder, second)->first = 4;
    for (uint32_t i = 0; i < 7; i++)
        ((struct bp_task *)builder_item(&builder, i < 4 ? first : second, i % 4))->start = 100 + i;
    RUN(finds_what_is_counted);
    RUN(chunks_that_are_not_whole);
    RUN(what_is_no_profile);
    builder_fini(&builder);
    return test_result();
}
