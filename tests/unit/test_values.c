/* SPDX-License-Identifier: MIT
 *
 * The name in a module's dictionary, read while another thread takes away the pages that it is on,
 * as one does that enlarges the dictionary and so frees its table of keys. A load of such a page
 * would end this test by SIGSEGV. The objects are pretended: those of 3.10, and those of 3.12.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "interpose/base/pages.h"
#include "interpose/python/stack/values.h"
#include "tests/unit/test.h"

#define PAGE 4096
#define ROUNDS 30000

enum { DICT, KEYS, KEY, NAME, PAGES }; /* what is on a page of its own */

static char *memory;
static char types[2][64]; /* of dictionaries and texts */
static const struct bp_layout *layout;

static char *page(int number) {
    return memory + (size_t)number * PAGE;
}

static void allow(int number, int readable) {
    mprotect(page(number), PAGE, readable ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static void put(char *object, size_t offset, uint64_t value) {
    memcpy(object + offset, &value, sizeof value);
}

static uint64_t make_text(char *object, const char *text, unsigned kind) {
    uint32_t bits = kind << 2 | 1 << 5 | (kind == 1) << 6;
    size_t length = strlen(text);
    char *to = object + (kind == 1 ? layout->ascii : layout->wide);
    put(object, BP_LAYOUT_TYPE, (uint64_t)types[1]);
    put(object, BP_LAYOUT_SIZE, length);
    memcpy(object + BP_LAYOUT_TEXT_STATE, &bits, sizeof bits);
    for (size_t i = 0; i < length; i++)
        to[i * kind] = text[i];
    return (uint64_t)object;
}

/* A table of eight places; two entries, of which the second is the name. */
static void make_keys(char *keys) {
    int is_new = layout->minor >= 11;
    char *entries = keys + (is_new ? 32 + 8 : 40 + 8);
    unsigned size = is_new ? 16 : 24, key = is_new ? 0 : 8;
    if (is_new)
        memcpy(keys + 8, (char[]){3, 3, 1}, 3);
    else
        put(keys, 8, 8);
    put(keys, is_new ? 24 : 32, 2);
    put(entries, key, make_text(page(KEY), "__doc__", 1));
    put(entries, size + key, make_text(page(KEY) + 1024, "__name__", 1));
    put(entries, size + key + 8, make_text(page(NAME), "solver", 2));
}

static void make(const char *version) {
    layout = bp_layout_find(version);
    memset(memory, 0, (size_t)PAGES * PAGE);
    put(types[0], 24, (uint64_t) "dict");
    put(types[1], 24, (uint64_t) "str");
    put(page(DICT), BP_LAYOUT_TYPE, (uint64_t)types[0]);
    put(page(DICT), BP_LAYOUT_DICT_KEYS, (uint64_t)page(KEYS));
    make_keys(page(KEYS));
}

/* Whether there is an answer; it is right. */
static int read_module(void) {
    struct bp_safe safe = {0};
    char name[64] = "";
    int found = bp_py_value_module(layout, &safe, (uint64_t)page(DICT), name, sizeof name);
    CHECK_TEXT(name, found ? "solver" : "");
    return found;
}

static void each_page_may_be_missing(void) {
    CHECK(read_module());
    for (int i = 0; i < PAGES; i++) {
        allow(i, 0);
        CHECK(!read_module());
        allow(i, 1);
    }
    CHECK(read_module());
}

static int stop;

static void *take_away(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        for (int i = KEYS; i < PAGES; i++) {
            allow(i, 0);
            allow(i, 1);
        }
    return unused;
}

static void pages_go_while_they_are_read(void) {
    pthread_t thread;
    int found = 0;
    stop = 0;
    CHECK(pthread_create(&thread, NULL, take_away, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++)
        found += read_module();
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("%d of %d names were read\n", found, ROUNDS);
    CHECK(read_module());
}

/* Some sandboxes do: then pages are asked for. The filter stays. */
static void copies_may_be_refused(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program)) {
        printf("no filter of system calls here\n");
        return;
    }
    each_page_may_be_missing();
}

int main(void) {
    memory = bp_pages_new((uint64_t)PAGES * PAGE);
    make("3.10.0");
    RUN(each_page_may_be_missing);
    RUN(pages_go_while_they_are_read);
    make("3.12.0");
    RUN(each_page_may_be_missing);
    RUN(pages_go_while_they_are_read);
    RUN(copies_may_be_refused);
    return test_result();
}
