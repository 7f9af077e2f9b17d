// SPDX-License-Identifier: MIT
//
// See throw.h. LEAVE is reached only by calls that return.
#define COUNT_LIBRARY "libdslthrow.so"
#define COUNT_FIRST 64
#include "count.h"
#include "throw.h"
#include "work.h"

#include <stdexcept>
#include <string>

// gcc calls a function that calls itself directly; under another name it goes through the PLT.
extern "C" {
void nested_again(int depth, int value) __asm__("throw_nested");
void chain_again(int depth, int value) __asm__("throw_chain");
void rethrow_again(int depth, int value) __asm__("throw_rethrow");
void guarded_again(int depth, int value) __asm__("throw_guarded");
}

enum { NOW, NESTED, CAUGHT, RETHROW, OTHER, CALL, GUARDED, NOTHING, NOEXCEPT, CHAIN };

void throw_now(int value) {
    ENTER(NOW);
    if (value >= 0)
        throw throw_error{value};
    LEAVE(NOW);
}

void throw_nested(int depth, int value) {
    ENTER(NESTED);
    if (depth > 1)
        nested_again(depth - 1, value);
    else
        throw_now(value);
    LEAVE(NESTED);
}

void throw_chain(int depth, int value) {
    ENTER(CHAIN);
    if (value < 0)
        LEAVE(CHAIN); // it will return: nothing may come after the jump
    if (depth > 1)
        chain_again(depth - 1, value);
    else
        throw_now(value);
}

int throw_caught(int depth, int value) {
    int got = 0;
    ENTER(CAUGHT);
    try {
        throw_nested(depth, value);
    } catch (const throw_error &e) {
        got = e.value + throw_nothing(1);
    }
    LEAVE(CAUGHT);
    return got;
}

void throw_rethrow(int depth, int value) {
    ENTER(RETHROW);
    try {
        if (depth > 1)
            rethrow_again(depth - 1, value);
        else
            throw_now(value);
    } catch (...) {
        throw_nothing(value);
        throw;
    }
    LEAVE(RETHROW);
}

void throw_other(int value) {
    ENTER(OTHER);
    try {
        throw_now(value);
    } catch (const throw_error &e) {
        throw std::runtime_error("value " + std::to_string(e.value));
    }
    LEAVE(OTHER);
}

void throw_call(throw_callback f, void *arg) {
    ENTER(CALL);
    f(arg);
    LEAVE(CALL);
}

namespace {
struct Guard {
    ~Guard() {
        work_empty();
        throw_nothing(2);
        throw_caught(2, 3); // an exception inside of unwinding
    }
};
} // namespace

void throw_guarded(int depth, int value) {
    ENTER(GUARDED);
    Guard guard;
    if (depth > 1)
        guarded_again(depth - 1, value);
    else
        throw_now(value);
    LEAVE(GUARDED);
}

int throw_nothing(int value) {
    ENTER(NOTHING);
    LEAVE(NOTHING);
    return value;
}

void throw_noexcept(int value) noexcept {
    ENTER(NOEXCEPT);
    throw_now(value);
    LEAVE(NOEXCEPT);
}
