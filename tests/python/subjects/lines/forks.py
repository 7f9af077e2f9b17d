# SPDX-License-Identifier: MIT
"""Forks within a line that is counted."""
import os


def work():
    pid = None
    # five rounds
    for turn in range(5):
        if turn == 3:
            assert turn
            pid = os.fork()
    return pid


if __name__ == "__main__":
    child = work()
    if child:
        os.waitpid(child, 0)
    else:
        os._exit(0)
