/* SPDX-License-Identifier: MIT
 *
 * Copies on a runtime that takes no time, on stacks that are not what they seem: of coroutines that
 * have a piece of their thread's stack, one after the other the same; and on the thread's own stack
 * below a function whose frame is on another one, which is unmapped then.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/cuda/quick/cudart.h"

#define ROUNDS 500
#define SIZE (64ul << 10)

static char memory[64];
static ucontext_t outside, inside;
static char *place; /* on the thread's own stack */

static __attribute__((noinline)) void upload(void) {
    cudaMemcpyAsync(memory, memory, 40, TO_DEVICE, NULL);
    __asm__ volatile("");
}

static void once(void) {
    upload();
    __asm__ volatile("");
}

static void twice(void) {
    upload();
    upload();
    __asm__ volatile("");
}

static void run(void (*coroutine)(void), char *stack) {
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = SIZE;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
}

/* Calls `function` with that stack pointer; its own frame is found by rbp. */
void call_at(char *sp, void (*function)(void));
__asm__(".text\n"
        ".globl call_at\n"
        ".type call_at, @function\n"
        "call_at:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset 6, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register 6\n"
        "    mov %rdi, %rsp\n"
        "    call *%rsi\n"
        "    mov %rbp, %rsp\n"
        "    pop %rbp\n"
        "    .cfi_def_cfa 7, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size call_at, . - call_at\n");

static void back_home(void) {
    call_at(place, upload);
    __asm__ volatile("");
}

static void *anonymous(uint64_t address) {
    return mmap((void *)address, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Outwards stacks lead upwards: the other one is above this. */
static void from_elsewhere(void) {
    uint64_t above = ((uint64_t)place & ~(SIZE - 1)) + (UINT64_C(1) << 32);
    for (int i = 0; i < ROUNDS; i++) {
        char *other = anonymous(above + (uint64_t)(i % 3) * SIZE);
        call_at(other + SIZE, back_home);
        munmap(other, SIZE);
        call_at(place, upload);
    }
}

static void *on_thread(void *unused) {
    char room[SIZE];
    for (int i = 0; i < ROUNDS; i++) {
        run(once, room);
        run(twice, room);
    }
    place = (char *)(((uint64_t)room - SIZE) & ~UINT64_C(15)); /* below what is used */
    from_elsewhere();
    return unused;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    char *stack = mmap((void *)(UINT64_C(1) << 45), 8 * SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, 8 * SIZE);
    upload();
    if (pthread_create(&thread, &attributes, on_thread, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    puts("ok");
    return 0;
}
