# SPDX-License-Identifier: MIT
"""What tools/package makes, in a folder of the build: made by the first test that asks, kept up to date
by the others. Tests of it use nothing else of the build tree but subjects."""
import fcntl
import glob
import os
import shutil
import subprocess

from harness import HANGS_S, Failure, Skip, check, new_dir

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.environ.get("BP_TEST_PACKAGE", "")
MAKE_S = 900
made = set()


def environment(home=None, **extra):
    """Nothing of meson's or ours; a home of its own."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("BATTPROF", "LD_", "PYTHON", "MESON", "MALLOC_", "PIP_", "XDG_"))}
    env.update(HOME=home or new_dir(), LC_ALL="C.UTF-8", PIP_DISABLE_PIP_VERSION_CHECK="1",
               PIP_ROOT_USER_ACTION="ignore", PYTHONDONTWRITEBYTECODE="1")
    env.update(extra)
    return env


def package(what, dist, build):
    """Runs tools/package. What this machine lacks is a Skip with the reason."""
    env = dict(os.environ, DIST=dist, RELEASE_BUILD=build)
    env = {k: v for k, v in env.items() if not k.startswith(("BATTPROF", "MESON", "MALLOC_"))}
    done = subprocess.run([os.path.join(ROOT, "tools", "package"), what], env=env, timeout=MAKE_S,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode:
        for line in done.stdout.splitlines():
            if "not found" in line or "MISSING" in line or "no debhelper" in line:
                raise Skip("tools/package %s: %s" % (what, line.strip()))
        raise Failure("tools/package %s: status %d\n%s" % (what, done.returncode, done.stdout[-3000:]))


def make(what):
    """The folder of the artefacts, with this one in it."""
    dist = os.path.join(FOLDER, "dist")
    if what in made:
        return dist
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        package(what, dist, os.path.join(FOLDER, "release"))
    made.add(what)
    return dist


def command():
    """The one file, copied to where nothing else is."""
    path = os.path.join(new_dir(), "battprof")
    shutil.copy(os.path.join(make("wheel"), "battprof"), path)
    return path


def wheel():
    return glob.glob(os.path.join(make("wheel"), "*.whl"))[0]


def run(argv, env, cwd=None, **options):
    options.setdefault("timeout", HANGS_S)
    return subprocess.run(argv, env=env, cwd=cwd or new_dir(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, universal_newlines=True,
                          errors="replace", **options)


def new_venv(python, *options):
    """Without a pip of its own, which would take seconds: the Python's own one installs into it."""
    place = os.path.join(new_dir(), "venv")
    done = run([python, "-m", "venv", "--without-pip", *options, place],
                         environment())
    if done.returncode:
        raise Skip("%s -m venv: %s" % (python, done.stderr.strip().splitlines()[-1:]))
    return place


def pip(python, env, *words):
    done = run([python, "-m", "pip", *words], env)
    if "No module named pip" in done.stderr:
        raise Skip("%s has no pip" % python)
    check(done.returncode == 0, "pip %s: %s" % (" ".join(words), done.stdout + done.stderr))


def with_mounts(script, *argv):
    """The words that run argv after the shell's commands in `script`, which may mount; argv is "$@"
    there. A Skip where that is forbidden."""
    unshare = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    try:
        probe = subprocess.run(unshare + ["mount", "-t", "tmpfs", "none", "/tmp"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        raise Skip("no mounts of its own: %s" % error)
    if probe.returncode:
        raise Skip("no mounts of its own: %s" % probe.stdout.decode().strip())
    return unshare + ["sh", "-c", "set -e\n%s\nexec \"$@\"" % script, "sh", *argv]
