# SPDX-License-Identifier: MIT
"""Each rule of advice on a small program that has the problem, and on the same without it; and the
warnings about the measurement itself."""
import json
import os
import re
import subprocess

from harness import (CMD, PYTHON, case, check, check_time, equal, main, need_quiet, new_dir, subject,
                     timed)


def record(script, *options, modules=None, command=None):
    """The advice of a Python script, or of a command."""
    directory = new_dir()
    files = dict(modules or {}, **{"script.py": script})
    for name, text in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)
    command = command or [PYTHON, "script.py"]
    subprocess.run([CMD, "run", "-q", *options, "--", *command], cwd=directory,
                   capture_output=True, check=False, timeout=60)
    text = subprocess.run([CMD, "report", "--json"], cwd=directory, capture_output=True,
                          check=False).stdout
    report = json.loads(text)
    report["text"] = subprocess.run([CMD, "report"], cwd=directory, capture_output=True, text=True,
                                    check=False).stdout
    return report


def find(report, words, level=None):
    """The one line with these words; None without."""
    rows = [row for row in report["advice"] if words in row["what"]]
    check(len(rows) < 2, "several: %r" % rows)
    check(not rows or level is None or rows[0]["level"] == level, "level: %r" % rows)
    return rows[0] if rows else None


def need(report, words, level=None):
    """What is advised is what takes a part of the run: of a run that was disturbed it may be too
    small."""
    row = find(report, words, level)
    need_quiet(row, "no %r in %r" % (words, [row["what"] for row in report["advice"]]))
    return row


@timed
def imports():
    slow = {"slow.py": "import time\nend = time.perf_counter() + 0.2\n"
                       "while time.perf_counter() < end: pass\n"}
    row = need(record("import slow\n", modules=slow), "importing modules, in 1 process")
    check_time(0.15 < row["saves_s"] < 2, "saves %r" % row) # of the CPU that imports had, by samples
    check(row["function"], "no function: %r" % row)
    check(row["what"].endswith("most of it for slow"), row["what"])


@timed
def no_imports():
    """What the interpreter imports before it runs the program cannot be imported elsewhere."""
    report = record("s = 0\nfor k in range(10000000): s += k * k % 7\n")
    imported, = (row for row in report["groups"] if row["name"] == "module import")
    check_time(imported["wall_s"] > 0.001 * report["wall_s"], "its start: %r" % imported)
    check_time(not find(report, "importing modules"), "%r" % report["advice"])
    check("--count 'script" not in report["text"] and "--python script" not in report["text"],
          "a module's own code is no function: neither measures it: %s" % report["text"])


@timed
def a_process_for_each_task():
    many = record("", command=["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"])
    row = find(many, "11 processes were started")
    check(row, "%r" % many["advice"])
    check(0 < row["saves_s"] < many["wall_s"], "saves %r of %r" % (row, many["wall_s"]))
    few = record("", command=["sh", "-c", "/bin/true; /bin/true; /bin/true"])
    check(not find(few, "processes were started"), "three are no habit")


ONE_EACH = """
import subprocess, sys
code = "import json, argparse\\ndef batt(k):\\n    return sum(range(100000))\\nbatt(%d)"
for k in range(10):
    subprocess.run([sys.executable, "-c", code % k])
"""
ALL_IN_ONE = """
import json, argparse
def batt(k):
    return sum(range(100000))
for k in range(10):
    batt(k)
"""


@timed
def a_python_for_each_task():
    """Exec, loader, interpreter, imports and exit of nine of ten are saved: the rest of the run."""
    many, one = (record(script, "--task", "batt(1)") for script in (ONE_EACH, ALL_IN_ONE))
    row = need(many, "11 processes were started, about one for each task")
    measured = many["wall_s"] - many["overhead_wall_s"] - one["wall_s"] + one["overhead_wall_s"]
    check_time(0.7 < row["saves_s"] / measured < 1.2, "saves %r, measured %.3f" % (row, measured))
    first = next(row for row in many["advice"] if row["level"] != "warning")
    check_time(first == row, "%r" % many["advice"])


SPIN = """
import threading
def spin():
    for _ in range(%d):
        pass
threads = [threading.Thread(target=spin) for _ in range(%d)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@timed
def the_gil():
    many = record(SPIN % (6000000, 3))
    row = need(many, "waiting for Python's GIL")
    check_time(re.search("of [34] threads together", row["what"]), row["what"]) # main starts them
    check_time(0.24 < row["saves_s"] / many["framework"]["gil_s"] < 0.34,
               "those who wait share it: %r" % row)
    check(0 < row["saves_s"] < many["wall_s"], "saves %r of %r" % (row, many["wall_s"]))
    check(not find(record(SPIN % (1000000, 0)), "waiting for Python's GIL"), "there is one thread")


LOCKS = """
import ctypes, threading, time
libc = ctypes.CDLL(None)
mutex = ctypes.create_string_buffer(64)
def work():
    for _ in range(10):
        libc.pthread_mutex_lock(mutex)
        time.sleep(0.01)
        libc.pthread_mutex_unlock(mutex)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
