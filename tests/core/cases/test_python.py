# SPDX-License-Identifier: MIT
"""ctypes: the hooked library called from Python, with callbacks, threads and children."""
from harness import *

BASIC = """
import ctypes
lib = ctypes.CDLL(%r)
total = 0
for i in range(100):
    total += lib.work_add(i, 1)
back = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
@back
def callback(arg):
    lib.work_sub(3, 1)
for i in range(10):
    lib.work_nest(3, callback, None)
print(total)
"""

THREADS = """
import ctypes, threading
lib = ctypes.CDLL(%r)
def work():
    for i in range(200): lib.work_add(i, 1)
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print("done")
"""

POOL = """
import ctypes, multiprocessing
lib = ctypes.CDLL(%r)
def work(n):
    for i in range(n): lib.work_add(i, 1)
    return n
if __name__ == "__main__":
    with multiprocessing.get_context(%r).Pool(3) as pool:
        print(sum(pool.map(work, range(10, 40))))
    # terminate() may kill a worker that is idle, never one at work
"""

SUBPROCESS = """
import subprocess, sys
for close in (True, False):
    print(subprocess.run([%r, "callee", "20", "3"], close_fds=close, env={},
                         stdout=subprocess.PIPE))
print(subprocess.run(%r + " callee 5 0", shell=True, stdout=subprocess.PIPE))
"""


def python(text, **options):
    script = os.path.join(new_dir(), "script.py")
    with open(script, "w") as f:
        f.write(text)
    return counted([PYTHON, script], **options)


@case
def ctypes_calls():
    run, report = python(BASIC % subject("libdslwork.so"))
    equal("work_add", calls(report, "work_add"), 100)
    equal("work_nest", calls(report, "work_nest"), 30)


@case
def ctypes_threads():
    python(THREADS % subject("libdslwork.so"))


def pool(kind):
    def go():
        python(POOL % (subject("libdslwork.so"), kind))
    go.__name__ = "pool_" + kind
    case(go)


for kind in ("fork", "spawn", "forkserver"):
    pool(kind)


@case
def subprocesses():
    program = subject("e2e_process")
    run, report = python(SUBPROCESS % (program, program))
    equal("work_add", calls(report, "work_add"), 45)


main()
