/* SPDX-License-Identifier: MIT
 *
 * Devices in the text report: a line in the headline, transfers by direction or (--by transfer) by
 * calling function.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/report_internal.h"

#define LABEL_WIDTH 22

static const char *const directions[] = {"h2d", "d2h", "d2d", "p2p", "set"};
static const char *const memories[] = {"unknown", "pageable", "pinned",
                                       "device",  "array",    "managed"};

/* 2^power bytes: "64 KiB" */
static const char *format_power(int power, char text[32]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = power / 10 < 3 ? power / 10 : 3;
    snprintf(text, 32, "%d %s", power ? 1 << (power - 10 * unit) : 0, units[unit]);
    return text;
}

static void cell_rate(const struct bp_page *page, double bytes_per_s, int width) {
    char text[32];
    double rate = bytes_per_s / 1e9;
    snprintf(text, sizeof(text), "%.*f", rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate);
    bp_page_right(page, bytes_per_s > 0 ? text : "-", width);
}

static void cell_time(const struct bp_page *page, double s, int width) {
    char text[32];
    bp_page_right(page, bp_page_time(page, s, text), width);
}

/* "simulated device T4": the maker's prefix belongs to real ones. */
static const char *device_name(const struct bp_model_device *device) {
    static const char *const prefixes[] = {"Tesla ", "NVIDIA "};
    for (size_t i = 0; device->simulated && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(device->name, prefixes[i], strlen(prefixes[i])) == 0)
            return device->name + strlen(prefixes[i]);
    return device->name[0] ? device->name : "unknown";
}

/* "simulated device T4", "device 1 Tesla T4" where there are several, "2 simulated devices T4, one
 * per process". */
static const char *describe_device(const struct bp_model *model,
                                   const struct bp_model_device *device, char *text, size_t size) {
    char number[16] = "";
    char several[48] = "";
    if (model->device_count > 1)
        snprintf(number, sizeof(number), "%u ", device->index);
    if (device->instances > 1)
        snprintf(several, sizeof(several), ", one per %s",
                 device->simulated ? "process" : "machine");
    char count[16] = "";
    if (device->instances > 1)
        snprintf(count, sizeof(count), "%u ", device->instances);
    snprintf(text, size, "%s%sdevice%s %s%.40s%s", count, device->simulated ? "simulated " : "",
             device->instances > 1 ? "s" : "", number, device_name(device), several);
    return text;
}

/* Presets are chosen as "t4", devices are called "T4". */
static const char *upper_case(const char *name, char *text, size_t size) {
    snprintf(text, size, "%.40s", name);
    for (char *at = text; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return text;
}

/* What several processes did on one device may have been at once: then it is busy for less. */
static const char *describe_use(const struct bp_page *page, const struct bp_model *model,
                                const struct bp_model_device *device, char *text, size_t size) {
    const char *dot = page->utf8 ? " · " : ", ";
    bool shared = device->processes > device->instances;
    char share[3][32];
    bp_page_share(device->copy_s, model->device_wall_s, share[2]);
    if (device->kernels_unknown)
        snprintf(text, size, "copies %s%skernels not recorded", share[2], dot);
    else
        snprintf(text, size, "busy %s%s%skernels %s%scopies %s", shared ? "up to " : "",
                 bp_page_share(device->busy_s, model->device_wall_s, share[0]), dot,
                 bp_page_share(device->compute_s, model->device_wall_s, share[1]), dot, share[2]);
    return text;
}

void bp_report_device_line(const struct bp_page *page, const struct bp_model *model) {
    const char *dot = page->utf8 ? " · " : ", ";
    char text[120];
    char line[300];
    if (model->stand_in)
        fprintf(page->out, "simulated device%s%s%sno device records\n",
                model->stand_in[0] ? " " : "", upper_case(model->stand_in, text, sizeof(text)),
                dot);
    for (uint32_t i = 0; i < model->device_count; i++) {
        const struct bp_model_device *device = &model->devices[i];
        if (device->busy_s == 0 && (model->device_count > 1 || !device->name[0]))
            continue;
        describe_device(model, device, text, sizeof(text));
        describe_use(page, model, device, line, sizeof(line));
        bool fits = bp_page_columns(text) + 3 + bp_page_columns(line) <= BP_PAGE_WIDTH;
        fprintf(page->out, "%s%s%s\n", text, fits ? dot : "\n  ", line);
    }
}

/* Rows that are shown as one: same direction, and by transfer the same function. */
struct row {
    struct bp_model_transfer sum;
    const char *memory; /* of the host side; NULL before the first, "mixed" if they differ */
    bool sync;
    bool async;
    bool calls_differ;
    bool on_device; /* the device told of some of them */
};

/* Of copies without records it is not known: those do not make it mixed. */
static const char *host_memory(const struct bp_model_transfer *transfer, const char *so_far) {
    if (transfer->untimed && so_far)
        return so_far;
    return memories[transfer->direction == BP_D2H ? transfer->target : transfer->source];
}

static void add_to_row(struct row *row, const struct bp_model_transfer *transfer) {
    struct bp_model_transfer *sum = &row->sum;
    const char *memory = host_memory(transfer, row->memory);
    if (!row->memory)
        *sum = (struct bp_model_transfer){.direction = transfer->direction,
                                          .caller = transfer->caller,
                                          .call = transfer->call,
                                          .device = transfer->device};
    row->calls_differ |= sum->call != transfer->call;
    row->memory = !row->memory || strcmp(row->memory, memory) == 0 ? memory : "mixed";
    row->on_device |= !(transfer->flags & BP_TRANSFER_HOST_ONLY);
    *(transfer->flags & BP_TRANSFER_ASYNC ? &row->async : &row->sync) = true;
    bp_transfer_add(sum, transfer);
}

/* Rows in the order of the first of their transfers, the costliest first. */
static struct row *make_rows(const struct bp_model *model, bool by_function, uint32_t *count) {
    struct row *rows = NULL;
    *count = 0;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->transfers[i];
        uint32_t k = 0;
        while (k < *count && (rows[k].sum.direction != transfer->direction ||
                              (by_function && rows[k].sum.caller != transfer->caller)))
            k++;
        if (k == *count)
            (void)BP_APPEND(rows, *count);
        add_to_row(&rows[k], transfer);
    }
    return rows;
}

