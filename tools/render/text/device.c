/* SPDX-License-Identifier: MIT
 *
 * Devices in the text report: a line in the headline, transfers by direction or (--by transfer) by
 * calling function.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/render/text/internal.h"

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
static void add_device(struct bp_text *text, const struct bp_model *model,
                       const struct bp_model_device *device) {
    bool several = device->instances > 1;
    if (several)
        bp_text_add(text, "%u ", device->instances);
    bp_text_add(text, "%sdevice%s ", device->simulated ? "simulated " : "", several ? "s" : "");
    if (model->cuda.device_count > 1)
        bp_text_add(text, "%u ", device->index);
    bp_text_add(text, "%s", device_name(device));
    if (several)
        bp_text_add(text, ", one per %s", device->simulated ? "process" : "machine");
}

/* What several processes did on one device may have been at once: then it is busy for less. */
static void add_use(struct bp_text *text, const char *dot, const struct bp_model *model,
                    const struct bp_model_device *device) {
    bool shared = device->processes > device->instances;
    if (!device->kernels_unknown)
        bp_text_add(text, "busy %s%s%skernels %s%s", shared ? "up to " : "",
                    BP_SHARE(device->busy_s, model->cuda.wall_s), dot,
                    BP_SHARE(device->compute_s, model->cuda.wall_s), dot);
    bp_text_add(text, "copies %s", BP_SHARE(device->copy_s, model->cuda.wall_s));
    if (device->kernels_unknown)
        bp_text_add(text, "%skernels not recorded", dot);
}

static void print_device(const struct bp_page *page, const char *dot, const struct bp_model *model,
                         const struct bp_model_device *device) {
    struct bp_text name = {0};
    struct bp_text use = {0};
    add_device(&name, model, device);
    add_use(&use, dot, model, device);
    int columns = bp_page_columns(bp_text_get(&name)) + 3 + bp_page_columns(bp_text_get(&use));
    fprintf(page->out, "%s%s%s\n", bp_text_get(&name), columns <= page->width ? dot : "\n  ",
            bp_text_get(&use));
    bp_text_fini(&name);
    bp_text_fini(&use);
}

/* Presets are chosen as "t4", devices are called "T4". */
static void print_preset(const struct bp_page *page, const char *dot, const char *preset) {
    fprintf(page->out, "simulated device%s", preset[0] ? " " : "");
    for (; *preset; preset++)
        fputc(toupper((unsigned char)*preset), page->out);
    fprintf(page->out, "%sno device records\n", dot);
}

void bp_report_device_line(const struct bp_page *page, const struct bp_model *model) {
    const char *dot = page->utf8 ? " · " : ", ";
    if (model->cuda.simulated)
        print_preset(page, dot, model->cuda.simulated);
    for (uint32_t i = 0; i < model->cuda.device_count; i++) {
        const struct bp_model_device *device = &model->cuda.devices[i];
        if (device->busy_s > 0 || (model->cuda.device_count == 1 && device->name[0]))
            print_device(page, dot, model, device);
    }
}

/* Rows that are shown as one: same direction, and by transfer the same function. */
struct row {
    struct bp_model_transfer sum;
    const char *memory; /* of the host side; NULL before the first, "mixed" if they differ */
    bool sync;
    bool async;
    bool calls_differ;
    bool on_device; /* the device recorded some of them */
    double best;    /* bytes per second that the device reached */
};

/* The memory of copies without records is unknown: those do not make it mixed. */
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
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->cuda.transfers[i];
        uint32_t k = 0;
        while (k < *count && (rows[k].sum.direction != transfer->direction ||
                              (by_function && rows[k].sum.caller != transfer->caller)))
            k++;
        if (k == *count)
            BP_APPEND(rows, *count)->best =
                model->cuda.devices[transfer->device].best[transfer->direction];
        add_to_row(&rows[k], transfer);
    }
    return rows;
}

static const char *caller_label(const struct bp_model *model, const struct row *row) {
    if (row->sum.caller == BP_NO_FUNCTION && strcmp(row->memory, "managed") == 0)
        return "(page faults)";
    return bp_report_cuda_caller(model, row->sum.caller, "(unknown caller)");
}

/* Nothing is charged to asynchronous copies that the device did not record. */
static bool is_untimed(const struct row *row) {
    return !row->on_device && !row->sync;
}

