/* SPDX-License-Identifier: MIT
 *
 * In order: the thread stops; its stack is looked at; the code is written; its registers are set to
 * it, by one system call, and from then on the thread needs nobody. It stops once more when it has
 * memory, for the library's settings, and is given back when it waits for that.
 */
#include "tools/attach/loan.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "profile/clock.h"
#include "tools/base/memory.h"
#include "tools/live/trace.h"

#define STEP_NS 50000            /* between looks at the thread */
#define FILL_NS 1000000000ull    /* for its first two system calls */
#define DLOPEN_NS 30000000000ull /* others may be loading something large, or take all CPUs */
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define LAST_PLAIN_SIGNAL 34 /* glibc's own are among them */
#define CRITICAL 8           /* rseq_cs in struct rseq */

struct borrowed {
    struct bp_loan *loan;
    struct bp_stopped trace;
    struct user_regs_struct registers; /* to be given back */
    uint64_t mask;
    char *before; /* what was where the code is */
    size_t size;
};

static uint64_t now_ns(void) {
    return bp_clock_ns(CLOCK_MONOTONIC);
}

static void pause_ns(long ns) {
    struct timespec time = {.tv_nsec = ns};
    nanosleep(&time, NULL);
}

static bool read_memory(pid_t pid, uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool write_memory(pid_t pid, uint64_t address, const void *from, size_t size) {
    struct iovec here = {(void *)(uintptr_t)from, size};
    struct iovec there = {(void *)(uintptr_t)address, size};
    return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Also where the process itself may not write. The size is one of whole words. */
static bool write_code(pid_t tid, uint64_t address, const char *code, size_t size) {
    for (size_t at = 0; at < size; at += sizeof(long)) {
        long word;
        memcpy(&word, code + at, sizeof(word));
        if (ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)(address + at), (void *)word))
            return false;
    }
    return true;
}

/* Signals to block: all that a handler might leave by longjmp. A real-time signal without one stays
 * as it is, so that the library finds one that is free. */
static uint64_t to_block(pid_t pid, uint64_t mask) {
    char line[64];
    uint64_t caught = ~UINT64_C(0);
    if (bp_trace_line(pid, "SigCgt:", line, sizeof(line)))
        caught = strtoull(line, NULL, 16);
    return caught | mask | ((UINT64_C(1) << LAST_PLAIN_SIGNAL) - 1);
}

/* A restartable sequence would not be restarted after it was left and entered again. */
static bool is_critical(pid_t pid, pid_t tid) {
    struct __ptrace_rseq_configuration rseq = {0};
    uint64_t critical = 0;
    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof(rseq), &rseq) <= 0 ||
        !rseq.rseq_abi_pointer)
        return false;
    return read_memory(pid, rseq.rseq_abi_pointer + CRITICAL, &critical, sizeof(critical)) &&
           critical != 0;
}

/* By another command, which was killed. Each stop is then the end of one of the thread's waits:
 * were these begun anew, as all other calls are, it would never come to their end. */
static bool is_on_loan(const struct bp_loan *loan, uint64_t pc) {
    return pc >= loan->address && pc < loan->address + bp_loan_size();
}

/* NULL: the thread may be borrowed. */
static const char *look_at(struct borrowed *borrowed) {
    static struct bp_frames frames;
    const struct bp_loan *loan = borrowed->loan;
    pid_t tid = borrowed->trace.tid;
    if (borrowed->trace.signal)
        return "a signal was arriving";
    if (bp_registers_get(tid, &borrowed->registers) ||
        ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(borrowed->mask), &borrowed->mask))
        return "its registers cannot be read";
    if (is_on_loan(loan, borrowed->registers.rip))
        return "it is still returning from an attach that was killed";
    if (bp_registers_mend(&borrowed->registers) && bp_registers_set(tid, &borrowed->registers))
        return "its registers cannot be set";
    if (is_critical(loan->objects->pid, tid))
        return "it is in a sequence that must not be interrupted";
    bp_frames_walk(&frames, loan->objects, &borrowed->registers);
    return bp_safe_refusal(loan->calls, loan->objects, &frames);
}

/* As it was. The registers last, by one system call: until then the thread helps itself. */
static void give_back(struct borrowed *borrowed) {
    pid_t tid = borrowed->trace.tid;
    ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(borrowed->mask), &borrowed->mask);
    if (bp_registers_set(tid, &borrowed->registers) == 0 && borrowed->before)
        write_code(tid, borrowed->loan->address, borrowed->before, borrowed->size);
}

static void let_go(struct borrowed *borrowed) {
    borrowed->loan->stopped_ns = bp_trace_go(&borrowed->trace);
    free(borrowed->before);
    borrowed->before = NULL;
}

static enum bp_loan_state leave_for_later(struct borrowed *borrowed, const char *reason) {
    borrowed->loan->reason = reason;
    give_back(borrowed);
    let_go(borrowed);
    return BP_LOAN_AGAIN;
}

static bool put_code(struct borrowed *borrowed) {
    const struct bp_loan *loan = borrowed->loan;
    pid_t pid = loan->objects->pid;
    borrowed->size = (bp_loan_size() + sizeof(long) - 1) & ~(sizeof(long) - 1);
    borrowed->before = bp_alloc(1, borrowed->size);
    char *code = bp_alloc(1, borrowed->size);
    bool read = read_memory(pid, loan->address, borrowed->before, borrowed->size);
    bp_loan_make(code, &borrowed->registers, borrowed->mask, to_block(pid, borrowed->mask));
    bool written = read && write_code(borrowed->trace.tid, loan->address, code, borrowed->size);
    free(code);
    return written;
}