static const char *caller_label(const struct bp_model *model, const struct row *row, char *text,
                                size_t size) {
    if (row->sum.caller == BP_NO_FUNCTION)
        return strcmp(row->memory, "managed") == 0 ? "(page faults)" : "(unknown caller)";
    const struct bp_function *function = &model->functions[row->sum.caller];
    if (function->kind == BP_FUNC_ROOT)
        return "(own code)";
    return bp_report_name(function, text, size);
}

/* Nothing is charged to asynchronous copies that the device did not tell of. */
static bool is_untimed(const struct row *row) {
    return !row->on_device && !row->sync;
}

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct row *row, const char *label) {
    const struct bp_model_transfer *sum = &row->sum;
    char text[32];
    fprintf(page->out, "  %s ", directions[sum->direction]);
    bp_page_left(page, label, LABEL_WIDTH);
    bp_page_right(page, bp_page_count(sum->count, text), 9);
    bp_page_right(page, bp_page_bytes((double)sum->bytes, text), 9);
    if (row->on_device)
        cell_time(page, sum->device_s, 10);
    else
        bp_page_right(page, "-", 10);
    if (is_untimed(row))
        bp_page_right(page, "-", 10);
    else
        cell_time(page, sum->exposed_s, 10);
    double timed = (double)(sum->bytes - sum->untimed_bytes);
    cell_rate(page, sum->device_s > 0 ? timed / sum->device_s : 0, 7);
    cell_rate(page, model->devices[sum->device].best[sum->direction], 7);
    fputc('\n', page->out);
}

/* "4 to 16 KiB: 15,000": twice as wide as recorded is enough for a line. */
static void describe_sizes(const struct bp_model_transfer *sum, char *text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < BP_SIZE_BUCKETS; i += 2) {
        uint64_t count = sum->sizes[i] + sum->sizes[i + 1];
        char from[32];
        char to[32];
        char copies[32];
        if (count == 0 || length + 64 > size)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s to %s: %s",
                                   length ? ", " : "", format_power(i, from),
                                   format_power(i + 2, to), bp_page_count(count, copies));
    }
}

static const char *describe_faults(const struct bp_page *page, const struct bp_model_transfer *sum,
                                   char *text, size_t size) {
    char time[32];
    text[0] = 0;
    if (sum->faulted_s > 0)
        snprintf(text, size, "; code that touched the pages waited %s, in no CUDA call",
                 bp_page_time(page, sum->faulted_s, time));
    return text;
}

