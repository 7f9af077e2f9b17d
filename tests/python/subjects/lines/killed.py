# SPDX-License-Identifier: MIT
"""Is killed within lines that have not ended."""
import os
import signal
import time


def outer():
    inner()


def inner():
    # three rounds
    for turn in range(3):
        if turn == 2:
            time.sleep(0.2) or os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    outer()
