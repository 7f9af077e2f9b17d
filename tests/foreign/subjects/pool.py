# SPDX-License-Identifier: MIT
"""A pool of processes."""
import multiprocessing


def count(limit):
    found = 0
    for number in range(2, limit):
        divisor = 2
        while number % divisor:
            divisor += 1
        found += divisor == number
    return found


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(count, [4000] * 6)))
        pool.close()
        pool.join()
