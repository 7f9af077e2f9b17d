/* SPDX-License-Identifier: MIT
 *
 * The Linux system call convention as ptrace shows it: orig_rax is the number of the call that a
 * thread stands in, rax its result, or a number above 511 that says how the kernel will begin it
 * anew.
 */
#include "tools/attach/arch.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

#include "tools/attach/x86_64/loan.h"

/* What the kernel leaves in rax of a call that it will have begin anew. */
#define RESTART_SYS 512
#define RESTART_NO_HANDLER 514
#define RESTART_BLOCK 516
#define SYS_RESTART 219
#define SYSCALL_LENGTH 2

#define TILES (UINT64_C(3) << 17) /* of the extended state: 8 kB that nobody touches meanwhile */
#define TRAP_FLAG 0x100
#define JUMP 0xe9 /* with 4 bytes */
#define OSXSAVE (1u << 27)

struct loan_data {
    uint64_t registers[18]; /* BP_LOAN_R15 to BP_LOAN_RSP */
    uint64_t mask;
    uint64_t blocked;
};
_Static_assert(sizeof(struct loan_data) == BP_LOAN_SIZE, "loan.h");
_Static_assert(offsetof(struct loan_data, mask) == BP_LOAN_MASK, "loan.h");
_Static_assert(offsetof(struct bp_attach, ready) == BP_LOAN_READY, "loan.h");
_Static_assert(offsetof(struct bp_attach, dlopen) == BP_LOAN_DLOPEN, "loan.h");
_Static_assert(offsetof(struct bp_attach, dlerror) == BP_LOAN_DLERROR, "loan.h");
_Static_assert(offsetof(struct bp_attach, errno_location) == BP_LOAN_ERRNO, "loan.h");
_Static_assert(offsetof(struct bp_attach, mode) == BP_LOAN_MODE, "loan.h");
_Static_assert(offsetof(struct bp_attach, xstate) == BP_LOAN_XSTATE, "loan.h");
_Static_assert(offsetof(struct bp_attach, path) == BP_LOAN_PATH, "loan.h");
_Static_assert(sizeof(struct bp_attach) == BP_LOAN_ATTACH, "loan.h");

const char *bp_attach_arch_init(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
        return "this CPU cannot keep its extended state (no XSAVE)";
    return NULL;
}

int bp_registers_get(pid_t tid, struct user_regs_struct *registers) {
    return ptrace(PTRACE_GETREGS, tid, NULL, registers) ? -errno : 0;
}

int bp_registers_set(pid_t tid, const struct user_regs_struct *registers) {
    return ptrace(PTRACE_SETREGS, tid, NULL, registers) ? -errno : 0;
}

void bp_registers_to_dwarf(const struct user_regs_struct *r, uint64_t *dwarf) {
    const uint64_t all[BP_FRAME_REGS] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
                                         r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
                                         r->r12, r->r13, r->r14, r->r15, r->rip};
    memcpy(dwarf, all, sizeof(all));
}

bool bp_registers_mend(struct user_regs_struct *registers) {
    if ((long)registers->orig_rax < 0 || (long)registers->rax != -EINTR)
        return false;
    registers->rax = (uint64_t)-RESTART_NO_HANDLER;
    return true;
}

static bool begins_anew(const struct user_regs_struct *registers) {
    long result = (long)registers->rax;
    return (long)registers->orig_rax >= 0 && result <= -RESTART_SYS && result >= -RESTART_BLOCK;
}

long bp_registers_call(const struct user_regs_struct *registers) {
    return begins_anew(registers) ? (long)registers->orig_rax : -1;
}

size_t bp_loan_size(void) {
    return (size_t)(bp_loan_data - bp_loan) + sizeof(struct loan_data);
}

/* As the kernel would have the thread go on, were it to do so alone. */
static void fill_data(struct loan_data *data, const struct user_regs_struct *r) {
    bool anew = begins_anew(r);
    uint64_t call = (long)r->rax == -RESTART_BLOCK ? SYS_RESTART : r->orig_rax;
    const uint64_t all[18] = {r->r15,
                              r->r14,
                              r->r13,
                              r->r12,
                              r->rbp,
                              r->rbx,
                              r->r11,
                              r->r10,
                              r->r9,
                              r->r8,
                              anew ? call : r->rax,
                              r->rcx,
                              r->rdx,
                              r->rsi,
                              r->rdi,
                              anew ? r->rip - SYSCALL_LENGTH : r->rip,
                              r->eflags,
                              r->rsp};
    memcpy(data->registers, all, sizeof(all));
}

void bp_loan_make(char *code, const struct user_regs_struct *registers, uint64_t mask,
                  uint64_t blocked) {
    struct loan_data data = {.mask = mask, .blocked = blocked};
    size_t length = (size_t)(bp_loan_data - bp_loan);
    fill_data(&data, registers);
    memcpy(code, bp_loan, length);
    memcpy(code + length, &data, sizeof(data));
}

int bp_loan_begin(pid_t tid, const struct user_regs_struct *registers, uint64_t address) {
    struct user_regs_struct begin = *registers;
    begin.rip = address;
    begin.orig_rax = (uint64_t)-1; /* of no call: nothing begins anew here */
    begin.eflags &= ~(uint64_t)TRAP_FLAG;
    return bp_registers_set(tid, &begin);
}

bool bp_loan_has_memory(const struct user_regs_struct *registers, uint64_t address,
                        uint64_t *attach) {
    if (registers->rip != address + (uint64_t)(bp_loan_mapped - bp_loan) ||
        (long)registers->rax == -ENOSYS)
        return false; /* elsewhere, or only about to ask for it */
    uint64_t end = (registers->rax + 2 * BP_ATTACH_STACK) & ~(uint64_t)(BP_ATTACH_STACK - 1);
    *attach = (long)registers->rax < 0 ? 0 : end - sizeof(struct bp_attach);
    return true;
}

void bp_loan_fill(struct bp_attach *attach) {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    attach->xstate = ((uint64_t)high << 32 | low) & ~TILES;
}

bool bp_loan_is_waiting(uint64_t pc, uint64_t address) {
    return pc == address + (uint64_t)(bp_loan_waiting - bp_loan);
}

uint64_t bp_loan_handle(const struct user_regs_struct *registers) {
    return registers->r13;
}

uint64_t bp_loan_words(const struct user_regs_struct *registers) {
    return registers->r14;
}

uint64_t bp_code_next_jump(const uint8_t *code, size_t size, uint64_t address, size_t *at) {
    int32_t distance;
    while (*at + 1 + sizeof(distance) <= size) {
        size_t here = (*at)++;
        if (code[here] != JUMP)
            continue;
        memcpy(&distance, code + here + 1, sizeof(distance));
        return address + here + 1 + sizeof(distance) + (uint64_t)(int64_t)distance;
    }
    return 0;
}

/* The handler has returned to the trampoline: the ucontext is next on the stack, and the general
 * registers 40 bytes into it. */
uint64_t bp_frame_signal_context(uint64_t sp) {
    return sp + 40;
}

void bp_frame_from_context(const uint64_t *context, uint64_t *dwarf) {
    /* r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
    static const uint8_t place[BP_FRAME_REGS] = {13, 12, 14, 11, 9, 8, 10, 15, 0,
                                                 1,  2,  3,  4,  5, 6, 7,  16};
    for (size_t i = 0; i < BP_FRAME_REGS; i++)
        dwarf[i] = context[place[i]];
}
