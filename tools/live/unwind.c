/* SPDX-License-Identifier: MIT
 *
 * The library is opened when it is needed: nothing else of the command depends on it.
 *
 * It takes a frame's CFA for the caller's stack pointer, which is not so in the stubs of
 * libbattprof.so (interpose/arch/x86_64/stub.S). There the entry of the open call, in rbx, says
 * where the caller goes on, and the walk begins anew from those registers.
 */
#include "tools/live/unwind.h"

#include <dlfcn.h>
#include <libunwind-ptrace.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "profile/format.h"

/* libunwind's names are macros, which say for which CPU. */
#define TEXT(name) #name
#define NAME(name) TEXT(name)

static struct {
    void *library;
    unw_addr_space_t (*create)(unw_accessors_t *accessors, int byte_order);
    int (*cache)(unw_addr_space_t space, unw_caching_policy_t policy);
    int (*init)(unw_cursor_t *cursor, unw_addr_space_t space, void *argument);
    int (*step)(unw_cursor_t *cursor);
    int (*get)(unw_cursor_t *cursor, int number, unw_word_t *value);
    int (*is_signal)(unw_cursor_t *cursor);
    void *(*open)(pid_t pid);
    void (*close)(void *argument);
    unw_accessors_t *accessors;
    unw_accessors_t from_registers; /* the same, but for the registers */
    unw_addr_space_t space;
    unw_word_t registers[UNW_X86_64_RIP + 1]; /* where the walk begins */
} state;

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
                           int write, void *argument) {
    (void)space;
    (void)argument;
    if (write || number < 0 || number > UNW_X86_64_RIP)
        return -UNW_EBADREG;
    *value = state.registers[number];
    return 0;
}

static bool find_all(void *general, void *library) {
    static const struct {
        void **to;
        const char *name;
    } wanted[] = {
        {(void **)&state.create, NAME(unw_create_addr_space)},
        {(void **)&state.cache, NAME(unw_set_caching_policy)},
        {(void **)&state.init, NAME(unw_init_remote)},
        {(void **)&state.step, NAME(unw_step)},
        {(void **)&state.get, NAME(unw_get_reg)},
        {(void **)&state.is_signal, NAME(unw_is_signal_frame)},
        {(void **)&state.open, "_UPT_create"},
        {(void **)&state.close, "_UPT_destroy"},
        {(void **)&state.accessors, "_UPT_accessors"},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        if (!(*wanted[i].to = dlsym(general, wanted[i].name)) &&
            !(*wanted[i].to = dlsym(library, wanted[i].name)))
            return false;
    return true;
}

const char *bp_unwind_init(void) {
    if (state.library)
        return NULL;
    /* The second one needs the first and does not say so. */
    void *general = dlopen("libunwind-" NAME(UNW_TARGET) ".so.8", RTLD_NOW | RTLD_GLOBAL);
    state.library = general ? dlopen("libunwind-ptrace.so.0", RTLD_NOW) : NULL;
    if (!state.library)
        return "libunwind is not installed (Debian: libunwind8)";
    if (!find_all(general, state.library))
        return "this libunwind lacks what is needed";
    state.from_registers = *state.accessors;
    state.from_registers.access_reg = access_register;
    state.space = state.create(&state.from_registers, 0);
    if (state.space) /* one process: what was read for a thread is true for the next */
        state.cache(state.space, UNW_CACHE_GLOBAL);
    return state.space ? NULL : "libunwind has no memory";
}

static bool read_registers(pid_t tid) {
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, tid, NULL, &r))
        return false;
    const unw_word_t all[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                              r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
    for (int i = 0; i <= UNW_X86_64_RIP; i++)
        state.registers[i] = all[i];
    return true;
}

static bool read_memory(pid_t tid, uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* While the callee of a stub runs, its return address stands where the caller's was; when it has
 * returned, just below the stack. True if the frame is such a one: then the registers are the
 * caller's. */
static bool leave_stub(pid_t tid, unw_cursor_t *cursor, uint64_t address,
                       const struct bp_unwind_range *ours) {
    static const int kept[] = {UNW_X86_64_RBP, UNW_X86_64_R12, UNW_X86_64_R13, UNW_X86_64_R14,
                               UNW_X86_64_R15};
    struct bp_entry entry;
    unw_word_t place, stack;
    uint64_t slot, found;
    if (state.get(cursor, UNW_X86_64_RBX, &place) || state.get(cursor, UNW_REG_SP, &stack) ||
        !read_memory(tid, place, &entry, sizeof(entry)))
        return false;
    slot = entry.sp & ~UINT64_C(7);
    if (!read_memory(tid, slot, &found, sizeof(found)))
        return false;
    bool returned = stack == slot + sizeof(slot) && found >= ours->low && found < ours->high;
    if (found != address && !returned)
        return false;
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        state.get(cursor, kept[i], &state.registers[kept[i]]);
    state.registers[UNW_X86_64_RBX] = entry.rbx;
    state.registers[UNW_X86_64_RSP] = slot + sizeof(slot);
    state.registers[UNW_X86_64_RIP] = entry.ret;
    return true;
}

size_t bp_unwind(pid_t tid, const struct bp_unwind_range *ours, struct bp_unwound *frames,
                 size_t most) {
    unw_cursor_t cursor;
    unw_word_t address;
    size_t count = 0;
    void *thread = read_registers(tid) ? state.open(tid) : NULL;
    int more = thread && state.init(&cursor, state.space, thread) == 0;
    while (more > 0 && count < most && state.get(&cursor, UNW_REG_IP, &address) == 0 && address) {
        bool signal = state.is_signal(&cursor) > 0;
        frames[count++] = (struct bp_unwound){.address = address, .signal = signal};
        bool stub = address >= ours->low && address < ours->high;
        if (stub && leave_stub(tid, &cursor, address, ours))
            more = state.init(&cursor, state.space, thread) == 0;
        else
            more = state.step(&cursor);
    }
    if (thread)
        state.close(thread);
    return count;
}
