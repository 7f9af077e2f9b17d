/* SPDX-License-Identifier: MIT
 *
 * Two sources. The profile of a recorded process has the open calls of its threads, with their
 * ages, and is read without the process's knowledge. Native frames need ptrace: each thread is
 * stopped while its own stack is walked, one after the other.
 */
#include "tools/live/stacks.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "profile/clock.h"
#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/text.h"
#include "tools/live/find.h"
#include "tools/live/look.h"
#include "tools/live/trace.h"
#include "tools/live/unwind.h"
#include "tools/symbols/symbols.h"

#define MOST_FRAMES 256

/* Where the files of the process are mapped. */
struct mapping {
    uint64_t low, high;
    uint64_t base; /* address - base is that in the file */
    uint32_t file; /* of the symbols */
};

struct stacks {
    pid_t pid;
    FILE *out;
    struct bp_page page;
    struct bp_look look;
    const struct bp_live_process *recorded; /* NULL: it is not */
    struct mapping *mappings;
    uint32_t mapping_count;
    struct bp_symbols *symbols;
    struct bp_unwind_range ours;
    const char *unavailable; /* why there are no native frames */
    char *refusal;           /* ours */
    uint64_t longest_ns;
    uint32_t threads;
};

/* A program that is not position-independent has its addresses in its file. */
static bool is_fixed(const char *path) {
    Elf64_Ehdr head = {0};
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(&head, sizeof(head), 1, file) : 0;
    if (file)
        fclose(file);
    return got == 1 && head.e_type == ET_EXEC;
}

static void add_mapping(struct stacks *stacks, const char *path, uint64_t low, uint64_t high,
                        uint64_t offset) {
    struct bp_symbol_file file = {.path = path, .loaded_ns = bp_clock_ns(CLOCK_REALTIME)};
    uint32_t number = bp_symbols_add(stacks->symbols, &file);
    uint64_t base = low - offset;
    for (uint32_t i = 0; i < stacks->mapping_count; i++)
        if (stacks->mappings[i].file == number)
            base = stacks->mappings[i].base; /* the first part is where the file begins */
    if (offset == 0 && is_fixed(path))
        base = 0;
    *BP_APPEND(stacks->mappings, stacks->mapping_count) =
        (struct mapping){.low = low, .high = high, .base = base, .file = number};
    if (strncmp(bp_base_name(path), "libbattprof", 11) != 0)
        return;
    stacks->ours.low = stacks->ours.low ? stacks->ours.low : low;
    stacks->ours.high = high;
}

static void read_mappings(struct stacks *stacks) {
    char path[64];
    char *line = NULL;
    size_t size = 0;
    unsigned long long low, high, offset;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)stacks->pid);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &size, file) > 0) {
        const char *name = strchr(line, '/');
        line[strcspn(line, "\n")] = 0;
        if (name && sscanf(line, "%llx-%llx %*s %llx", &low, &high, &offset) == 3)
            add_mapping(stacks, name, low, high, offset);
    }
    if (file)
        fclose(file);
    free(line);
}

/* The call is the instruction before the address that its frame goes on at. */
static const char *name_at(const struct stacks *stacks, uint64_t address, bool exact) {
    static char unknown[32];
    address -= !exact;
    for (uint32_t i = 0; i < stacks->mapping_count; i++) {
        const struct mapping *mapping = &stacks->mappings[i];
        if (address >= mapping->low && address < mapping->high)
            return bp_symbols_label(stacks->symbols, mapping->file, address - mapping->base);
    }
    snprintf(unknown, sizeof(unknown), "0x%llx", (unsigned long long)address);
    return unknown;
}

static void print_frames(const struct stacks *stacks, const struct bp_unwound *frames,
                         size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool exact = i == 0 || frames[i - 1].signal || frames[i].signal;
        bool ours = frames[i].address >= stacks->ours.low && frames[i].address < stacks->ours.high;
        if (ours && i > 0)
            continue; /* a stub: the open calls have said it */
        fprintf(stacks->out, "  %s%s\n", name_at(stacks, frames[i].address, exact),
                frames[i].signal ? "  (a signal came here)" : "");
    }
    if (count == MOST_FRAMES)
        fprintf(stacks->out, "  the frames beyond are left out\n");
}

/* The first refusal is that of all. */
static void print_native(struct stacks *stacks, pid_t tid) {
    static struct bp_unwound frames[MOST_FRAMES];
    struct bp_stopped trace;
    if (stacks->unavailable || stacks->refusal)
        return;
    int result = bp_trace_stop(&trace, stacks->pid, tid);
    if (result == -EINTR) {
        fprintf(stacks->out, "  in a call that would notice a stop (epoll_wait and its like): left "
                             "alone\n");
        return;
    }
    if (result == -ETIMEDOUT || result == -ESRCH) {
        fprintf(stacks->out, "  %s\n", result == -ESRCH ? "it is ending" : "the kernel holds it");
        return;
    }
    if (result) {
        stacks->refusal = bp_trace_refusal(stacks->pid, result);
        return;
    }
    size_t count = bp_unwind(tid, &stacks->ours, frames, MOST_FRAMES);
    uint64_t ns = bp_trace_go(&trace);
    stacks->longest_ns = ns > stacks->longest_ns ? ns : stacks->longest_ns;
    print_frames(stacks, frames, count);
}

