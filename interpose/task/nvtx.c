/* SPDX-License-Identifier: MIT
 *
 * NVTX. Version 3 is a header: on its first call a program opens the library that
 * NVTX_INJECTION64_PATH names and lets it fill in tables of function pointers. What is declared
 * here is the binary interface of that, fixed since version 3.0. Older programs call
 * libnvToolsExt.so, whose functions get wrappers.
 *
 * Results are those that a program gets without any tool, but for what is needed to tell ranges
 * apart: ids, domains and registered strings.
 */
#include <stddef.h>
#include <wchar.h>

#include "interpose/hook/source.h"
#include "interpose/ledger/task.h"
#include "interpose/task/range.h"

#define TABLE_CALLBACKS 1
#define MODULE_CORE 1
#define MODULE_CORE2 5
#define NOT_TRACKED (-2) /* what push and pop return without a tool */
#define MESSAGE_ASCII 1
#define MESSAGE_WIDE 2
#define MESSAGE_REGISTERED 3
#define STRINGS 1024

/* Keys of ranges: pushed ones by their domain, others by their number. */
#define KEY_PUSHED UINT64_C(0x100000000)
#define KEY_STARTED (UINT64_C(1) << 62)

struct attributes {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};
_Static_assert(offsetof(struct attributes, message) == 40, "nvtxEventAttributes_t");

struct callbacks {
    size_t size;
    int (*get_table)(int module, void ****table, unsigned *size);
};

static struct {
    uint64_t ranges;
    uint64_t domains;
    uint32_t strings;
    char string[STRINGS][BP_TASK_TEXT];
} state;

static void narrow(char *to, const wchar_t *from) {
    unsigned i = 0;
    for (; from && *from && i + 1 < BP_TASK_TEXT; from++)
        to[i++] = *from > ' ' - 1 && *from < 0x7f ? (char)*from : '?';
    to[i] = '\0';
}

static void copy(char *to, const char *from) {
    unsigned i = 0;
    for (; from && from[i] && i + 1 < BP_TASK_TEXT; i++)
        to[i] = from[i];
    to[i] = '\0';
}

static void text_of(char *text, const struct attributes *attributes) {
    text[0] = '\0';
    if (!attributes || attributes->size < sizeof *attributes)
        return;
    uint64_t number = (uint64_t)attributes->message - 1;
    if (attributes->message_type == MESSAGE_ASCII)
        copy(text, attributes->message);
    else if (attributes->message_type == MESSAGE_WIDE)
        narrow(text, attributes->message);
    else if (attributes->message_type == MESSAGE_REGISTERED && number < STRINGS)
        copy(text, state.string[number]);
}

static int push(const char *text, uint64_t domain) {
    bp_range_begin(text && *text ? text : "range", KEY_PUSHED + domain);
    return NOT_TRACKED;
}

static int pop(uint64_t domain) {
    bp_range_end(KEY_PUSHED + domain);
    return NOT_TRACKED;
}

static uint64_t start(const char *text) {
    uint64_t id = __atomic_add_fetch(&state.ranges, 1, __ATOMIC_RELAXED);
    bp_range_begin(text && *text ? text : "range", KEY_STARTED + id);
    return id;
}

static int push_a(const char *text) {
    return push(text, 0);
}

static int push_w(const wchar_t *wide) {
    char text[BP_TASK_TEXT];
    narrow(text, wide);
    return push(text, 0);
}

static int domain_push(void *domain, const struct attributes *attributes) {
    char text[BP_TASK_TEXT];
    text_of(text, attributes);
    return push(text, (uint64_t)domain);
}

static int push_ex(const struct attributes *attributes) {
    return domain_push(NULL, attributes);
}

static int pop_it(void) {
    return pop(0);
}

static int domain_pop(void *domain) {
    return pop((uint64_t)domain);
}

static uint64_t start_a(const char *text) {
    return start(text);
}

static uint64_t start_w(const wchar_t *wide) {
    char text[BP_TASK_TEXT];
    narrow(text, wide);
    return start(text);
}

