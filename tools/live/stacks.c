/* SPDX-License-Identifier: MIT
 *
 * Two sources. The profile of a recorded process has the open calls of its threads, with their
 * ages, and is read without the process's knowledge. Python's and native frames need ptrace: each
 * thread is stopped while its own stack is walked, one after the other.
 */
#include "tools/live/stacks.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/text.h"
#include "tools/live/find.h"
#include "tools/live/look.h"
#include "tools/live/mappings.h"
#include "tools/live/python.h"
#include "tools/live/trace.h"
#include "tools/live/unwind.h"

#define MOST_FRAMES 256
#define EVAL "_PyEval_EvalFrameDefault" /* what runs Python functions */

struct stacks {
    pid_t pid;
    FILE *out;
    struct bp_page page;
    struct bp_look look;
    const struct bp_live_process *recorded; /* NULL: it is not */
    struct bp_mappings mappings;
    struct bp_unwind_range ours;
    struct bp_python python;
    const char *python_path; /* of the interpreter */
    bool no_stop;
    const char *unavailable; /* why there are no native frames */
    char *refusal;           /* ours */
    uint64_t longest_ns;
    uint32_t threads;
    uint32_t found; /* frames */
};

static void read_mappings(struct stacks *stacks) {
    bp_mappings_init(&stacks->mappings, stacks->pid);
    for (uint32_t i = 0; i < stacks->mappings.count; i++) {
        const struct bp_mapping *mapping = &stacks->mappings.rows[i];
        if (!mapping->path)
            continue;
        if (!stacks->python.runtime && !stacks->python.problem) {
            bp_python_look(&stacks->python, mapping->path, mapping->base);
            stacks->python_path = mapping->path;
        }
        if (strncmp(bp_base_name(mapping->path), "libbattprof", 11) != 0)
            continue;
        stacks->ours.low = stacks->ours.low ? stacks->ours.low : mapping->low;
        stacks->ours.high = mapping->high;
    }
}

/* What one look at a thread found. */
struct look {
    struct bp_unwound native[MOST_FRAMES];
    size_t native_count;
    struct bp_python_frame python[MOST_FRAMES];
    uint32_t python_count;
    uint32_t shown;   /* of those of Python */
    bool one_picture; /* Python's stand in the places of the interpreter's own */
};

/* The call is the instruction before the address that its frame goes on at. */
static uint64_t place_of(const struct look *look, size_t i) {
    const struct bp_unwound *frames = look->native;
    bool exact = i == 0 || frames[i - 1].signal || frames[i].signal;
    return frames[i].address - !exact;
}

static bool is_eval(const struct stacks *stacks, uint64_t address) {
    return strncmp(bp_mappings_label(&stacks->mappings, address), EVAL, strlen(EVAL)) == 0;
}

/* Python frames up to the one that C code called; all of them if that is not asked for. */
static void print_python(const struct stacks *stacks, struct look *look, bool all) {
    bool more = look->shown < look->python_count;
    for (; more;
         more = look->shown < look->python_count && (all || !look->python[look->shown - 1].entry))
        fprintf(stacks->out, "  %s\n", look->python[look->shown++].text);
}

/* Whether the interpreter's own calls on the native stack are those that the Python frames tell of:
 * then these can stand in their places. */
static bool is_one_picture(const struct stacks *stacks, const struct look *look) {
    uint32_t native = 0, python = 0;
    for (size_t i = 0; i < look->native_count; i++)
        native += is_eval(stacks, place_of(look, i));
    for (uint32_t i = 0; i < look->python_count; i++)
        python += look->python[i].entry;
    return native == python && native > 0;
}

/* Between Python frames the interpreter's own functions are left out, and our stubs everywhere: the
 * open calls have said it. */
static bool is_plumbing(const struct stacks *stacks, const struct look *look, size_t i) {
    uint64_t address = look->native[i].address;
    const struct bp_mapping *mapping = bp_mappings_at(&stacks->mappings, address);
    bool ours = address >= stacks->ours.low && address < stacks->ours.high;
    return (ours && i > 0) ||
           (look->one_picture && look->shown && mapping && mapping->path == stacks->python_path);
}

static void print_frames(const struct stacks *stacks, struct look *look) {
    look->one_picture = is_one_picture(stacks, look);
    if (!look->one_picture)
        print_python(stacks, look, true);
    if (!look->one_picture && look->python_count && look->native_count)
        fputs("  native frames:\n", stacks->out);
    for (size_t i = 0; i < look->native_count; i++) {
        uint64_t place = place_of(look, i);
        if (look->one_picture && is_eval(stacks, place))
            print_python(stacks, look, false);
        else if (!is_plumbing(stacks, look, i))
            fprintf(stacks->out, "  %s%s\n", bp_mappings_label(&stacks->mappings, place),
                    look->native[i].signal ? "  (a signal came here)" : "");
    }
    if (look->native_count == MOST_FRAMES || look->python_count == MOST_FRAMES)
        fprintf(stacks->out, "  the frames beyond are left out\n");
}

