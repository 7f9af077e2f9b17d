# SPDX-License-Identifier: MIT
"""Functions whose lines take 50 us and more, so that what counting them costs is next to nothing. No
line runs many frames: line_profiler slows those down. All are the same: of many short measurements the
least is the one that nothing disturbed. With a word they are run by line_profiler, from that directory
if it is not ".", and {"function": {"line": seconds a hit}} is printed; lines count from the def."""
import gc
import json
import sys

COPIES = 20
NUMBERS = [(i * 7919) % 4001 for i in range(4000)]
BIG = 10 ** 120 + 9
GRID = tuple(tuple((i * j) % 10 for j in range(30)) for i in range(30))
TEXT = """
def work%d():
    for _ in range(3):
        a = sorted(NUMBERS)
        b = json.dumps(GRID)
        c = sum(map(hash, b * 2))
        d = pow(3, BIG, BIG + 2)
        e = helper(GRID) + helper(GRID[::-1])
        f = max(map(str, NUMBERS))
        a = len(a) + c + d + e + len(f)
"""


def helper(grid):
    return sum(map(sum, grid * 9))


def make():
    """One below the other, as in a file: lines of two functions are not the same. Nor is their code,
    which line_profiler 4.0 cannot bear."""
    text = "".join(TEXT % number + "        a = -a\n" * number for number in range(COPIES))
    exec(compile(text, __file__, "exec"), globals())
    return [globals()["work%d" % number] for number in range(COPIES)]


def count_by_line_profiler(place, functions):
    if place != ".":
        sys.path.insert(0, place)
    from line_profiler import LineProfiler
    profiler = LineProfiler(*functions)
    profiler.enable()
    for function in functions:
        function()
    profiler.disable()
    stats = profiler.get_stats()
    return {name: {line - first: time * stats.unit / hits for line, hits, time in timings}
            for (_, first, name), timings in stats.timings.items()}


if __name__ == "__main__":
    gc.disable()  # where it happens is chance
    if len(sys.argv) > 1:
        print(json.dumps(count_by_line_profiler(sys.argv[1], make())))
    else:
        for each in make():
            each()