static const char *cell_device(const struct bp_page *page, const void *value, char text[64]) {
    const struct row *row = value;
    return row->on_device ? bp_page_time(page, row->sum.device_s, text) : "-";
}

static const char *cell_exposed(const struct bp_page *page, const void *value, char text[64]) {
    const struct row *row = value;
    return is_untimed(row) ? "-" : bp_page_time(page, row->sum.exposed_s, text);
}

static const char *cell_call(const struct bp_page *page, const void *value, char text[64]) {
    double s = ((const struct row *)value)->sum.call_s;
    return s > 0 ? bp_page_time(page, s, text) : "-";
}

static const char *write_rate(double bytes_per_s, char text[64]) {
    double rate = bytes_per_s / 1e9;
    snprintf(text, 64, "%.*f", rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate);
    return bytes_per_s > 0 ? text : "-";
}

static const char *cell_rate(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_model_transfer *sum = &((const struct row *)value)->sum;
    double timed = (double)(sum->bytes - sum->untimed_bytes);
    (void)page;
    return write_rate(sum->device_s > 0 ? timed / sum->device_s : 0, text);
}

static const char *cell_best(const struct bp_page *page, const void *value, char text[64]) {
    (void)page;
    return write_rate(((const struct row *)value)->best, text);
}

static const struct bp_column columns[] = {
    BP_LABEL(24),
    BP_COLUMN("count", 8, bp_cell_count, struct row, sum.count),
    BP_COLUMN("bytes", 9, bp_cell_bytes, struct row, sum.bytes),
    {"device", 9, cell_device, 0},
    {"exposed", 9, cell_exposed, 0},
    {"in call", 9, cell_call, 0},
    {"GB/s", 6, cell_rate, 0},
    {"best", 6, cell_best, 0},
    BP_LAST_COLUMN,
};
#define LABEL_WIDTH 18 /* beside the direction */

static void print_row(const struct bp_page *page, const struct row *row, const char *label) {
    char mark[16];
    snprintf(mark, sizeof(mark), "  %s ", directions[row->sum.direction]);
    bp_columns_row(page, columns, mark, label, row);
}

static void add_sizes(struct bp_text *text, const struct bp_model_transfer *sum) {
    const char *before = "sizes ";
    for (int i = 0; i < BP_SIZE_BUCKETS; i += 2) {
        uint64_t count = sum->sizes[i] + sum->sizes[i + 1];
        if (count == 0)
            continue;
        bp_text_add(text, "%s%s to %s: %s", before, format_power(i, (char[32]){0}),
                    format_power(i + 2, (char[32]){0}), BP_COUNT(count));
        before = ", ";
    }
}

/* Whether copies by other calls block, by a graph or a page fault, is unknown. */
static const char *describe_blocking(const struct bp_model *model, const struct row *row) {
    const char *call = row->sum.call == BP_NO_FUNCTION ? "" : model->functions[row->sum.call].name;
    bool tells = row->calls_differ || strstr(call, "Mem");
    return row->async && row->sync ? "sync and async" : row->async ? "async" : tells ? "sync" : "";
}

/* What is known of the time of copies between host and device. */
static void add_time(struct bp_text *text, const struct bp_page *page, const struct row *row) {
    if (row->sum.direction > BP_D2H)
        return;
    if (row->on_device)
        bp_text_add(text, "; hidden %s", BP_TIME(page, row->sum.hidden_s));
    else if (is_untimed(row))
        bp_text_add(text, "; their time is unknown without device records");
    else
        bp_text_add(text, "; time of the calls%s, including any kernels a copy had to wait for",
                    row->async ? " that block" : "");
}

static bool is_divided(const struct bp_model_transfer *sum) {
    return sum->call_s > 0 && sum->call_whole_s == 0;
}

/* "; in call 758 ms: 80.0 µs moving, 283 ms waiting for kernels, 475 ms the call itself" */
static void add_calls(struct bp_text *text, const struct bp_page *page,
                      const struct bp_model_transfer *sum) {
    double own_s = sum->call_s - sum->call_moving_s - sum->call_wait_s;
    if (is_divided(sum))
        bp_text_add(text, "; in call %s: %s moving, %s waiting for kernels, %s the call itself",
                    BP_TIME(page, sum->call_s), BP_TIME(page, sum->call_moving_s),
                    BP_TIME(page, sum->call_wait_s), BP_TIME(page, own_s));
}

