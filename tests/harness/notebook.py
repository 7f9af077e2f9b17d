# SPDX-License-Identifier: MIT
"""A real Jupyter kernel, and what its cells show. Debian: python3-ipykernel, python3-jupyter-client."""
import os
import subprocess
import sys

KERNEL = "/usr/bin/python3"
MISSING = "no Jupyter; Debian: python3-ipykernel, python3-jupyter-client"


def is_there(env):
    return os.path.exists(KERNEL) and not subprocess.run(
        [KERNEL, "-c", "import ipykernel, jupyter_client"], stderr=subprocess.DEVNULL,
        env=env).returncode


def go_there(env):
    """Runs the test again under the Python that has Jupyter; skips it where there is none."""
    if sys.executable == KERNEL:
        return
    if not is_there(env):
        print("skipped: " + MISSING)
        sys.exit(77)
    os.execv(KERNEL, [KERNEL] + sys.argv)


def start(directory, env, python=None):
    """A kernel of this Python, or of another one."""
    import jupyter_client
    manager = jupyter_client.KernelManager(kernel_name="python3")
    if python:
        manager.kernel_spec.argv[0] = python
    manager.start_kernel(cwd=directory, env=dict(
        env, PYDEVD_DISABLE_FILE_VALIDATION="1", IPYTHONDIR=os.path.join(directory, "ipython")))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return manager, client


def execute(client, cell):
    """What the cell shows, all of it as text, and whether it failed."""
    shown, failed = [], []

    def hook(message):
        content = message["content"]
        if message["msg_type"] == "stream":
            shown.append(content["text"])
        elif message["msg_type"] in ("execute_result", "display_data", "update_display_data"):
            shown.extend(content["data"].values())
        elif message["msg_type"] == "error":
            failed.append("\n".join(content["traceback"]))

    client.execute_interactive(cell, timeout=120, output_hook=hook, stop_on_error=False)
    return "\n".join(shown), "\n".join(failed)
