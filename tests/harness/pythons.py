# SPDX-License-Identifier: MIT
"""The Pythons of this machine, and how a program is run under them bare and profiled."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

LIB = os.path.abspath(os.environ.get("BATTPROF_LIB", "libbattprof.so"))
CMD = os.path.abspath(os.environ.get("BATTPROF_CMD", "battprof"))
HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST, NEWEST = (3, 8), (3, 13)


def version(python):
    done = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:3])"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


def environment(**extra):
    """Nothing of meson's, ours or the caller's Python settings."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("BATTPROF", "LD_", "PYTHON", "MESON", "MALLOC_", "PYENV"))}
    env.update(LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0")
    env.update(extra)
    return env


def find():
    """{(3, 11): path}, the system's own first; says which."""
    found = {}
    places = ["/usr/bin/python3"] + sorted(glob.glob("/usr/bin/python3.[0-9]*"))
    places += sorted(glob.glob("/root/.pyenv/versions/3.*/bin/python3"))
    for place in places:
        if re.search(r"python3(\.\d+)?$", place) and os.path.exists(place):
            has = version(place)
            if has and OLDEST <= has[:2] <= NEWEST:
                found.setdefault(has[:2], place)
    print("Pythons:", ", ".join("%d.%d (%s)" % (*v, p) for v, p in sorted(found.items())) or "none")
    if not found:
        print("no Python from 3.8 to 3.13")
        sys.exit(77)
    return dict(sorted(found.items()))


def bare(python, arguments, cwd, timeout=120):
    return subprocess.run([python] + arguments, cwd=cwd, env=environment(), timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def profiled(python, arguments, cwd, options=(), timeout=120):
    """The finished process and the directory of its profile."""
    output = tempfile.mkdtemp(prefix="battprof-python-")
    os.rmdir(output)
    command = [CMD, "run", "-q", "-o", output] + list(options) + ["--", python] + arguments
    done = subprocess.run(command, cwd=cwd, env=environment(), timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done, output


def normal(text):
    """Process ids in warnings differ; battprof may say that a forkserver outlives its parent."""
    text = re.sub(rb"battprof: \d+ process(es)? of the run ha[^\n]*\n", b"", text)
    return re.sub(rb"pid=\d+", b"pid=", text)


def report(output):
    done = subprocess.run([CMD, "report", "--json", output], stdout=subprocess.PIPE, check=True,
                          env=environment(), timeout=60)
    return json.loads(done.stdout)


class Check:
    """Collects what is wrong; a test says all of it."""

    def __init__(self):
        self.problems, self.checked = [], 0

    def that(self, condition, message):
        self.checked += 1
        if not condition:
            self.problems.append(message)

    def finish(self):
        for problem in self.problems:
            print("FAILED", problem)
        print(self.checked, "checks,", len(self.problems), "failed")
        sys.exit(1 if self.problems or not self.checked else 0)


def check_all(check_version):
    """A whole test: check_version(check, "3.11", its path) for every Python that is here."""
    check = Check()
    for version, python in find().items():
        check_version(check, "%d.%d" % version, python)
    check.finish()
