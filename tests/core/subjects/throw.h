// SPDX-License-Identifier: MIT
//
// libdslthrow.so: hooked functions that throw. Its calls to its own exports go through the PLT.
#ifndef E2E_THROW_H
#define E2E_THROW_H

using throw_callback = void (*)(void *);

extern "C" {
void throw_now(int value);
void throw_nested(int depth, int value);      // throws from the innermost
int throw_caught(int depth, int value);       // throws and catches inside the library
void throw_chain(int depth, int value);       // each jumps to the next; the last one throws
void throw_rethrow(int depth, int value);     // every level catches and rethrows
void throw_other(int value);                  // catches and throws another type
void throw_call(throw_callback f, void *arg); // what f throws passes through
void throw_guarded(int depth, int value);     // destructors call hooked functions
int throw_nothing(int value);
void throw_noexcept(int value) noexcept; // ends in std::terminate
}

struct throw_error {
    int value;
};

#endif
