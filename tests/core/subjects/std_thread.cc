// SPDX-License-Identifier: MIT
//
// std::thread, std::async and thread_local destructors that call hooked functions.
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "work.h"

namespace {

struct Last {
    ~Last() {
        work_empty();
    }
};

thread_local Last last;

void run(int times) {
    (void)&last;
    for (int i = 0; i < times; i++)
        work_add(i, 1);
}

} // namespace

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; i++)
        threads.emplace_back(run, 100 + i);
    for (auto &t : threads)
        t.join();
    std::vector<std::future<int>> results;
    for (int i = 0; i < 16; i++)
        results.push_back(std::async(std::launch::async, [i] { return work_sub(i, 1); }));
    int sum = 0;
    for (auto &r : results)
        sum += r.get();
    std::printf("threads 16 sum %d\n", sum);
    return 0;
}
