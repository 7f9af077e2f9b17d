# SPDX-License-Identifier: MIT
"""waits.py FILE: the main thread waits in a single call until word 0 of FILE is not 0, then works."""
import mmap
import sys
import threading
import time


def work(number):
    return number


def watch(words):
    while not words[0]:
        time.sleep(0.01)


def main():
    with open(sys.argv[1], "r+b") as file:
        words = mmap.mmap(file.fileno(), 4096)
    watcher = threading.Thread(target=watch, args=(words,))
    watcher.start()
    words[4] = 1
    watcher.join()
    time.sleep(0.05)  # the script runs, and the library's pending call
    print("total", sum(work(i) for i in range(100)))


main()