/* Of copies by other calls, a graph or a page fault, nobody said whether they block. */
static const char *describe_blocking(const struct bp_model *model, const struct row *row) {
    const char *call = row->sum.call == BP_NO_FUNCTION ? "" : model->functions[row->sum.call].name;
    bool tells = row->calls_differ || strstr(call, "Mem");
    return row->async && row->sync ? "sync and async" : row->async ? "async" : tells ? "sync" : "";
}

/* What is known of the time of copies between host and device. */
static const char *describe_time(const struct bp_page *page, const struct row *row, char *text,
                                 size_t size) {
    char hidden[32];
    text[0] = 0;
    if (row->sum.direction > BP_D2H)
        return text;
    if (row->on_device)
        snprintf(text, size, "; hidden %s", bp_page_time(page, row->sum.hidden_s, hidden));
    else if (is_untimed(row))
        snprintf(text, size, "; what they took is not known without device records");
    else
        snprintf(text, size, "; calls' own time%s: kernels that a copy waited for are in it",
                 row->async ? " of those that block" : "");
    return text;
}

/* "dsl.upload: cudaMemcpy, pageable memory, sync": the name only if the row has not all of it. */
static void describe_copies(const struct bp_model *model, const struct row *row, const char *label,
                            char *text, size_t size) {
    char memory[32] = "";
    const char *call = row->calls_differ                 ? "several calls"
                       : row->sum.call == BP_NO_FUNCTION ? ""
                                                         : model->functions[row->sum.call].name;
    if (row->sum.direction <= BP_D2H)
        snprintf(memory, sizeof(memory), "%s memory", row->memory);
    const char *parts[] = {call, memory, describe_blocking(model, row)};
    bool cut = bp_page_columns(label) > LABEL_WIDTH;
    const char *before = cut ? ": " : "";
    size_t length = (size_t)snprintf(text, size, "%.240s", cut ? label : "");
    for (int i = 0; i < 3; i++) {
        if (!parts[i][0])
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%.60s", before, parts[i]);
        before = ", ";
    }
}

static void print_details(const struct bp_page *page, const struct bp_model *model,
                          const struct row *row, const char *label) {
    char text[1800];
    char copies[480];
    char time[96];
    char faulted[96];
    char sizes[900];
    describe_copies(model, row, label, copies, sizeof(copies));
    describe_sizes(&row->sum, sizes, sizeof(sizes));
    snprintf(text, sizeof(text), "      %s%s%s%ssizes %s", copies,
             describe_time(page, row, time, sizeof(time)),
             describe_faults(page, &row->sum, faulted, sizeof(faulted)), copies[0] ? "; " : "",
             sizes);
    bp_page_wrap(page, text, 8);
}

/* A new array. */
static struct bp_site_row *make_site_rows(const struct row *rows, uint32_t count) {
    struct bp_site_row *keys = bp_alloc(count, sizeof(*keys));
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (struct bp_site_row){rows[i].sum.caller,
                                       rows[i].calls_differ ? BP_NO_FUNCTION : rows[i].sum.call,
                                       rows[i].sum.direction};
    return keys;
}

static void print_title(const struct bp_page *page, const char *text) {
    bp_page_title(page, text, 28,
                  BP_COLUMNS({"count", 9}, {"bytes", 9}, {"device", 10}, {"exposed", 10},
                             {"GB/s", 7}, {"best", 7}));
}

void bp_report_transfers(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings) {
    bool by_function = strcmp(settings->by, "transfer") == 0;
    uint32_t count;
    struct row *rows = make_rows(model, by_function, &count);
    struct bp_site_row *sites = make_site_rows(rows, count);
    if (count)
        print_title(page, "Transfers");
    else if (by_function)
        fputs("\nNo transfers: no CUDA copy was recorded.\n", page->out);
    for (uint32_t i = 0; i < count && i < settings->top; i++) {
        char name[300];
        const char *label =
            by_function ? caller_label(model, &rows[i], name, sizeof(name)) : rows[i].memory;
        if (!by_function && rows[i].sum.direction > BP_D2H)
            label = "";
        print_row(page, model, &rows[i], label);
        if (by_function) {
            print_details(page, model, &rows[i], label);
            bp_report_sites(page, model, sites, count, i);
        }
    }
    if (count > settings->top)
        fprintf(page->out, "  and %u more: --top %u\n", count - settings->top, count);
    free(sites);
    free(rows);
}
