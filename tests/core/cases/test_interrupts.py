# SPDX-License-Identifier: MIT
"""Signals at a high rate whose handlers call hooked functions: counts exact; EINTR kept."""
from harness import *

modes("e2e_signals", ["real", "prof", "alternate", "nested", "in_threads"])


@case
def interrupted_calls():
    counted([subject("e2e_signals"), "eintr"])


main()
