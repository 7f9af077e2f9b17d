# SPDX-License-Identifier: MIT
"""battprof in a notebook.

    %load_ext battprof
    %%battprof [options of `battprof run`] [-- arguments]      the cell's code in a child, then the report

    import battprof
    battprof.load()        profile this kernel from here on; modules imported before are found
    battprof.report()      what it did since then

The cell runs in a process of its own: it sees none of the notebook's variables and leaves none.
Needs the command `battprof` beside this file's tree, in PATH, or in BATTPROF_CMD; no package of others.
"""
import atexit
import ctypes
import html
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
# Where the command is, seen from this file: installed (share/battprof/notebook), or in a build's
# folder that was copied with it.
_PLACES = ("../../../bin/battprof", "../battprof", "battprof")
_LIBRARIES = ("../interpose", ".", "../lib", "../lib/x86_64-linux-gnu", "../lib64")
_loaded = None  # the directory of this process's profile


def command():
    """The path of the command battprof."""
    wish = os.environ.get("BATTPROF_CMD")
    if wish:
        return wish
    for place in _PLACES:
        path = os.path.normpath(os.path.join(_here, place))
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    path = shutil.which("battprof")
    if path:
        return path
    raise FileNotFoundError("no command battprof: put its directory into PATH, or set BATTPROF_CMD")


def library():
    """The path of libbattprof.so."""
    wish = os.environ.get("BATTPROF_LIB")
    if wish:
        return wish
    base = os.path.dirname(os.path.realpath(command()))
    for place in _LIBRARIES:
        path = os.path.normpath(os.path.join(base, place, "libbattprof.so"))
        if os.path.exists(path):
            return path
    raise FileNotFoundError("no libbattprof.so near %s: set BATTPROF_LIB" % base)


def _command_environment():
    """What the command itself runs with: it is not part of what is measured."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("BATTPROF_")}
    env["BATTPROF"] = "off"
    env.pop("LD_PRELOAD", None)
    return env


class Report:
    """A profile's report: as text, in a notebook as a block, and as data (`.json`)."""

    def __init__(self, directory):
        self.directory = directory

    def _ask(self, *options):
        done = subprocess.run([command(), "report", *options, self.directory], check=False,
                              env=_command_environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True)
        return done.stdout or done.stderr

    def _text(self):
        """With a next command that a shell finds."""
        text = self._ask()
        if shutil.which("battprof"):
            return text
        return text.replace("\nnext: battprof ", "\nnext: %s " % shlex.quote(command()))

    @property
    def json(self):
        return json.loads(self._ask("--json"))

    def __repr__(self):
        return self._text()

    def _repr_html_(self):
        return "<pre>%s</pre>" % html.escape(self._text())


def load(directory=None):
    """Profile this process from here on, and the processes that it starts. Python modules that are
    loaded already are found at the next statement."""
    global _loaded
    if _loaded:
        return
    path = os.path.abspath(directory or tempfile.mkdtemp(prefix="battprof-"))
    os.makedirs(path, exist_ok=True)
    os.environ["BATTPROF_DIR"] = path
    os.environ.setdefault("BATTPROF_QUIET", "1")
    ctypes.CDLL(library())
    _loaded = path


def report(directory=None):
    """The report of a profile; of this process, if it was loaded."""
    where = directory or _loaded
    if not where:
        raise RuntimeError("nothing to report: battprof.load() first, or give a directory")
    return Report(where)


def run(text, options=(), arguments=()):
    """Run Python code in a child under `battprof run`; its output appears here. The report."""
    place = tempfile.mkdtemp(prefix="battprof-cell-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)  # until then its report can be shown
    script = os.path.join(place, "cell.py")
    output = os.path.join(place, "battprof.out")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text)
    words = [command(), "run", "-q", "-o", output, *options, "--", sys.executable, script,
             *arguments]
    env = dict(os.environ, PYTHONUNBUFFERED="1")
    env["PYTHONPATH"] = os.pathsep.join(
        [os.getcwd()] + [p for p in [os.environ.get("PYTHONPATH")] if p])
    child = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, universal_newlines=True, errors="replace")
    with child.stdout:
        for line in child.stdout:
            sys.stdout.write(line)
    status = child.wait()
    if status:
        print("exit status %d" % status, file=sys.stderr)
    return Report(output) if os.path.isdir(output) else None


def _magic(line, cell):
    words = shlex.split(line)
    split = words.index("--") if "--" in words else len(words)
    return run(cell, words[:split], words[split + 1:])


def load_ipython_extension(shell):
    shell.register_magic_function(_magic, "cell", "battprof")
