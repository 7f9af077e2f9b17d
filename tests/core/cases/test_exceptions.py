# SPDX-License-Identifier: MIT
"""C++ exceptions through hooked calls: counts and aborted calls exact."""
from harness import *

modes("e2e_exceptions", ["plain", "nested", "chain", "inside", "rethrow", "callback",
                         "through_c", "guarded", "middle", "in_threads", "pointer", "forced"])


@case
def uncaught():
    counted([subject("e2e_exceptions"), "uncaught"], expect=-signal.SIGABRT, still_open=True)


@case
def through_noexcept():
    counted([subject("e2e_exceptions"), "noexcept"], expect=-signal.SIGABRT, still_open=True)


main()