static uint64_t start_ex(const struct attributes *attributes) {
    char text[BP_TASK_TEXT];
    text_of(text, attributes);
    return start(text);
}

static uint64_t domain_start(void *domain, const struct attributes *attributes) {
    (void)domain;
    return start_ex(attributes);
}

static void end_it(uint64_t id) {
    bp_range_end(KEY_STARTED + id);
}

static void domain_end(void *domain, uint64_t id) {
    (void)domain;
    end_it(id);
}

static void *register_a(void *domain, const char *text) {
    (void)domain;
    uint32_t number = __atomic_fetch_add(&state.strings, 1, __ATOMIC_RELAXED);
    if (number >= STRINGS)
        return (void *)(uint64_t)(STRINGS + 1);
    copy(state.string[number], text);
    return (void *)(uint64_t)(number + 1);
}

static void *register_w(void *domain, const wchar_t *wide) {
    char text[BP_TASK_TEXT];
    narrow(text, wide);
    return register_a(domain, text);
}

static void *domain_create(const void *name) {
    (void)name;
    return (void *)__atomic_add_fetch(&state.domains, 1, __ATOMIC_RELAXED);
}

/* By number in NVTX's tables. */
static void *const core[] = {
    [4] = (void *)start_ex, [5] = (void *)start_a, [6] = (void *)start_w, [7] = (void *)end_it,
    [8] = (void *)push_ex,  [9] = (void *)push_a,  [10] = (void *)push_w, [11] = (void *)pop_it};
static void *const core2[] = {
    [2] = (void *)domain_start,   [3] = (void *)domain_end,    [4] = (void *)domain_push,
    [5] = (void *)domain_pop,     [10] = (void *)register_a,   [11] = (void *)register_w,
    [12] = (void *)domain_create, [13] = (void *)domain_create};

static void fill(const struct callbacks *callbacks, int module, void *const *functions,
                 unsigned count) {
    void ***table = NULL;
    unsigned size = 0;
    if (!callbacks->get_table(module, &table, &size) || !table)
        return;
    for (unsigned i = 0; i < count && i < size; i++)
        if (functions[i] && table[i])
            *table[i] = functions[i];
}

__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t));

/* 1: the tables are filled. */
int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t)) {
    const struct callbacks *callbacks = bp_process.on ? get_export_table(TABLE_CALLBACKS) : NULL;
    if (!callbacks || callbacks->size < sizeof *callbacks)
        return 0;
    fill(callbacks, MODULE_CORE, core, sizeof core / sizeof *core);
    fill(callbacks, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return 1;
}

static struct {
    int (*nvtxRangePushA)(const char *);
    int (*nvtxRangePushW)(const wchar_t *);
    int (*nvtxRangePushEx)(const struct attributes *);
    int (*nvtxRangePop)(void);
} real;

static int wrap_nvtxRangePushA(const char *text) {
    push_a(text);
    return real.nvtxRangePushA(text);
}

static int wrap_nvtxRangePushW(const wchar_t *text) {
    push_w(text);
    return real.nvtxRangePushW(text);
}

static int wrap_nvtxRangePushEx(const struct attributes *attributes) {
    push_ex(attributes);
    return real.nvtxRangePushEx(attributes);
}

static int wrap_nvtxRangePop(void) {
    pop_it();
    return real.nvtxRangePop();
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(nvtxRangePushA),
    BP_WRAP(nvtxRangePushW),
    BP_WRAP(nvtxRangePushEx),
    BP_WRAP(nvtxRangePop),
};

static int match(const char *name, const char **known) {
    (void)name;
    (void)known;
    return -1;
}

static const char *const libraries[] = {"libnvToolsExt.so*", NULL};
static const struct bp_source source = {.libraries = libraries,
                                        .match = match,
                                        .wraps = wraps,
                                        .wrap_count = sizeof wraps / sizeof *wraps};

void bp_nvtx_init(void) {
    bp_source_add(&source);
}
