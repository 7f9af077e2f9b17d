# SPDX-License-Identifier: MIT
"""calls.py FILE [seccomp]: works in functions of a module that was imported long before, until word 0
of FILE is not 0; then calls it a known number of times and prints what it did. All of that below a
seccomp filter that allows everything, if so told."""
import ctypes
import mmap
import struct
import sys
import threading
import time

import chosen

CALLS = 500


def filter_calls():
    """As still.c does."""
    libc = ctypes.CDLL(None, use_errno=True)
    allow = struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000)
    code = ctypes.create_string_buffer(allow)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        sys.exit("no filter: errno %d" % ctypes.get_errno())


def main():
    if sys.argv[2:] == ["seccomp"]:
        filter_calls()
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