/* Beyond code without call frame information, as the kernel's own, the walk is a guess: it ends
 * where there is no code. */
static size_t count_code(const struct stacks *stacks, const struct look *look) {
    size_t count = 0;
    while (count < look->native_count) {
        const struct bp_mapping *mapping = bp_mappings_at(&stacks->mappings, place_of(look, count));
        if (!mapping || !mapping->code)
            break;
        count++;
    }
    return count;
}

/* pthread_self() of a thread that waits in a system call; 0 if it is unknown. */
static uint64_t pointer_of(const struct stacks *stacks, pid_t tid) {
    const struct bp_mapping *stack =
        bp_mappings_at(&stacks->mappings, bp_trace_stack(stacks->pid, tid));
    return stack ? bp_python_pointer(&stacks->python, stack->low, stack->high) : 0;
}

/* What a thread that waits in a system call shows without being stopped. */
static void print_left_alone(struct stacks *stacks, struct look *look, pid_t tid) {
    fprintf(stacks->out, "  not stopped: it waits in epoll_wait or a similar call, which would "
                         "notice\n");
    look->python_count =
        bp_python_read(&stacks->python, tid, pointer_of(stacks, tid), look->python, MOST_FRAMES);
    stacks->found += look->python_count;
    print_python(stacks, look, true);
}

/* The first refusal is that of all. */
static void print_stack(struct stacks *stacks, pid_t tid) {
    static struct look look;
    struct bp_stopped trace;
    if (stacks->no_stop || stacks->refusal)
        return;
    look.native_count = look.python_count = look.shown = 0;
    int result = bp_trace_stop(&trace, stacks->pid, tid);
    if (result == -EINTR) {
        print_left_alone(stacks, &look, tid);
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
    look.python_count =
        bp_python_read(&stacks->python, tid, bp_trace_pointer(&trace), look.python, MOST_FRAMES);
    if (!stacks->unavailable)
        look.native_count = bp_unwind(tid, &stacks->ours, look.native, MOST_FRAMES);
    look.native_count = count_code(stacks, &look);
    uint64_t ns = bp_trace_go(&trace);
    stacks->longest_ns = ns > stacks->longest_ns ? ns : stacks->longest_ns;
    stacks->found += (uint32_t)look.native_count + look.python_count;
    print_frames(stacks, &look);
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
    print_stack(stacks, tid);
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

/* The program's name, as the profile or the kernel has it. */
static void print_head(const struct stacks *stacks) {
    char path[64], name[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)stacks->pid);
    FILE *file = stacks->recorded ? NULL : fopen(path, "re");
    if (file && fgets(name, sizeof(name), file))
        name[strcspn(name, "\n")] = 0;
    if (file)
        fclose(file);
    fprintf(stacks->out, "process %d  %s\n", (int)stacks->pid,
            stacks->recorded ? stacks->recorded->program : name);
}

static void print_end(const struct stacks *stacks) {
    const char *why = stacks->refusal ? stacks->refusal : stacks->unavailable;
    fputc('\n', stacks->out);
    if (why)
        bp_page_say(&stacks->page, 2, "no %s frames: %s",
                    stacks->python.runtime && !stacks->found ? "Python or native" : "native", why);
    if (stacks->python.problem)
        bp_page_say(&stacks->page, 2, "no Python frames: %s", stacks->python.problem);
    if (stacks->longest_ns)
        bp_page_say(&stacks->page, 2, "each thread was stopped for its own stack, for %s at most",
                    BP_TIME(&stacks->page, 1e-9 * (double)stacks->longest_ns));
    if (!stacks->recorded)
        bp_page_say(&stacks->page, 2, "no open calls: the process is not being recorded");
}

static void fini(struct stacks *stacks, bool opened) {
    if (opened)
        bp_look_fini(&stacks->look);
    bp_mappings_fini(&stacks->mappings);
    free(stacks->refusal);
}

int bp_stacks_print(pid_t pid, const struct bp_stacks_settings *settings, FILE *out,
                    struct bp_error *error) {
    struct stacks stacks = {
        .pid = pid, .out = out, .python = {.pid = pid}, .no_stop = settings->no_stop};
    if (kill(pid, 0) && errno == ESRCH)
        return bp_error_set(error, BP_FAILED, "no process %d", (int)pid);
    bp_page_init(&stacks.page, out);
    stacks.unavailable = settings->no_stop ? "not asked for" : bp_unwind_init();
    stacks.refusal = settings->no_stop ? NULL : bp_trace_refusal(pid, 0);
    bool opened = open_profile(&stacks);
    read_mappings(&stacks);
    print_head(&stacks);
    print_threads(&stacks);
    print_end(&stacks);
    bool nothing = !stacks.recorded && !stacks.found && !settings->no_stop;
    int status = nothing ? BP_FAILED : BP_FINE;
    fini(&stacks, opened);
    return status;
}
