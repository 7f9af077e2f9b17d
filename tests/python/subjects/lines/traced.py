# SPDX-License-Identifier: MIT
"""Traces itself for a while, and looks whether somebody else does."""
import sys

SEEN = []


def work(tracer):
    first = sys.gettrace()
    sys.settrace(tracer)
    sys._getframe().f_trace = tracer
    second = sys.gettrace()
    sys.settrace(None)
    third = sys.gettrace()
    return first, second is not None, third


def trace(frame, event, _):
    SEEN.append((frame.f_code.co_name, event, frame.f_lineno))
    return trace


if __name__ == "__main__":
    for _ in range(3):
        print(work(None), work(trace))
    sys.settrace(trace)
    print(work(trace)[1:])
    sys.settrace(None)
    print(SEEN)