static void print_open(const struct stacks *stacks, pid_t tid) {
    const struct bp_live_thread *thread = NULL;
    for (uint32_t i = 0; stacks->recorded && i < stacks->recorded->thread_count; i++)
        if (stacks->recorded->threads[i].alive && stacks->recorded->threads[i].tid == tid)
            thread = &stacks->recorded->threads[i];
    for (uint32_t i = 0; thread && i < thread->call_count; i++)
        fprintf(stacks->out, "  open for %s: %s\n", BP_TIME(&stacks->page, thread->calls[i].age_s),
                stacks->look.functions.rows[thread->calls[i].function].name);
    if (thread && thread->depth > thread->call_count)
        fprintf(stacks->out, "  and %u calls around them\n", thread->depth - thread->call_count);
}

/* "sleeping", from the letter in /proc. */
static const char *word_for(char letter) {
    switch (letter) {
    case 'R':
        return "running";
    case 'S':
        return "sleeping";
    case 'D':
        return "waiting for a device";
    case 'T':
    case 't':
        return "stopped";
    default:
        return "ending";
    }
}

static void print_thread(struct stacks *stacks, pid_t tid) {
    char path[80], line[512] = "", state = 'X';
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)stacks->pid, (int)tid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(line, sizeof(line), file))
        line[0] = 0;
    if (file)
        fclose(file);
    const char *name = strchr(line, '('), *end = strrchr(line, ')');
    if (!name || !end || sscanf(end + 1, " %c", &state) != 1)
        return; /* it has ended */
    fprintf(stacks->out, "\nthread %d  %.*s  %s\n", (int)tid, (int)(end - name - 1), name + 1,
            word_for(state));
    stacks->threads++;
    print_open(stacks, tid);
    print_native(stacks, tid);
}

static int is_number(const struct dirent *entry) {
    return bp_find_pid(entry->d_name) > 0;
}

static void print_threads(struct stacks *stacks) {
    char path[64];
    struct dirent **names;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)stacks->pid);
    int count = scandir(path, &names, is_number, versionsort);
    for (int i = 0; i < count; i++) {
        print_thread(stacks, bp_find_pid(names[i]->d_name));
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* False if it is not being recorded. */
static bool open_profile(struct stacks *stacks) {
    struct bp_error ignored = {0};
    char *path = bp_find_profile(stacks->pid);
    bool found = path && bp_look_init(&stacks->look, path, NULL, &ignored) == 0;
    free(path);
    bp_error_fini(&ignored);
    if (!found)
        return false;
    bp_look_again(&stacks->look);
    for (uint32_t i = 0; i < stacks->look.process_count; i++)
        if (stacks->look.processes[i]->pid == stacks->pid &&
            stacks->look.processes[i]->state == BP_LIVE_RUNS)
            stacks->recorded = stacks->look.processes[i];
    return true;
}

static void print_end(const struct stacks *stacks) {
    const char *why = stacks->refusal ? stacks->refusal : stacks->unavailable;
    fputc('\n', stacks->out);
    if (why)
        bp_page_say(&stacks->page, 2, "no native frames: %s", why);
    else if (stacks->longest_ns)
        bp_page_say(&stacks->page, 2, "each thread was stopped for its own stack, for %s at most",
                    BP_TIME(&stacks->page, 1e-9 * (double)stacks->longest_ns));
    if (!stacks->recorded)
        bp_page_say(&stacks->page, 2, "no open calls: the process is not being recorded");
}

static void fini(struct stacks *stacks, bool opened) {
    if (opened)
        bp_look_fini(&stacks->look);
    bp_symbols_free(stacks->symbols);
    free(stacks->mappings);
    free(stacks->refusal);
}

int bp_stacks_print(pid_t pid, const struct bp_stacks_settings *settings, FILE *out,
                    struct bp_error *error) {
    struct stacks stacks = {.pid = pid, .out = out, .symbols = bp_symbols_new(NULL)};
    if (kill(pid, 0) && errno == ESRCH) {
        bp_symbols_free(stacks.symbols);
        return bp_error_set(error, BP_FAILED, "no process %d", (int)pid);
    }
    bp_page_init(&stacks.page, out);
    stacks.unavailable = settings->no_stop ? "not asked for" : bp_unwind_init();
    stacks.refusal = stacks.unavailable ? NULL : bp_trace_refusal(pid, 0);
    bool opened = open_profile(&stacks);
    read_mappings(&stacks);
    fprintf(out, "process %d  %s\n", (int)pid, stacks.recorded ? stacks.recorded->program : "");
    print_threads(&stacks);
    print_end(&stacks);
    bool nothing = !stacks.recorded && (stacks.refusal || stacks.unavailable);
    int status = nothing && !settings->no_stop ? BP_FAILED : BP_FINE;
    fini(&stacks, opened);
    return status;
}
