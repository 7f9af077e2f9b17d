# SPDX-License-Identifier: MIT
"""Calls what work.py has. Alone it does that and no more; `itself` and `line_profiler` count the lines
and print {"function": {"line": hits}}, `version` prints line_profiler's; it may be in the directory
that follows."""
import asyncio
import collections
import json
import sys
import threading

import work


def everything(in_threads=True):
    work.helper(5)
    work.branches(7)
    work.calls(4)
    work.nested(6)
    work.failing(3)
    try:
        work.raising(3)
    except KeyError:
        pass
    work.factorial(20)
    generator = work.numbers(4)
    next(generator)
    generator.send(10)
    list(generator)
    work.numbers(2).close()
    stopped = work.numbers(9)
    next(stopped)
    stopped.close()
    list(work.delegating(3))
    with work.managed():
        pass
    asyncio.run(work.both())
    box = work.Box(3)
    assert box.double + box.one() == 7
    if not in_threads:  # line_profiler sees one thread at a time
        work.branches(20)
        work.branches(30)
        return
    threads = [threading.Thread(target=work.branches, args=(number,)) for number in (20, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def count_by_trace(hits, _):
    def local(frame, event, _):
        if event == "line":
            hits[frame.f_code, frame.f_lineno] += 1
        return local

    def trace(frame, *_):
        return local if frame.f_code.co_filename == work.__file__ else None
    threading.settrace(trace)
    sys.settrace(trace)
    everything()
    sys.settrace(None)
    threading.settrace(None)


def count_by_events(hits, codes):
    """Since 3.12: a loop within one line is one event, as tools see it there."""
    monitoring = sys.monitoring

    def line(code, number):
        hits[code, number] += 1
    monitoring.use_tool_id(1, "test")
    monitoring.register_callback(1, monitoring.events.LINE, line)
    # 3.13 has one more line in a generator expression whose start is an event.
    monitoring.register_callback(1, monitoring.events.PY_START, lambda *_: None)
    for code in codes:
        monitoring.set_local_events(1, code, monitoring.events.LINE | monitoring.events.PY_START)
    everything()


def name_codes(code, name, names):
    names[code] = name
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            name_codes(constant, name + ".<locals>." + constant.co_name, names)


def count_itself():
    """Of each code object, nested ones too."""
    hits, names, result = collections.Counter(), {}, {}
    for function in work.FUNCTIONS:
        name_codes(function.__code__, function.__qualname__, names)
    (count_by_events if sys.version_info >= (3, 12) else count_by_trace)(hits, names)
    for (code, line), count in hits.items():
        if code in names:
            result.setdefault(names[code], {})[line] = count
    return result


def count_by_line_profiler():
    from line_profiler import LineProfiler
    profiler = LineProfiler(*work.FUNCTIONS)
    profiler.enable()
    everything(in_threads=False)
    profiler.disable()
    result = {}
    for (_, first, _), timings in profiler.get_stats().timings.items():
        for function in work.FUNCTIONS:
            if function.__code__.co_firstlineno == first:
                rows = result.setdefault(function.__qualname__, collections.Counter())
                for line, hits, _ in timings:  # older ones have several of a line
                    rows[line] += hits
    return result


if __name__ == "__main__":
    how = sys.argv[1] if len(sys.argv) > 1 else ""
    if sys.argv[2:] not in ([], ["."]):
        sys.path.append(sys.argv[2])
    if how == "itself":
        print(json.dumps(count_itself()))
    elif how == "line_profiler":
        print(json.dumps(count_by_line_profiler()))
    elif how == "version":
        print(__import__("line_profiler").__version__)
    else:
        everything()
