# SPDX-License-Identifier: MIT
"""Code generation as a program of its own: writes the module with batt() to the file it is given,
and prints how many seconds that took."""
import sys
import time

PROGRAM = '''
import dsl


def batt(task_id, rounds):
    grid = tuple(tuple(range(30)) for _ in range(30))
    dsl.search(grid, rounds)
    return task_id
'''


def main():
    start = time.monotonic()
    end = time.process_time() + 0.3
    while time.process_time() < end:
        sum(range(1000))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    print("generating", time.monotonic() - start)


main()
