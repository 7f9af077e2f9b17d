# SPDX-License-Identifier: MIT
"""%%battprof in a real Jupyter kernel of an environment that the wheel was installed into."""
from harness import *
from harness import artefacts, notebook

CELLS = (
    ("%load_ext battprof", ""),
    ("%%battprof --count 'json:dumps'\nimport json\nfor i in range(5): json.dumps(i)\nprint('in a cell')",
     "in a cell|json.dumps|wall "),
    ("[f['calls'] for f in _.json['functions'] if f['name'] == 'json.dumps']", "[5]"),
    ("import battprof; battprof.command()", "/venv/bin/battprof"),
    ("battprof.library()", "/venv/lib/battprof/libbattprof.so"),
    ("battprof.load(); import json; json.dumps(1); battprof.report()", "wall "),
    # A command that can be typed: the kernel's own is none.
    ("import time\ndef spin(until):\n    while time.process_time() < until: pass\n"
     "spin(time.process_time() + 1)", ""),
    ("print(repr(battprof.report()))", "your code: the notebook|%%battprof --dsl __main__\n"),
)


@case
def cells():
    env = artefacts.environment()
    venv = artefacts.new_venv(notebook.KERNEL, "--system-site-packages")
    python = os.path.join(venv, "bin", "python")
    artefacts.pip(notebook.KERNEL, env, "--python", python, "install", "-q", "--no-index",
                  artefacts.wheel())
    manager, client = notebook.start(new_dir(), env, python)
    try:
        for cell, wanted in CELLS:
            shown, failed = notebook.execute(client, cell)
            check(not failed, "%s\n%s" % (cell, failed))
            for word in wanted.split("|"):
                check(word in shown, "%s\nno %r in: %s" % (cell, word, shown))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


notebook.go_there(artefacts.environment(home="/"))
main()
