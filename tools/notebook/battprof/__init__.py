# SPDX-License-Identifier: MIT
"""battprof in a notebook.

    %load_ext battprof
    %%battprof [options of `battprof run`] [-- arguments]      the cell's code in a child, then the report
    %%battprof --html                                          the report in full; --html FILE: also there
    %%battprof --here [NAME]                                   the cell in the kernel, and what it did

    import battprof
    battprof.load()        profile this kernel from here on; modules imported before are found
    battprof.report()      what it did since then
    with battprof.record("step 7") as part: ...      and then part: what it did, alone
    battprof.watch()       what it, or another run, is doing: a cell that keeps up with it

Without --here the cell runs in a process of its own: it sees none of the notebook's variables and
leaves none.
Needs the command `battprof`, which is installed with this package; no package of others. It is also
`python -m battprof`.
"""
import atexit
import ctypes
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time

from . import part as _part

_here = os.path.dirname(os.path.abspath(__file__))
# Where the command is, seen from here: PREFIX/lib/python3.11/site-packages/battprof and the like, a
# directory given to `pip install --target`, a build tree.
_PLACES = ("../../../../bin/battprof", "../bin/battprof", "../../battprof")
_loaded = None  # the directory of this process's profile


def command():
    """The path of the command battprof."""
    wish = os.environ.get("BATTPROF_CMD")
    if wish:
        return wish
    paths = [os.path.normpath(os.path.join(_here, place)) for place in _PLACES]
    paths.append(os.path.join(sysconfig.get_path("scripts"), "battprof"))
    paths.append(shutil.which("battprof") or "")
    for path in paths:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError("no command battprof: put its directory into PATH, or set BATTPROF_CMD")


