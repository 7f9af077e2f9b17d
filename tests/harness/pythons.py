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
AREA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python")
OLDEST, NEWEST = (3, 8), (3, 15)


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
    """{(3, 11): path}, the system's own first, or those that TEST_PYTHONS names; says which."""
    found = {}
    places = ["/usr/bin/python3"] + sorted(glob.glob("/usr/bin/python3.[0-9]*"))
    places += sorted(glob.glob("/root/.pyenv/versions/3.*/bin/python3"))
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    places += sorted(glob.glob(cache + "/battprof-pythons/usr/bin/python3.[0-9]*"))
    places = os.environ.get("TEST_PYTHONS", " ".join(places)).split()
    for place in places:
        if re.search(r"python3(\.\d+)?$", place) and os.path.exists(place):  # no python3-config
            has = version(place)
            if has and OLDEST <= has[:2] <= NEWEST:
                found.setdefault(has[:2], place)
    print("Pythons:", ", ".join("%d.%d (%s)" % (*v, p) for v, p in sorted(found.items())) or "none")
    if not found:
        print("no Python from %d.%d to %d.%d" % (OLDEST + NEWEST))
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


NOISE = 3  # the exit status if times alone are wrong, as in tests/harness/__init__.py


class Check:
    """Collects what is wrong, facts and times; a test says all of it."""

    def __init__(self):
        self.problems, self.noise, self.checked = [], [], 0

    def that(self, condition, message):
        self.checked += 1
        if not condition:
            self.problems.append(message)

    def time(self, condition, message):
        """For times, which other work on the machine may spoil."""
        self.checked += 1
        if not condition:
            self.noise.append(message)

    def add(self, other):
        self.problems += other.problems
        self.noise += other.noise
        self.checked += other.checked

    def __repr__(self):
        return "; ".join(self.problems + self.noise)

    def finish(self):
        for problem in self.problems:
            print("FAILED", problem)
        for message in self.noise:
            print("NOISE", message)
        print(self.checked, "checks,", len(self.problems), "failed,", len(self.noise), "times wrong")
        sys.exit(1 if self.problems or not self.checked else NOISE if self.noise else 0)


def tries(count, name, measure, right):
    """The first measurement that is right, or the last of so many. For times alone."""
    for n in range(1, count + 1):
        got = measure()
        if right(got) or n == count:
            return got
        print("   retry %s: %r" % (name, got), flush=True)  # for tools/check_summary.py


def check_once(check_version, *arguments):
    check = Check()
    check_version(check, *arguments)
    return check


def check_all(check_version):
    """A whole test: check_version(check, "3.11", its path) for every Python that is here, again if
    times alone were wrong."""
    sums = Check()
    for version, python in find().items():
        where = "%d.%d" % version
        sums.add(tries(3, where, lambda: check_once(check_version, where, python),
                       lambda check: check.problems or not check.noise))
    sums.finish()
