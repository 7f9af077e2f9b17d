// SPDX-License-Identifier: MIT
//
// C++ exceptions through hooked calls; one mode per case.
#include <cstdio>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "throw.h"
#include "work.h"

static int caught;

template <class F> static void expect(F f) {
    try {
        f();
    } catch (const throw_error &e) {
        caught += e.value;
    } catch (const std::exception &e) {
        caught += static_cast<int>(std::strlen(e.what()));
    }
}

static void plain() {
    for (int i = 0; i < 1000; i++) {
        expect([i] { throw_now(i % 3 - 1); }); // every third returns
        work_add(i, 1);
    }
}

static void nested() {
    for (int i = 0; i < 200; i++) {
        expect([i] { throw_nested(1 + i % 20, i); });
        expect([] { throw_nested(5, -1); });
    }
    throw_nothing(1);
}

// A frame whose own cleanup runs on the way to its caller's catch.
static void __attribute__((noinline)) chain_cleaned(int depth, int value) {
    struct Cleanup {
        ~Cleanup() {
            throw_nothing(1);
        }
    } cleanup;
    throw_chain(depth, value);
}

// Tail calls from one hooked function to the next: many stubs in one place of the stack.
static void chain() {
    for (int i = 0; i < 200; i++) {
        expect([i] { throw_chain(1 + i % 20, i); });
        expect([i] { throw_chain(1 + i % 20, -1); });
        expect([i] { chain_cleaned(1 + i % 20, i); });
    }
}

static void inside() {
    for (int i = 0; i < 200; i++)
        caught += throw_caught(1 + i % 10, i);
}

static void rethrow() {
    for (int i = 0; i < 100; i++) {
        expect([i] { throw_rethrow(1 + i % 8, i); });
        expect([i] { throw_other(i); });
    }
}

static void throw_from_callback(void *arg) {
    int value = *static_cast<int *>(arg);
    if (value % 2)
        throw std::out_of_range("odd " + std::to_string(value));
    throw_now(value);
}

static void callback() {
    for (int i = 0; i < 200; i++)
        expect([&i] { throw_call(throw_from_callback, &i); });
}

// Exceptions pass C frames of the hooked library as well (libdslwork has unwind tables).
static void through_c() {
    for (int i = 0; i < 200; i++)
        expect([&i] { work_nest(1 + i % 7, throw_from_callback, &i); });
}

static void guarded() {
    for (int i = 0; i < 50; i++)
        expect([i] { throw_guarded(1 + i % 6, i); });
}

static void catch_and_go_on(void *) {
    for (int i = 0; i < 10; i++)
        expect([i] { throw_nested(3, i); });
    work_add(1, 2);
}

// The catching frame is itself below hooked calls, which must stay open.
static void middle() {
    for (int i = 0; i < 50; i++)
        throw_call(catch_and_go_on, nullptr);
}

static void in_threads() {
    std::vector<std::thread> threads;
    static int sums[8];
    for (int t = 0; t < 8; t++)
        threads.emplace_back([t] {
            for (int i = 0; i < 200; i++)
                try {
                    throw_nested(1 + i % 4, i);
                } catch (const throw_error &e) {
                    sums[t] += e.value;
                }
        });
    for (auto &t : threads)
        t.join();
    for (int s : sums)
        caught += s;
}

static void pointer() {
    std::exception_ptr kept;
    for (int i = 0; i < 50; i++) {
        std::thread([&kept, i] {
            try {
                throw_nested(2, i);
            } catch (...) {
                kept = std::current_exception();
            }
        }).join();
        expect([&kept] { std::rethrow_exception(kept); });
    }
}

// pthread_exit unwinds as a foreign exception that catch (...) sees.
static void forced() {
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        pthread_create(
            &t, nullptr,
            [](void *) -> void * {
                throw_call(
                    [](void *) {
                        try {
                            pthread_exit(nullptr);
                        } catch (...) {
                            throw_nothing(1);
                            throw;
                        }
                    },
                    nullptr);
                return nullptr;
            },
            nullptr);
        pthread_join(t, nullptr);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)();
    } modes[] = {
        {"plain", plain},
        {"nested", nested},
        {"chain", chain},
        {"inside", inside},
        {"rethrow", rethrow},
        {"callback", callback},
        {"through_c", through_c},
        {"guarded", guarded},
        {"middle", middle},
        {"in_threads", in_threads},
        {"pointer", pointer},
        {"forced", forced},
        {"uncaught", [] { throw_nested(3, 1); }},
        {"noexcept", [] { throw_noexcept(1); }},
    };
    for (auto &mode : modes)
        if (argc > 1 && !std::strcmp(argv[1], mode.name)) {
            mode.run();
            std::printf("%s %d\n", mode.name, caught);
            return 0;
        }
    return 2;
}