POOL = """
import time
from multiprocessing import Pool
with Pool(2) as pool:
    pool.map(time.sleep, [0.1] * 6)
"""


@timed
def locks():
    locked = record(LOCKS)
    row = need(locked, "waiting for locks")
    check(re.search(r"pthread_mutex_lock \(.*\), \d+ waits ", locked["text"]), locked["text"])
    # A lock is not fair: the thread that has it first may take it ten times and wait never.
    check_time(re.search("of [23] threads together", row["what"]) and row["saves_s"] > 0.07,
               "%r" % row)
    check(row["function"] == "pthread_mutex_lock", "%r" % row)
    one = LOCKS.replace("range(3)", "range(0)")
    check(not find(record(one), "waiting for locks"), "there is one thread")
    waits = record(POOL)
    check(waits["framework"]["waiting_s"] > 0.5, "a pool did not wait: %r" % waits["framework"])
    check(not find(waits, "waiting for locks"),
          "a pool's parent and its idle workers wait for work: %r" % waits["advice"])


@timed
def tiny_functions():
    """tiny() takes some 20 ns, its call from Python ten times that; walk() some microseconds."""
    use = "import ctypes\nf = ctypes.CDLL(%r).%s\nfor k in range(%d):\n    f(k)\n"
    library = subject("libdsltwice.so")
    row = need(record(use % (library, "tiny", 50000)), "tiny function")
    check(row["what"] == "tiny, a tiny function, is called from Python" and
          "50,000 calls" in row["why"], "%r" % row)
    # A saving is bounded by what the callers took: on a fast processor that is less.
    check(row["saves_s"] <= 50000 * 0.3e-6 + 1e-9, "%r" % row)
    check_time(row["saves_s"] >= 50000 * 0.1e-6, "%r" % row)
    for script in use % (library, "tiny", 5000), use % (library, "walk", 12000):
        check_time(not find(record(script), "tiny function"), "%r is none" % script)


DSL = """
def merge(n):
    s = 0
    for k in range(n):
        s += k * k
    return s
def tiny(n):
    return merge(n)
"""


@timed
def the_largest_function():
    report = record("import dsl\nfor _ in range(3): dsl.tiny(1000000)\n", modules={"dsl.py": DSL})
    row = need(report, "dsl.merge takes")
    merge, = (f for f in report["functions"] if f["name"].endswith("merge"))
    check("in 3 calls" in row["what"], "%r" % row)
    check("GPU" not in row["why"], "no GPU was used, and none is worth a word: %r" % row)
    check(abs(2 * row["saves_s"] - merge["wall_s"]) < 1e-6, "Amdahl: %r of %r" % (row, merge))
    own = need(record("def inner():\n    s = 0\n    for k in range(3000000): s += k * k\ninner()\n"),
               "inner takes")
    check("--tree" in own["why"], "%r" % own)


COLLECT = """
import gc
kept = [[k] for k in range(200000)]
for _ in range(%d):
    gc.collect()
"""


@timed
def garbage_collection():
    row = need(record(COLLECT % 30), "garbage collection takes")
    check("gc.collect()" in row["why"], "%r" % row)
    few = record("s = 0\nfor k in range(3000000): s += k * k % 7\n")
    check_time(not find(few, "garbage collection takes"), "%r" % few["advice"])


TASKS = """
import time
def run_one(task_id, s):
    end = time.perf_counter() + s
    while time.perf_counter() < end:
        pass
for k in range(%d):
    run_one("task%%d" %% k, 0.002 if k else %g)
"""


@timed
def the_first_task():
    row = need(record(TASKS % (8, 0.1)), "the first task took", "warning")
    check("warm-up" in row["why"], row["why"])
    check_time(not find(record(TASKS % (8, 0.002)), "the first task took"), "all are alike")


@case
def few_tasks():
    check(find(record(TASKS % (3, 0.002)), "only 3 tasks", "warning"), "three are too few")
    check(not find(record(TASKS % (8, 0.002)), "only 8"), "eight are enough")


@timed
def few_samples():
    spin = "import time\nend = time.process_time() + %g\nwhile time.process_time() < end:\n    pass\n"
    rare = record(spin % 0.2, "--rate", "20")
    row = need(rare, "sample", "warning")
    check("--rate" in row["why"], "%r" % row)
    check_time(not find(record(spin % 0.5), "sample"), "a hundred are enough")


@case
def nothing_recorded():
    report = record("", command=["env", "-u", "LD_PRELOAD", "-u", "BATTPROF_DIR", "/bin/true"])
    check(any("was intercepted; name yours with --dsl; these were loaded" in note
              for note in report["notes"]), report["notes"])


@case
def bad_ends():
    failed = record("raise SystemExit(7)\n")
    check(find(failed, "the program ended with status 7", "warning"), "%r" % failed["advice"])
    killed = record("import os\nos.kill(os.getpid(), 9)\n")
    check(find(killed, "the program was killed by signal 9", "warning"), "%r" % killed["advice"])
    check(not find(record(""), "the program "), "a good end is no news")


main()