/* What copies between host and device cost, below their table. */
static void print_cost(const struct bp_page *page, const struct bp_model *model) {
    struct bp_model_transfer sum = {0};
    char wait[96] = "";
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++)
        if (model->cuda.transfers[i].direction <= BP_D2H)
            bp_transfer_add(&sum, &model->cuda.transfers[i]);
    if (!is_divided(&sum))
        return;
    double own_s = sum.call_s - sum.call_moving_s - sum.call_wait_s;
    if (BP_TIME(page, sum.call_wait_s)[0] != '0')
        snprintf(wait, sizeof(wait), "; their calls waited for kernels %s more",
                 BP_TIME(page, sum.call_wait_s));
    bp_page_say(page, 2, "copies cost %s of thread time: %s on the bus, %s in %s call%s%s",
                BP_TIME(page, sum.exposed_s + own_s), BP_TIME(page, sum.exposed_s),
                BP_TIME(page, own_s), BP_COUNT(sum.count), sum.count == 1 ? "" : "s", wait);
}

/* Only where a column needs it. */
static void print_legend(const struct bp_page *page, const struct row *rows, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].sum.call_s > 0) {
            bp_page_wrap(
                page,
                "in call: host time in the copying calls = moving bytes + waiting for "
                "kernels + the call itself; exposed: time in any CUDA call while the bytes "
                "moved",
                2);
            return;
        }
}

/* "dsl.upload: cudaMemcpy, pageable memory, sync": the name only if the row has not all of it. */
static void add_copies(struct bp_text *text, const struct bp_model *model, const struct row *row,
                       const char *label, int extra) {
    const char *parts[] = {
        row->calls_differ                 ? "several calls"
        : row->sum.call == BP_NO_FUNCTION ? ""
                                          : model->functions[row->sum.call].name,
        row->sum.direction <= BP_D2H ? row->memory : "",
        describe_blocking(model, row),
    };
    bool cut = bp_page_columns(label) > LABEL_WIDTH + extra;
    const char *before = cut ? ": " : "";
    bp_text_add(text, "%s", cut ? label : "");
    for (int i = 0; i < 3; i++)
        if (parts[i][0]) {
            bp_text_add(text, "%s%s%s", before, parts[i], i == 1 ? " memory" : "");
            before = ", ";
        }
}

static void print_details(const struct bp_page *page, const struct bp_model *model,
                          const struct row *row, const char *label) {
    struct bp_text text = {0};
    add_copies(&text, model, row, label, bp_columns_extra(page));
    bool named = text.length > 0;
    add_calls(&text, page, &row->sum);
    add_time(&text, page, row);
    if (row->sum.faulted_s > 0)
        bp_text_add(&text, "; code that touched the pages waited %s, in no CUDA call",
                    BP_TIME(page, row->sum.faulted_s));
    bp_text_add(&text, "%s", named ? "; " : "");
    add_sizes(&text, &row->sum);
    bp_page_say(page, 8, "      %s", bp_text_get(&text));
    bp_text_fini(&text);
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

static void print_transfers(const struct bp_page *page, const struct bp_model *model, unsigned top,
                            bool by_function) {
    uint32_t count;
    struct row *rows = make_rows(model, by_function, &count);
    struct bp_site_row *sites = make_site_rows(rows, count);
    if (count)
        bp_columns_title(page, "Transfers", columns);
    else if (by_function)
        fputs("\nNo transfers: no CUDA copy was recorded.\n", page->out);
    for (uint32_t i = 0; i < count && i < top; i++) {
        const char *label = by_function ? caller_label(model, &rows[i]) : rows[i].memory;
        if (!by_function && rows[i].sum.direction > BP_D2H)
            label = "";
        print_row(page, &rows[i], label);
        if (by_function) {
            print_details(page, model, &rows[i], label);
            bp_report_sites(page, model, sites, count, i);
        }
    }
    bp_columns_more(page, "  ", count, top);
    print_cost(page, model);
    if (by_function)
        print_legend(page, rows, count);
    free(sites);
    free(rows);
}

void bp_report_devices(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_report_settings *settings) {
    print_transfers(page, model, settings->top, false);
    bp_report_kernels(page, model);
}

void bp_report_by_transfer(const struct bp_page *page, const struct bp_model *model,
                           const struct bp_report_settings *settings) {
    print_transfers(page, model, settings->top, true);
    bp_report_kernels(page, model);
}
