# SPDX-License-Identifier: MIT
"""calls.py FILE: works in functions of a module that was imported long before, until word 0 of FILE
is not 0; then calls it a known number of times and prints what it did."""
import mmap
import sys
import threading
import time

import chosen

CALLS = 500


def main():
    with open(sys.argv[1], "r+b") as file:
        words = mmap.mmap(file.fileno(), 4096)
    sleeper = threading.Thread(target=time.sleep, args=(0.2,))
    sleeper.start()
    while not words[0]:
        words[4] = (words[4] + 1) % 256
        chosen.before(words[4])
        time.sleep(0.001)
    # The library's pending call has run: between the words lie many statements.
    time.sleep(0.05)
    total = sum(chosen.after(i) for i in range(CALLS))
    worker = threading.Thread(target=lambda: [chosen.inside(i) for i in range(CALLS)])
    worker.start()
    worker.join()
    sleeper.join()
    print("total", total)


main()
