# SPDX-License-Identifier: MIT
"""A notebook's kernel: prints its process, and after a line of input what a cell shows."""
import os
import sys

from harness import notebook

FIRST = "import os, sys; sys.path.insert(0, %r); import chosen; print(os.getpid())"
SECOND = "print(sum(chosen.after(i) for i in range(500)))"

manager, client = notebook.start(".", dict(os.environ))
print(notebook.execute(client, FIRST % os.path.dirname(os.path.abspath(__file__)))[0].strip(),
      flush=True)
sys.stdin.readline()
print(*notebook.execute(client, SECOND))
client.stop_channels()
manager.shutdown_kernel()
