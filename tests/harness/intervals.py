# SPDX-License-Identifier: MIT
"""Arithmetic on sets of intervals, and the formulae of docs/internals/cuda.md written a second time with it:
what the attribution in C must come to. A union is a sorted list of [start, end] that do not touch."""
import bisect


def union(intervals):
    merged = []
    for start, end in sorted(i for i in intervals if i[1] > i[0]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def common(a, b):
    """Of two unions."""
    found, starts = [], [start for start, _ in b]
    for start, end in a:
        i = max(bisect.bisect_right(starts, start) - 1, 0)
        while i < len(b) and b[i][0] < end:
            low, high = max(start, b[i][0]), min(end, b[i][1])
            if low < high:
                found.append([low, high])
            i += 1
    return found


def split(calls, copies, kernels):
    """(calls, transfer, wait, other, hidden) in seconds, of intervals in nanoseconds; calls by
    thread."""
    x, k = union(copies), union(kernels)
    total = transfer = wait = 0
    for intervals in calls.values():
        a = union(intervals)
        ax = common(a, x)
        total += length(a)
        transfer += length(ax)
        wait += length(common(a, k)) - length(common(ax, k))
    hidden = length(x) - length(common(union(sum(calls.values(), [])), x))
    return [value / 1e9 for value in (total, transfer, wait, total - transfer - wait, hidden)]
