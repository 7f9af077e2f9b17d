// SPDX-License-Identifier: MIT
#include "tests/unit/referee_throw.h"

#include <pthread.h>

namespace {

referee_look *look;

struct Guard {
    const char *where;
    explicit Guard(const char *place) : where(place) {
    }
    ~Guard() {
        look(where);
    }
};

struct Thrown {
    Thrown() {
        look("in the constructor of what is thrown");
    }
};

__attribute__((noinline)) void thrower(int depth) {
    Guard guard(depth ? "in a cleanup further out" : "in the first cleanup");
    if (depth)
        thrower(depth - 1);
    else
        throw Thrown();
    __asm__ volatile("");
}

__attribute__((noinline)) void thrower_from_catch() {
    try {
        thrower(1);
    } catch (const Thrown &) {
        Guard guard("in a cleanup of a catch that throws again");
        look("in a catch");
        throw;
    }
}

void *exits(void *unused) {
    Guard guard("in a cleanup of a thread that exits");
    pthread_exit(unused);
}

} // namespace

int referee_throw_all(referee_look *function) {
    pthread_t thread;
    look = function;
    try {
        thrower_from_catch();
    } catch (...) {
        look("in the outer catch");
    }
    try {
        Guard guard("in a cleanup of the same function");
        throw 1;
    } catch (int) {
        look("in a catch of the same function");
    }
    if (pthread_create(&thread, nullptr, exits, nullptr))
        return 0;
    pthread_join(thread, nullptr);
    return 1;
}