/* The next stop of the thread: its status; -1 if it ended, or did not stop in time. */
static int next_stop(pid_t tid, uint64_t end) {
    int status;
    while (now_ns() < end) {
        pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
        if (got < 0 || (got == tid && !WIFSTOPPED(status)))
            return -1;
        if (got == tid)
            return status;
        pause_ns(STEP_NS / 5);
    }
    return -1;
}

/* Where the thread's settings belong; 0 if it got no memory, or a signal came first. */
static uint64_t run_to_memory(struct borrowed *borrowed) {
    uint64_t end = now_ns() + FILL_NS, attach;
    struct user_regs_struct registers;
    pid_t tid = borrowed->trace.tid;
    for (;;) {
        int status = ptrace(PTRACE_SYSCALL, tid, NULL, NULL) ? -1 : next_stop(tid, end);
        if (status < 0)
            return 0;
        if (WSTOPSIG(status) != SYSCALL_STOP) {
            borrowed->trace.signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
            return 0;
        }
        if (bp_registers_get(tid, &registers))
            return 0;
        if (bp_loan_has_memory(&registers, borrowed->loan->address, &attach))
            return attach;
    }
}

static bool fill(const struct borrowed *borrowed, uint64_t address) {
    struct bp_attach *attach = borrowed->loan->attach;
    bp_loan_fill(attach);
    attach->waits = bp_registers_call(&borrowed->registers) >= 0;
    attach->ready = 1;
    return write_memory(borrowed->loan->objects->pid, address, attach, sizeof(*attach));
}

static bool is_waiting(pid_t pid, pid_t tid, uint64_t address) {
    char path[64], text[256] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    FILE *file = fopen(path, "re");
    const char *last = file && fgets(text, sizeof(text), file) ? strrchr(text, ' ') : NULL;
    if (file)
        fclose(file);
    return last && bp_loan_is_waiting(strtoull(last, NULL, 16), address);
}

enum reached { REACHED, LATE, ENDED };

/* Its own signals it gets, and a stop of the whole process waits until it is given back. */
static enum reached run_to_end(const struct borrowed *borrowed) {
    uint64_t end = now_ns() + DLOPEN_NS;
    pid_t tid = borrowed->trace.tid, pid = borrowed->loan->objects->pid;
    int status;
    if (ptrace(PTRACE_CONT, tid, NULL, NULL))
        return ENDED;
    while (now_ns() < end) {
        pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
        if (got < 0 || (got == tid && !WIFSTOPPED(status)))
            return ENDED;
        if (got == tid) {
            long number = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
            ptrace(PTRACE_CONT, tid, NULL, (void *)number);
        } else if (is_waiting(pid, tid, borrowed->loan->address)) {
            return REACHED;
        }
        pause_ns(STEP_NS);
    }
    return LATE;
}

/* False if the thread has helped itself meanwhile, or ended. */
static bool stop_again(struct borrowed *borrowed, struct user_regs_struct *registers) {
    const struct bp_loan *loan = borrowed->loan;
    pid_t tid = borrowed->trace.tid;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
        return false;
    int status = next_stop(tid, now_ns() + FILL_NS);
    if (status < 0)
        return false;
    borrowed->trace.signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    return bp_registers_get(tid, registers) == 0 && registers->rip >= loan->address &&
           registers->rip < loan->address + borrowed->size;
}

static enum bp_loan_state finish(struct borrowed *borrowed, enum reached reached) {
    struct bp_loan *loan = borrowed->loan;
    struct user_regs_struct registers;
    if (reached == ENDED) {
        let_go(borrowed);
        return BP_LOAN_LOST;
    }
    bool ours = stop_again(borrowed, &registers);
    if (!ours || reached == LATE) {
        let_go(borrowed);
        return reached == LATE ? BP_LOAN_UNFINISHED : BP_LOAN_DONE;
    }
    uint64_t words = bp_loan_words(&registers);
    for (size_t i = 0; words && i + 1 < sizeof(loan->words); i++)
        if (!read_memory(loan->objects->pid, words + i, &loan->words[i], 1) || !loan->words[i])
            break;
    give_back(borrowed);
    let_go(borrowed);
    return bp_loan_handle(&registers) ? BP_LOAN_DONE : BP_LOAN_REFUSED;
}

static enum bp_loan_state borrow(struct borrowed *borrowed) {
    const struct bp_loan *loan = borrowed->loan;
    if (!put_code(borrowed))
        return leave_for_later(borrowed, "its memory cannot be written");
    if (bp_loan_begin(borrowed->trace.tid, &borrowed->registers, loan->address))
        return leave_for_later(borrowed, "its registers cannot be set");
    uint64_t attach = run_to_memory(borrowed);
    if (!attach)
        return leave_for_later(borrowed,
                               borrowed->trace.signal ? "a signal came" : "it has no memory");
    if (!fill(borrowed, attach))
        return leave_for_later(borrowed, "its memory cannot be written");
    return finish(borrowed, run_to_end(borrowed));
}

enum bp_loan_state bp_loan_try(struct bp_loan *loan, pid_t tid) {
    struct borrowed borrowed = {.loan = loan};
    loan->reason = NULL;
    loan->words[0] = 0;
    loan->error = bp_trace_hold(&borrowed.trace, tid);
    if (loan->error) {
        loan->reason = "it cannot be stopped";
        return BP_LOAN_AGAIN;
    }
    loan->reason = look_at(&borrowed);
    if (!loan->reason)
        return borrow(&borrowed);
    let_go(&borrowed);
    return BP_LOAN_AGAIN;
}
