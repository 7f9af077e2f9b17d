# SPDX-License-Identifier: MIT
"""A part of what this process does, and its own report: battprof.record(), %%battprof --here.

A part is a task of the thread that runs it, announced to the library as include/battprof.h has it:
its calls are counted exactly and its self times sum to its length. What other threads do meanwhile is
in the report of the whole process.
"""
import contextlib
import ctypes
import html
import itertools

_numbers = {}  # by name: how many parts had it


def _time(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return "%.3g %s" % (seconds / size, unit) if seconds < 1000 * size else \
                "%d %s" % (seconds / size, unit)
    return "%.0f ns" % (seconds * 1e9)


class Part:
    """What a part did: as text, and as data (`.json`, a task of `report --json`)."""

    MOST = 12  # functions in the text

    def __init__(self, name, report):
        self.name = name
        self._report = report
        self._json = None
        self.failed = False  # to be set by who knows, before the part is over

    @property
    def json(self):
        """None while it runs, or if battprof could not keep it: too many tasks were recorded."""
        if self._json is None:
            self._json = self._report().task(self.name)
        return self._json

    def _rows(self, task):
        yield "%s%s: %s" % (self.name, " (failed)" if task["failed"] else "", ", ".join(
            ["%s" % _time(task["duration_s"])] +
            ["%s %s" % (name, _time(task[key]) if task[key] else "0") for name, key in
             (("DSL", "dsl_s"), ("framework", "framework_s"), ("transfer", "transfer_s"))] +
            ["%s %s" % (name, _time(task[key])) for name, key in
             (("waiting", "waiting_s"), ("file I/O", "io_s")) if task[key]]))
        if not task["detailed"]:
            yield "its functions are unknown: battprof kept it without details"
            return
        yield "       calls        self       total  function"
        for row in task["functions"][:self.MOST]:
            yield "%12s%12s%12s  %s" % (format(row["calls"], ","), _time(row["self_s"]),
                                        _time(row["total_s"]), row["name"])
        more = len(task["functions"]) - self.MOST
        if more > 0:
            yield "and %d more: .json" % more

    def __repr__(self):
        task = self.json
        if task is None:
            return "%s: not recorded, or not over" % self.name
        return "\n".join(self._rows(task))

    def _repr_html_(self):
        return "<pre>%s</pre>" % html.escape(repr(self))


def _unique(name):
    """The name, with a number if a part before had it; as long as the library keeps texts."""
    text = name.encode("utf-8")[:52].decode("utf-8", "ignore") or "part"
    number = next(_numbers.setdefault(text, itertools.count(1)))
    return text if number == 1 else "%s (%d)" % (text, number)


@contextlib.contextmanager
def record(name, path, report):
    """A part of the calling thread, told to the library at `path`."""
    library = ctypes.CDLL(path)
    part = Part(_unique(name), report)
    library.libbattprof_task_begin(part.name.encode("utf-8"))
    try:
        yield part
    except BaseException:
        part.failed = True
        raise
    finally:
        library.libbattprof_task_end(int(part.failed))
