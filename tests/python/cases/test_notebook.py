# SPDX-License-Identifier: MIT
"""The ways into a notebook, in a real Jupyter kernel: %%battprof, !battprof run, LD_PRELOAD in
os.environ, and the library opened in the kernel itself, which finds the modules loaded before."""
import os
import shutil
import subprocess
import sys
import tempfile

from harness import notebook, pythons

MODULE = os.path.join(pythons.AREA, "..", "..", "tools", "notebook")
DSL = '''
class Point:
    def __init__(self, x):
        self.x = x
    @property
    def double(self):
        return add(self.x, self.x)
def add(a, b):
    return a + b
def twice(f):
    return lambda x: f(f(x))
inner = twice(lambda x: x + 1)
'''
# cell, and what must be in what it shows; CALLS: how often the programs in cells called dsl.add. An
# exclamation mark in front runs a command on a pseudo-terminal.
CALLS = object()
CELLS = (
    ("import sys, os; sys.path.insert(0, %r)" % os.path.abspath(MODULE), None),
    ("import dsl; dsl.add(1, 2)", "3"),
    ("%load_ext battprof", None),
    ("%%battprof --count 'json:dumps' -- 5\nimport sys, json, dsl\n"
     "for i in range(int(sys.argv[1])): dsl.add(i, 1); json.dumps(i)\nprint('cell', __name__)",
     "cell __main__|dsl.add|json.dumps|DSL functions|wall "),
    ("shown = _", None),
    ("_.json['functions'] and [f['calls'] for f in _.json['functions'] if f['name'] == 'dsl.add']",
     "[5]"),
    ("sorted(shown._repr_mimebundle_()), len(shown.html()) <= 200000, shown.html()[:15]",
     "(['text/html', 'text/plain'], True, '<!doctype html>')"),
    ("%%battprof --html --task 'dsl:add(a)'\nimport dsl\nfor i in range(7): dsl.add(i, 1)",
     "7 tasks ended|srcdoc=|dsl.add"),
    ("%%battprof --html cell.html\nimport dsl\ndsl.add(1, 1)", "srcdoc=|wrote cell.html"),
    ("open('cell.html').read(15)", "<!doctype html>"),
    ("%%battprof\nraise SystemExit(3)", "exit status 3|wall "),
    ("!{os.environ['BATTPROF_CMD']} run -o bang.out -- {sys.executable} -c "
     "'import dsl; dsl.add(1, 2)' 2>&1", "dsl.add|wall "),
    ("import battprof, subprocess\nos.environ.update(LD_PRELOAD=battprof.library(), "
     "BATTPROF_DIR='inherited', BATTPROF_QUIET='1'); os.mkdir('inherited')\n"
     "subprocess.run([sys.executable, '-c', 'import dsl; dsl.add(1, 2)']).returncode", "0"),
    ("!{sys.executable} -c 'import dsl; dsl.add(1, 2); dsl.add(1, 2)'", None),
    ("%%bash\n/usr/bin/python3 -c 'import dsl; dsl.add(1, 2)'", None),
    ("del os.environ['LD_PRELOAD'], os.environ['BATTPROF_DIR']\n"
     "battprof.report('inherited')", "dsl.add"),
    ("sum(f['calls'] for f in battprof.report('inherited').json['functions'] "
     "if f['name'] == 'dsl.add')", CALLS),
    ("battprof.load('kernel.out')", None),
    ("[dsl.add(i, i) for i in range(100)]; p = dsl.Point(4); p.double, dsl.inner(1)", "(8, 3)"),
    ("subprocess.run([sys.executable, '-c', 'import dsl; dsl.add(1, 2)']).returncode", "0"),
    ("{f['name']: f['calls'] for f in battprof.report().json['functions'] "
     "if f['name'].startswith('dsl.')}", "'dsl.add': 102|'dsl.Point.double': 1|"
     "'dsl.twice.<locals>.<lambda>': 1|'dsl.Point.__init__': 1"),
    ("battprof.report()", "dsl.add|still running"),
    ("%%battprof\nimport dsl\ndsl.add(1, 2)", "dsl.add|wall "),
    ("[f['calls'] for f in _.json['functions'] if f['name'] == 'dsl.add']", "[1]"),
    ("x = 5; dsl.add(1, 1)", "2"),
    ("%%battprof --here\ny = [dsl.add(i, x) for i in range(30)]\nprint('here', __name__, len(y))",
     "here __main__ 30|: |DSL |  dsl.add"),
    ("[f['calls'] for f in _.json['functions'] if f['name'] == 'dsl.add']", "[30]"),
    ("y[29]", "34"),
    ("%%battprof --here again\ndsl.add(1, 1)", "again: |  dsl.add"),
    ("w = battprof.watch(every=0.2)", None),
    ("import time; time.sleep(3); w.stop(); w.text", "since start|own code"),
)


# Without a kernel, on every Python: what battprof.load() finds of a module that was there before.
SCRIPT = """
import sys; sys.path.insert(0, %r)
import dsl, battprof
dsl.add(1, 2)
battprof.load(sys.argv[1])
for i in range(10): dsl.add(i, i)
print(dsl.Point(4).double, dsl.inner(1))
"""
LOADED = {"dsl.add": 11, "dsl.Point.double": 1, "dsl.Point.__init__": 1,
          "dsl.twice.<locals>.<lambda>": 1}


