# SPDX-License-Identifier: MIT
"""greenlets that switch inside ctypes callbacks, so hooked calls are left open on saved stacks."""
from harness import *

SCRIPT = """
import ctypes, greenlet
lib = ctypes.CDLL(%r)
back = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
hub = greenlet.getcurrent()
@back
def callback(arg):
    hub.switch()
def run(n):
    for i in range(50):
        lib.work_nest(1 + n %% 3, callback, None)
        lib.work_add(i, n)
lets = [greenlet.greenlet(run) for _ in range(8)]
for n, g in enumerate(lets):
    g.switch(n)
while any(not g.dead for g in lets):
    for g in lets:
        if not g.dead:
            g.switch()
print("done", lib.work_add(1, 2))
"""


@case
def round_robin():
    done = subprocess.run([PYTHON, "-c", "import greenlet"], stderr=subprocess.DEVNULL)
    if done.returncode:
        raise Skip("%s has no greenlet (Debian: python3-greenlet)" % PYTHON)
    run, report = counted([PYTHON, "-c", SCRIPT % subject("libdslwork.so")])
    equal("work_add", calls(report, "work_add"), 401)
    equal("aborted", aborted(report, "work_nest"), 0)


main()
