/* SPDX-License-Identifier: MIT
 *
 * What attaching needs of the CPU: registers of a stopped thread, by their DWARF numbers for
 * unwinding, and the code that a borrowed thread runs. A port writes a folder like x86_64/.
 */
#ifndef BP_TOOLS_ATTACH_ARCH_H
#define BP_TOOLS_ATTACH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "profile/attach.h"

#define BP_FRAME_REGS 17 /* that call frame information of this CPU speaks of */
#define BP_FRAME_SP 7
#define BP_FRAME_PC 16

/* NULL, or why this CPU will not do. */
const char *bp_attach_arch_init(void);

/* All of a stopped thread. 0 or -errno. */
int bp_registers_get(pid_t tid, struct user_regs_struct *registers);
int bp_registers_set(pid_t tid, const struct user_regs_struct *registers);
void bp_registers_to_dwarf(const struct user_regs_struct *registers, uint64_t *dwarf);

/* The thread was stopped in a system call that the kernel has ended with EINTR, where it has others
 * begin anew: have it begin anew, too, unless a signal comes first. True if it was so. */
bool bp_registers_mend(struct user_regs_struct *registers);

/* The call that the thread stands in, to be continued; -1 for none. */
long bp_registers_call(const struct user_regs_struct *registers);

/* The code for a thread with these registers, and its size in bytes. `mask` are the signals that
 * the thread blocks, `blocked` those that are to be blocked meanwhile. */
size_t bp_loan_size(void);
void bp_loan_make(char *code, const struct user_regs_struct *registers, uint64_t mask,
                  uint64_t blocked);

/* Has the thread, which has these registers, begin the code at `address` when it goes on. */
int bp_loan_begin(pid_t tid, const struct user_regs_struct *registers, uint64_t address);

/* It has just been given memory: where struct bp_attach belongs, 0 if it has not got any. False if
 * it is at another place. */
bool bp_loan_has_memory(const struct user_regs_struct *registers, uint64_t address,
                        uint64_t *attach);
void bp_loan_fill(struct bp_attach *attach); /* what depends on the CPU */

/* Whether `pc` is where the thread waits to be given back. */
bool bp_loan_is_waiting(uint64_t pc, uint64_t address);

/* What dlopen returned, and where dlerror's words are. */
uint64_t bp_loan_handle(const struct user_regs_struct *registers);
uint64_t bp_loan_words(const struct user_regs_struct *registers);

/* Where the code, which lies at `address`, jumps to for good, from `*at` on; 0: nowhere any more.
 */
uint64_t bp_code_next_jump(const uint8_t *code, size_t size, uint64_t address, size_t *at);

/* The text where a frame of a signal handler has the registers that it interrupted. */
uint64_t bp_frame_signal_context(uint64_t sp);
void bp_frame_from_context(const uint64_t *context, uint64_t *dwarf);
#define BP_FRAME_CONTEXT 23 /* words of it */

#endif
