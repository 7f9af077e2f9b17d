/* SPDX-License-Identifier: MIT
 *
 * What the two halves of the calling-convention torture share: libtorture.so (generated functions,
 * library.c, registers.S) and the program that calls them (generated callers, caller.c, callee.S).
 * values.c is compiled into both. The generator adds types.h, types.c and the functions.
 *
 * Values are described by atoms (offset, kind, bytes), so padding is never hashed: a result depends
 * on nothing but the values passed, and two runs of one binary must print the same bytes.
 */
#ifndef TORTURE_H
#define TORTURE_H

/* Functions of library.c and registers.S come first in tt_count[]; t_000000 is TT_FIRST. */
#define TT_REGISTERS 0
#define TT_ADDRESS 1
#define TT_CB_U64 2
#define TT_CB_DOUBLE 3
#define TT_CB_MIXED 4
#define TT_FIRST 5

/* struct tt_frame, for callee.S. Checked against the C struct in caller.c. */
#define TT_F_WANT 0   /* rbx rbp r12 r13 r14 r15 during the call */
#define TT_F_SAVED 48 /* the caller's own, in that order */
#define TT_F_RET 96
#define TT_F_RSP 104
#define TT_F_RDI 112
#define TT_F_RAX 120
#define TT_F_WANT_MXCSR 128
#define TT_F_SAVED_MXCSR 132
#define TT_F_SEEN_MXCSR 136
#define TT_F_WANT_CW 140
#define TT_F_SAVED_CW 142
#define TT_F_SEEN_CW 144
#define TT_F_SEEN_SW 146
#define TT_F_SIZE 152

/* Bits of tt_bad; 1 << 0..5 are the registers of TT_F_WANT. */
#define TT_BAD_RSP 0x40
#define TT_BAD_DF 0x80
#define TT_BAD_MXCSR 0x100
#define TT_BAD_CW 0x200

/* Register file of t_registers(): rdi rsi rdx rcx r8 r9 rax, four stack words, rsp and flags as the
 * callee saw them, then eight vectors of 32 bytes. Results: rax rdx, ymm0 ymm1, st0 st1. */
#define TT_R_GPR 0
#define TT_R_STACK 56
#define TT_R_RSP 88
#define TT_R_FLAGS 96
#define TT_R_VECTOR 128
#define TT_R_SIZE 384
#define TT_O_RAX 0
#define TT_O_RDX 8
#define TT_O_VECTOR 32
#define TT_O_ST 96
#define TT_O_SIZE 128

#ifndef __ASSEMBLER__

#    include <complex.h>
#    include <stdarg.h>
#    include <stddef.h>
#    include <stdint.h>

#    define TT_HIDDEN __attribute__((visibility("hidden")))

/* Kinds of atom. Floating values are finite and of moderate size, so sums stay finite too. */
enum tt_kind {
    TT_INT, /* `size` random bytes */
    TT_BOOL,
    TT_F32,
    TT_F64,
    TT_F80,   /* 10 bytes count */
    TT_PTR,   /* into tt_arena; its offset counts, not its address */
    TT_DEPTH, /* unsigned 0..3: how often a function calls itself */
    TT_CALL_U64,
    TT_CALL_DOUBLE,
    TT_CALL_MIXED, /* callbacks: called, never hashed */
};

struct tt_atom {
    uint16_t offset;
    uint8_t kind;
    uint8_t size;
};

struct tt_type {
    const struct tt_atom *atoms;
    uint16_t count;
    uint16_t in_memory; /* returned through a hidden pointer, which comes back in rax */
};

struct tt_function {
    const uint16_t *args; /* indices of tt_types */
    uint16_t count;
    uint16_t ret;     /* index of tt_types */
    uint16_t level;   /* 0 any x86-64, 1 AVX2, 2 AVX-512F */
    uint16_t forward; /* its arguments are hashed by another function */
};

extern const struct tt_type tt_types[] TT_HIDDEN;
extern const struct tt_function tt_functions[] TT_HIDDEN;
extern const unsigned tt_function_count TT_HIDDEN;

uint64_t tt_random(uint64_t *state) TT_HIDDEN;
uint64_t tt_hash(uint64_t h, const void *bytes, size_t n) TT_HIDDEN;
uint64_t tt_hash_value(uint64_t h, unsigned type, const void *value) TT_HIDDEN;
void tt_fill_value(uint64_t *rng, unsigned type, void *value) TT_HIDDEN;
uint64_t tt_hash_args(unsigned id, void *const *args) TT_HIDDEN;
/* The pointer a callback argument gets; the library and the program have one each. */
void *tt_callback(enum tt_kind kind, uint64_t choice) TT_HIDDEN;

struct tt_mixed {
    double d;
    int64_t n;
};
typedef uint64_t tt_call_u64(uint64_t);
typedef double tt_call_double(double, float);
typedef struct tt_mixed tt_call_mixed(struct tt_mixed, long double);

/* Exported by the library. tt_count[] is the truth that the profiler's counts are held against. */
extern char tt_arena[4096];
extern uint64_t tt_count[];
extern uint64_t tt_args_seen[];
extern unsigned char tt_registers_seen[TT_R_SIZE];
extern unsigned char tt_registers_result[TT_O_SIZE];
extern int tt_has_avx;
void t_registers(void);
void *t_address(unsigned id);
tt_call_u64 t_cb_u64;
tt_call_double t_cb_double;
tt_call_mixed t_cb_mixed;

/* Inside the library. */
uint64_t tt_enter(unsigned id, void *const *args) TT_HIDDEN;
void tt_result(unsigned id, uint64_t h, void *result) TT_HIDDEN;
extern void *const tt_table[] TT_HIDDEN;

/* Inside the program. */
void *tt_begin(unsigned id, unsigned call, void *const *args, void *target);
void tt_end(unsigned id, unsigned call, void *result);
void tt_same_address(unsigned id, void *address);
void *tt_dlsym(const char *name);
extern void (*const tt_callers[])(void);

#    define TT_CALLS 3 /* per function: two through the guard of callee.S, the last without it */

/* The address of the PLT entry: the call goes through a JUMP_SLOT even where C would load the GOT.
 */
#    ifdef TT_NO_PLT
#        define TT_PLT(f) ((void *)(f))
#    else
#        define TT_PLT(f)                                                                          \
            ({                                                                                     \
                void *plt_;                                                                        \
                __asm__("lea " #f "@PLT(%%rip), %0" : "=r"(plt_));                                 \
                plt_;                                                                              \
            })
#    endif

#endif
#endif
