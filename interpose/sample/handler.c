/* SPDX-License-Identifier: MIT
 *
 * The signal: takes one sample of the thread it interrupts. It runs on an alternate stack, with all
 * signals blocked, at any instruction of the target or of ours outside of locks. It allocates
 * nothing but pages, changes no errno, and its only lock is one that is never held with signals
 * open.
 */
#include <sys/prctl.h>

#include "interpose/ledger/jump.h"
#include "interpose/ledger/pause.h"
#include "interpose/sample/action.h"
#include "interpose/sample/sampler.h"
#include "interpose/sample/stack.h"
#include "profile/clock.h"

/* Where a thread has given itself an alternate stack of the smallest size, there is room for the
 * instruction that was interrupted and no more. */
#define ROOM (8u << 10)

/* A signal may have waited, blocked, for longer than what it stands for: a sample weighs no more
 * than so much CPU time, or two periods. A clock tick is 10 ms at most. */
#define HEAVIEST 20000000

/* A handler that took longer than this may have been off its CPU meanwhile. */
#define LONG_US 50

static int has_room(const struct bp_thread *thread, const ucontext_t *context) {
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    uint64_t low = (uint64_t)context->uc_stack.ss_sp;
    const struct bp_local *local = (const struct bp_local *)thread->local;
    if (!(context->uc_stack.ss_flags & SS_DISABLE) && here >= low &&
        here - low < context->uc_stack.ss_size)
        return here - low >= ROOM;
    return here - local->stack_low >= ROOM;
}

static struct bp_sampled *sampled_of(const struct bp_thread *thread) {
    return ((const struct bp_local *)thread->local)->sampled;
}

static uint64_t weigh(struct bp_sampled *sampled) {
    uint64_t now = bp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t weight = now - sampled->cpu, limit = 2 * bp_sampling.period;
    limit = limit > HEAVIEST ? limit : HEAVIEST;
    sampled->cpu = now;
    return weight < limit ? weight : limit;
}

/* The tick that brings a sample is also the moment when the scheduler gives the CPU to another
 * thread: that time is not ours but of what was interrupted. */
static uint64_t own_time(const struct bp_sampled *sampled, uint64_t begin) {
    uint64_t ticks = bp_clock_now(bp_process.clock) - begin;
    uint64_t per_us = bp_process.writer.header->ticks_per_s / 1000000;
    if (ticks < LONG_US * per_us)
        return ticks;
    uint64_t cpu = bp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - sampled->cpu;
    uint64_t most = (cpu / 1000 + 1) * per_us;
    return ticks < most ? ticks : most;
}

/* Counts what the sample shows of our overhead. */
static void weigh_own(struct bp_sampler *record, uint64_t pc, uint64_t weight) {
    __atomic_fetch_add(&record->weight, weight, __ATOMIC_RELAXED);
    if (!bp_walk_is_ours(pc))
        return;
    __atomic_fetch_add(&record->within_weight, weight, __ATOMIC_RELAXED);
    bp_sampler_count(&record->within_count);
}

static void take(struct bp_thread *thread, struct bp_sample_stack *stack, const ucontext_t *context,
                 uint64_t begin) {
    struct bp_sampler *record = bp_sampling.record;
    struct bp_cfi_registers registers;
    struct bp_sampled *sampled = sampled_of(thread);
    uint64_t weight = weigh(sampled);
    bp_arch_registers_of(context, registers.r);
    registers.known = (1u << BP_REGS) - 1;
    weigh_own(record, registers.r[BP_REG_RA], weight);
    if (has_room(thread, context)) {
        bp_safe_begin(&stack->walk.safe);
        do {
            bp_jump_watch(thread);
            bp_stack_walk(stack, thread, &registers, NULL);
        } while (!bp_jump_met(thread));
        bp_stack_read_python(stack);
        bp_stack_join(stack);
    } else {
        bp_stack_read_pc(stack, registers.r[BP_REG_RA]);
    }
    if (stack->truncation < BP_TRUNCATIONS)
        bp_sampler_count(&record->truncated[stack->truncation]);
    const struct bp_entry *current = bp_thread_innermost(thread);
    struct bp_sample key = {.node = ((const struct bp_node *)current->node)->index,
                            .kind = BP_SAMPLE_CPU};
    key.frame = bp_stack_fold(stack, thread);
    struct bp_sample *sample =
        key.frame == BP_NO_FRAME ? NULL : bp_stack_sample(stack, thread, &key);
    uint64_t own = own_time(sampled, begin);
    __atomic_fetch_add(&record->own_time, own, __ATOMIC_RELAXED);
    if (!sample) {
        bp_sampler_count(&record->dropped_full);
        return;
    }
    sample->weight += weight;
    sample->own += own;
    __atomic_store_n(&sample->count, sample->count + 1, __ATOMIC_RELAXED);
}

/* Somebody else sent it: what happens is what would happen without us. */
static void yield_to_default(int number) {
    bp_sampler_stop("the program was sent the signal of sampling");
    bp_action_reset(number);
    BP_SYS3(SYS_tgkill, BP_SYS0(SYS_getpid), BP_SYS0(SYS_gettid), number);
}

/* A program can forbid itself to read the counter. Reading it would be a fault, and with all
 * signals blocked the end of the process. */
static int has_clock(void) {
    int mode = PR_TSC_ENABLE;
    if (bp_process.clock == BP_CLOCK_TSC)
        BP_SYS2(SYS_prctl, PR_GET_TSC, &mode);
    return mode == PR_TSC_ENABLE;
}

/* The library came when this thread was there already (process/attached.c). The ledger gives it an
 * alternate stack, which the return from this signal would take away again. */
static void adopt(const siginfo_t *info, ucontext_t *context) {
    BP_SYS1(SYS_timer_delete, info->si_timerid);
    if (bp_self || !bp_sampling.signal || !bp_thread_adopt())
        return;
    BP_SYS2(SYS_sigaltstack, NULL, &context->uc_stack);
}

void bp_handler_take(int number, siginfo_t *info, void *context) {
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == BP_SAMPLING_CALL) {
        adopt(info, context);
        return;
    }
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &bp_sampling) {
        yield_to_default(number);
        return;
    }
    if (!has_clock()) {
        bp_sampler_count(&bp_sampling.record->dropped_busy);
        return;
    }
    struct bp_thread *thread = bp_self;
    int live = thread && thread->state == BP_THREAD_LIVE;
    if (bp_sampling.tick)
        bp_sampling.tick(bp_arch_pc_of(context));
    if (bp_pause_is_on() || !bp_sampling.period) {
        if (live)
            sampled_of(thread)->cpu = bp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        return;
    }
    uint64_t begin = bp_clock_now(bp_process.clock);
    if (live)
        bp_light_tick(thread, begin);
    struct bp_sample_stack *stack = live ? bp_stack_enter(thread) : NULL;
    bp_sampler_count(&bp_sampling.record->taken);
    __atomic_store_n(&bp_sampling.record->latest, begin, __ATOMIC_RELAXED);
    if (!stack) {
        bp_sampler_count(&bp_sampling.record->dropped_busy);
        return;
    }
    take(thread, stack, context, begin);
    bp_stack_leave(thread);
    bp_jump_tick_over(thread);
}