def library():
    """The path of libbattprof.so."""
    wish = os.environ.get("BATTPROF_LIB")
    if wish:
        return wish
    done = subprocess.run([command(), "--library"], check=False, env=_command_environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        raise FileNotFoundError(done.stderr.strip())
    return done.stdout.rstrip("\n")


def _command_environment():
    """What the command itself runs with: it is not part of what is measured."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("BATTPROF_")}
    env["BATTPROF"] = "off"
    env["BATTPROF_CELL"] = "1"
    env.pop("LD_PRELOAD", None)
    return env


# A frame of an origin of its own: the page may run its script, and reach nothing of the notebook.
# What strips frames, as GitHub does, shows the text.
_FRAME = """<iframe sandbox="allow-scripts" title="battprof report" srcdoc="%s" \
style="width:100%%;height:760px;border:1px solid #8884;border-radius:6px"></iframe>
<details><summary>the report as text</summary><pre>%s</pre></details>"""


class Report:
    """A profile's report: as text, in a notebook as a page, and as data (`.json`). A page of a
    notebook is at most 200 kB, unless it is asked for in full."""

    def __init__(self, directory, full=False):
        self.directory = directory
        self.full = full

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

    def task(self, name):
        """The task of that id as data, with all its functions; None if there is none that ended."""
        text = self._ask("--json", "--search", name.replace("[", "?").replace("\\", "?"))
        return next((task for task in json.loads(text)["tasks"]["list"]
                     if task["id"] == name and not task["unfinished"]), None)

    def __repr__(self):
        return self._text()

    def html(self):
        """The page, as text."""
        return self._ask("--html", "-", *([] if self.full else ["--small"]))

    def _repr_mimebundle_(self, include=None, exclude=None):
        text, page = self._text(), self.html()
        frame = _FRAME % (html.escape(page), html.escape(text))
        if not page.startswith("<!doctype html>"):  # an error, or a series
            frame = "<pre>%s</pre>" % html.escape(text)
        return {"text/plain": text, "text/html": frame}


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


def _recording():
    """The library and the directory of this process's profile; (None, None) if it has none."""
    name = re.compile(r"(/.*)/battprof\.%d(\.\d+)?\.bp$" % os.getpid())
    path, where = None, None
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            mapped = line.rstrip("\n").partition("/")
            file = mapped[1] + mapped[2]
            found = name.search(file)
            where = found[1] if found else where
            if os.path.basename(file).startswith("libbattprof") and not path:
                path = file
    return (path, where) if path and where else (None, None)


def _call(name, *arguments):
    path, _ = _recording()
    if path:  # with the GIL held: Python functions are measured from the next call on
        getattr(ctypes.PyDLL(path), name)(*arguments)


def start():
    """Record from now on, where recording is paused. Nothing, if this process has no profiler."""
    _call("libbattprof_start")


def stop():
    """Pause the recording of this process."""
    _call("libbattprof_stop")


def mark(text):
    """Note this instant in the profile."""
    _call("libbattprof_mark", text.encode("utf-8", "replace"))


def record(name="part"):
    """With this process's profiler, which is loaded if need be: a part of what this thread does.

        with battprof.record("step 7") as part:
            ...
        part            # what it did: times by category, functions and their exact calls
    """
    if not _recording()[0]:
        load()
    path, where = _recording()
    if not path:
        raise RuntimeError("this process is not being recorded; battprof doctor says what is wrong")
    return _part.record(name, path, lambda: Report(where))


def report(directory=None):
    """The report of a profile; of this process, if it was loaded."""
    where = directory or _loaded
    if not where:
        raise RuntimeError("nothing to report: battprof.load() first, or give a directory")
    return Report(where)


class Watch:
    """What `battprof top` shows of a run, renewed until the run ends or stop() is called."""

    def __init__(self, target, every, by):
        self._words = [command(), "top", "-n", "1", "--every", "%gs" % every, "--by", by, target]
        self._handle, self._stopped = None, threading.Event()

    def _look(self):
        """The next block, after one interval; "" if there is no run any more."""
        done = subprocess.run(self._words, check=False, env=_command_environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True)
        self.text = done.stdout or done.stderr
        return done.returncode == 0 and "  running " in self.text.split("\n")[0]

    def _show(self, display):
        data = {"text/plain": self.text}
        if self._handle:
            self._handle.update(data, raw=True)
        else:
            self._handle = display(data, raw=True, display_id=True)

    def _follow(self, show):
        running = True
        while running and not self._stopped.is_set():
            running = self._look()
            show()

    def stop(self):
        self._stopped.set()


def watch(target=None, every=1.0, by="function"):
    """Show what a run is doing: this process, if it was loaded, a directory, or a process's number.
    In a notebook the cell ends at once and its output keeps up with the run; elsewhere blocks are
    printed until the run ends."""
    where = str(target or _loaded or "battprof.out")
    seen = Watch(where, every, by)
    display = _display()
    if not display:
        seen._follow(lambda: print(seen.text, flush=True))
        return None
    threading.Thread(target=seen._follow, args=(lambda: seen._show(display),), daemon=True).start()
    return seen


def _display():
    """IPython's display, or None outside of it."""
    try:
        from IPython import get_ipython
        from IPython.display import display
        return display if get_ipython() else None
    except ImportError:
        return None


class _Progress:
    """One line of a running cell: how many tasks have ended. Outside of IPython there is none."""

    LINE = re.compile(r"\[(\d+)\] (.+) (\d[\d.]* m?s)( failed)?\n?")

    def __init__(self):
        self.handle, self.last, self.count = None, 0, 0
        self.display = _display()

    def takes(self, line):
        """Whether it is a line of `run --progress`."""
        found = self.LINE.fullmatch(line) if self.display else None
        if not found:
            return False
        self.count += 1
        if time.monotonic() - self.last > 0.2:
            self.show("; the last: %s, %s%s" % (found[2], found[3], found[4] or ""))
        return True

    def show(self, more=""):
        if not self.count:
            return
        self.last = time.monotonic()
        data = {"text/plain": "%d task%s ended%s" % (self.count, "" if self.count == 1 else "s", more)}
        if self.handle:
            self.handle.update(data, raw=True)
        else:
            self.handle = self.display(data, raw=True, display_id=True)


def run(text, options=(), arguments=(), full=False):
    """Run Python code in a child under `battprof run`; its output appears here. The report."""
    place = tempfile.mkdtemp(prefix="battprof-cell-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)  # until then its report can be shown
    script = os.path.join(place, "cell.py")
    output = os.path.join(place, "battprof.out")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text)
    progress = _Progress()
    told = progress.display and "--progress" not in options and "none" not in options
    words = [command(), "run", "-q", "-o", output, *(["--progress"] if told else []), *options, "--",
             sys.executable, script, *arguments]
    env = dict(os.environ, PYTHONUNBUFFERED="1")
    env["PYTHONPATH"] = os.pathsep.join(
        [os.getcwd()] + [p for p in [os.environ.get("PYTHONPATH")] if p])
    child = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, universal_newlines=True, errors="replace")
    with child.stdout:
        for line in child.stdout:
            if not (told and progress.takes(line)):
                sys.stdout.write(line)
    progress.show()
    status = child.wait()
    if status:
        print("exit status %d" % status, file=sys.stderr)
    return Report(output, full) if os.path.isdir(output) else None


def _run_here(words, cell):
    """The cell in the kernel, with its variables."""
    from IPython import get_ipython
    if words[:1] != ["--here"] or len(words) > 2:
        raise ValueError("%%battprof --here [NAME] takes no options: the kernel is running already")
    shell = get_ipython()
    with record(words[1] if len(words) > 1 else "cell %d" % shell.execution_count) as part:
        done = shell.run_cell(cell)
        if not done.success:  # its traceback is shown; the part says that it failed
            part.failed = True
    return part


def _magic(line, cell):
    words = shlex.split(line)
    if "--here" in words:
        return _run_here(words, cell)
    split = words.index("--") if "--" in words else len(words)
    options = words[:split]
    place = options.index("--html") if "--html" in options else -1
    alone = place >= 0 and (place + 1 == len(options) or options[place + 1].startswith("-"))
    if alone:
        del options[place]
    return run(cell, options, words[split + 1:], full=place >= 0)


def load_ipython_extension(shell):
    shell.register_magic_function(_magic, "cell", "battprof")
