# SPDX-License-Identifier: MIT
"""The wheel, installed without a network by every Python that is here, in all the usual ways."""
import base64
import hashlib
import json
import re
import zipfile

from harness import *
from harness import artefacts, pythons

SCRIPT = "import json\nfor i in range(7): json.dumps(i)\nprint('done')"
REBUILD = os.environ.get("BP_TEST_REBUILD")  # 1: compare two whole builds, which takes a minute


def everything(folder):
    return sorted(os.path.join(path, name) for path, folders, files in os.walk(folder)
                  for name in folders + files if "__pycache__" not in path + name)


def check_run(command, python, env):
    """A run from there; the library's path, as doctor tells it."""
    place = new_dir()
    done = artefacts.run([command, "run", "--count", "json:dumps", "--", python, "-c", SCRIPT], env, place)
    equal("status and output", (done.returncode, done.stdout), (0, "done\n"))
    data = json.loads(artefacts.run([command, "report", "--json", place + "/battprof.out"], env).stdout)
    equal("calls", [f["calls"] for f in data["functions"] if f["name"] == "json.dumps"], [7])
    text = " ".join(artefacts.run([command, "doctor"], env).stdout.split())
    return re.search(r"library (.*?)(?:,.*)? (?:ok|--|!!) preloading", text).group(1)


@case
def contents():
    with zipfile.ZipFile(artefacts.wheel()) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        record = next(name for name in entries if name.endswith("RECORD"))
        lines = [line.split(",") for line in archive.read(record).decode().splitlines()]
        equal("names in RECORD", sorted(line[0] for line in lines), sorted(entries))
        for name, digest, size in lines:
            if name == record:
                continue
            data = archive.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            equal("digest of " + name, (digest, int(size)), ("sha256=" + found, len(data)))
        for name, entry in entries.items():
            wanted = 0o100755 if "scripts/" in name else 0o100644
            equal("mode of " + name, oct(entry.external_attr >> 16), oct(wanted))
        script = next(name for name in entries if "scripts/battprof" in name)
        equal("the command and the one file", hashlib.sha256(archive.read(script)).digest(), hashlib.sha256(
            open(os.path.join(artefacts.make("wheel"), "battprof"), "rb").read()).digest())


@case
def asks_for_what_the_tag_says():
    """The library, which alone is dynamic; lint's script knows the functions of the newest version."""
    glibc = re.search(r"manylinux_2_(\d+)_x86_64", artefacts.wheel()).group(1)
    with zipfile.ZipFile(artefacts.wheel()) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/libbattprof.so"))
        library = archive.extract(name, new_dir())
    lint = os.path.join(artefacts.ROOT, "tests", "lint", "needed.py")
    done = artefacts.run([sys.executable, "-B", lint, artefacts.ROOT, library], artefacts.environment())
    check(done.returncode == 0, done.stdout + done.stderr)
    with open(os.path.join(artefacts.ROOT, "tools/command/doctor/glibc.c"), encoding="utf-8") as file:
        equal("newest", re.search(r"#define NEEDED_GLIBC (\d+)", file.read()).group(1), glibc)


@case
def the_tag_is_earned():
    done = artefacts.run([sys.executable, "-m", "auditwheel", "show", artefacts.wheel()],
                         artefacts.environment())
    if "No module named" in done.stderr or "patchelf" in done.stderr:
        raise Skip("auditwheel is not installed; pip install auditwheel")
    text = " ".join(done.stdout.split())
    check(done.returncode == 0, done.stderr)
    check('following platform tag: "manylinux_2_17_x86_64"' in text, text)


def same_files(one, other):
    for name in ("battprof", os.path.basename(artefacts.wheel())):
        digests = [hashlib.sha256(open(os.path.join(folder, name), "rb").read()).hexdigest()
                   for folder in (one, other)]
        equal(name, digests[1], digests[0])


@case
def the_same_bytes_again():
    """The archive from the same build; all of it from another one, if that is asked for."""
    first, again = artefacts.make("wheel"), new_dir()
    artefacts.package("wheel", again, os.path.join(artefacts.FOLDER, "release"))
    same_files(first, again)
    if REBUILD:
        artefacts.package("wheel", again, os.path.join(again, "build"))
        same_files(first, again)


def into_venv(python):
    wheel, venv = artefacts.wheel(), artefacts.new_venv(python)
    env = artefacts.environment()
    before = everything(venv)
    there = os.path.join(venv, "bin", "python")
    artefacts.pip(python, env, "--python", there, "install", "-q", "--no-index", wheel)
    command = os.path.join(venv, "bin", "battprof")
    equal("library", check_run(command, there, env), os.path.realpath(venv) + "/lib/battprof/libbattprof.so")
    version = artefacts.run([command, "--version"], env).stdout
    equal("-m battprof", artefacts.run([there, "-m", "battprof", "--version"], env).stdout, version)
    found = artefacts.run([there, "-c", "import battprof; print(battprof.command(), battprof.library())"],
                          env).stdout.split()
    equal("command and library", found, [command, os.path.realpath(venv) + "/lib/battprof/libbattprof.so"])
    artefacts.pip(python, env, "--python", there, "uninstall", "-q", "-y", "battprof")
    equal("left in the environment", everything(venv), before)
    check(not os.path.exists(env["HOME"] + "/.cache/battprof"), "the cache was used")


@case
def every_python():
    tried = []
    for version, python in pythons.find().items():
        into_venv(python)
        tried.append("%d.%d" % version)
    print("   installed, run and removed with Python %s" % ", ".join(tried))


@case
def other_layouts():
    """--user and --target; the latter leaves out PREFIX/lib, so the library comes out of the command."""
    wheel, python = artefacts.wheel(), pythons.find().popitem()[1]
    env = artefacts.environment()
    env["PIP_BREAK_SYSTEM_PACKAGES"] = "1"  # into a home of its own
    artefacts.pip(python, env, "install", "-q", "--no-index", "--user", wheel)
    local = env["HOME"] + "/.local"
    equal("library", check_run(local + "/bin/battprof", python, env), local + "/lib/battprof/libbattprof.so")
    target = os.path.join(new_dir(), "target")
    artefacts.pip(python, env, "install", "-q", "--no-index", "--target", target, wheel)
    path = check_run(target + "/bin/battprof", python, env)
    check(path.startswith(env["HOME"] + "/.cache/battprof/"), path)
    env["PYTHONPATH"] = target
    done = artefacts.run([python, "-c", "import battprof; print(battprof.command())"], env)
    equal("command", done.stdout.strip(), target + "/bin/battprof")


@case
def by_pipx():
    env = artefacts.environment()
    env.update(PIPX_HOME=env["HOME"] + "/pipx", PIPX_BIN_DIR=env["HOME"] + "/bin")
    done = artefacts.run([need("pipx"), "install", "--pip-args=--no-index", artefacts.wheel()], env)
    if done.returncode:  # an old pipx fetches a pip of its own
        raise Skip("pipx: %s" % done.stderr.strip().splitlines()[-1:])
    path = check_run(env["HOME"] + "/bin/battprof", PYTHON, env)
    check(path.startswith(env["HOME"] + "/pipx/venvs/battprof/"), path)


main()