def check_loaded(check, where, python, directory):
    output = os.path.join(directory, "loaded" + where)
    env = pythons.environment(BATTPROF_CMD=pythons.CMD, BATTPROF_LIB=pythons.LIB)
    done = subprocess.run([python, "-c", SCRIPT % os.path.abspath(MODULE), output], env=env,
                          cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check.that((done.stdout, done.stderr) == (b"8 3\n", b""), "%s: %r" % (where, done))
    calls = {f["name"]: f["calls"] for f in pythons.report(output)["functions"]}
    for name, wanted in LOADED.items():
        check.that(calls.get(name) == wanted, "%s: %s: %r" % (where, name, calls.get(name)))


# Parts: of a program that loads the profiler itself, or that runs under it.
PARTS = """
import sys; sys.path.insert(0, %r)
import json, dsl, battprof
def work(n):
    for i in range(n): dsl.add(i, i)
parts, total = [], 5
work(total)
for n in (10, 0, 300):
    with battprof.record("step") as part: work(n)
    parts.append(part)
    work(7)
try:
    with battprof.record("wrong*") as part: work(3); raise KeyError
except KeyError: parts.append(part)
for part in parts:
    task = part.json
    calls = [f["calls"] for f in task["functions"] if f["name"] == "dsl.add"]
    sums = task["dsl_s"] + task["framework_s"] + task["transfer_s"] + task["profiler_s"]
    print(part.name, calls, task["failed"], abs(sums / task["duration_s"] - 1) < 0.01,
          repr(part).split(":")[0])
"""
PARTS_SHOWN = b"""step [10] False True step
step (2) [] False True step (2)
step (3) [300] False True step (3)
wrong* [3] True True wrong* (failed)
"""


def check_parts(check, where, python, directory):
    env = pythons.environment(BATTPROF_CMD=pythons.CMD, BATTPROF_LIB=pythons.LIB)
    script = [python, "-c", PARTS % os.path.abspath(MODULE)]
    under = [pythons.CMD, "run", "-q", "-o", os.path.join(directory, "parts" + where), "--"]
    for words in (script, under + script):
        done = subprocess.run(words, env=env, cwd=directory, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        check.that((done.stdout, done.stderr) == (PARTS_SHOWN, b""), "%s: %r" % (where, done))


CELL = '''
import os, sys
sys.path.insert(0, %r)
import battprof
shown = battprof.run("print(1)")
print(os.path.dirname(shown.directory))
assert os.path.isdir(shown.directory)
print([line for line in repr(shown).splitlines() if line.startswith("next: ")][0])
'''


def check_run(check, python, directory):
    """A cell's directory lives as long as its kernel, and its next command is one that there is."""
    env = pythons.environment(BATTPROF_CMD=pythons.CMD, BATTPROF_LIB=pythons.LIB, PATH="/bin")
    done = subprocess.run([python, "-c", CELL % os.path.abspath(MODULE)], env=env, cwd=directory,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    lines = done.stdout.splitlines()
    check.that(len(lines) == 3 and lines[0] == "1", "run: %r" % done)
    check.that(len(lines) == 3 and not os.path.exists(lines[1]), "%s is left" % lines[1:2])
    check.that(len(lines) == 3 and lines[2].startswith("next: !%s report" % pythons.CMD),
               "next: %r" % lines[2:])


def without_terminals():
    """Why there are no pseudo-terminals here, if there are none."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError as error:
        return str(error)
    return ""


def check_cells(check, client, lacks_terminals):
    for cell, wanted in CELLS:
        if lacks_terminals and cell.startswith("!"):
            continue
        if wanted is CALLS:
            wanted = "2" if lacks_terminals else "4"
        shown, failed = notebook.execute(client, cell)
        check.that(not failed, "%s\n%s" % (cell, failed))
        for word in (wanted or "").split("|"):
            check.that(word in shown, "%s\nno %r in: %s" % (cell, word, shown))


def main():
    notebook.go_there(pythons.environment())
    check = pythons.Check()
    directory = tempfile.mkdtemp(prefix="battprof-notebook-")
    with open(os.path.join(directory, "dsl.py"), "w", encoding="utf-8") as file:
        file.write(DSL)
    for version, python in pythons.find().items():
        check_loaded(check, "%d.%d" % version, python, directory)
        check_parts(check, "%d.%d" % version, python, directory)
    check_run(check, sys.executable, directory)
    lacks_terminals = without_terminals()
    env = pythons.environment(BATTPROF_CMD=pythons.CMD, BATTPROF_LIB=pythons.LIB, HOME=directory)
    manager, client = notebook.start(directory, env)
    try:
        check_cells(check, client, lacks_terminals)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    shutil.rmtree(directory)
    if lacks_terminals and not check.problems:
        print("%d checks passed; skipped: cells with !, no pseudo-terminals here: %s"
              % (check.checked, lacks_terminals))
        sys.exit(77)
    check.finish()


if __name__ == "__main__":
    main()
