# SPDX-License-Identifier: MIT
"""libbattprof.so opened by a program that is already running, with threads, as in a notebook."""
from harness import *


@case
def opened_by_a_program():
    bare = execute([subject("e2e_late_start")], False)
    equal("bare", bare.status, 0)
    run = execute([subject("e2e_late_start"), LIB], False, env={"BATTPROF_DIR": None})
    # BATTPROF_DIR is not set: the profile goes to the working directory.
    same(bare, run)
    run.profile = run.dir
    report = run.report()
    equal("files", len(run.files()), 1)
    equal("work_add", calls(report, "work_add"), 4 * 1000 + 100 + 50)
    equal("work_sub, before", calls(report, "work_sub"), 0)


@case
def opened_by_python():
    run = new_dir()
    script = """
import ctypes, threading
lib = ctypes.CDLL(%r)
ready, go = threading.Event(), threading.Event()
def old():
    lib.work_sub(1, 1)
    ready.set()
    go.wait()
    for i in range(100): lib.work_add(i, 1)
t = threading.Thread(target=old); t.start(); ready.wait()
%s
lib2 = ctypes.CDLL(%r)
go.set(); t.join()
for i in range(50): lib2.late_both(i)
print(lib.work_tail(1, 2), lib2.late_both(1))
"""
    library, late = subject("libdslwork.so"), subject("libdsllate.so")
    bare = execute([PYTHON, "-c", script % (library, "", late)], False)
    equal("bare", bare.status, 0)
    run = execute([PYTHON, "-c", script % (library, "ctypes.CDLL(%r)" % LIB, late)], False)
    same(bare, run)
    run.profile = run.dir
    report = run.report()
    equal("late_both", calls(report, "late_both"), 51)
    # A ctypes function that was looked up before keeps its address; work_add and work_tail are new.
    equal("work_add", calls(report, "work_add"), 100 + 51 + 1)
    equal("work_tail", calls(report, "work_tail"), 1)


main()
