# SPDX-License-Identifier: MIT
"""A process that records next to nothing leaves next to nothing, however it ends."""
from harness import *

EXITED, KILLED = 48 << 10, 96 << 10  # bytes of its file


def sizes(run):
    found = []
    for name in run.files():
        status = os.stat(os.path.join(run.profile, name))
        found.append(max(status.st_size, 512 * status.st_blocks))
    return found


@case
def programs():
    run = execute(["/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done"], True)
    found = sizes(run)
    check(len(found) >= 9, "%d files" % len(found))
    check(max(sorted(found)[:-1]) <= EXITED, "sizes %r" % found)


@case
def forked():
    run = execute([PYTHON, "-c", "import os\nfor i in range(8):\n    if os.fork() == 0:\n"
                   "        os._exit(0)\n    os.wait()"], True)
    found = sizes(run)
    equal("files", len(found), 9)
    check(max(sorted(found)[:-1]) <= 2 * EXITED, "sizes %r" % found)


@case
def killed():
    run = execute(["/bin/sh", "-c", "kill -9 $$"], True)
    equal("status", run.status, -9)
    check(max(sizes(run)) <= KILLED, "sizes %r" % sizes(run))
    equal("processes", process_count(run.report()), 1)


main()
