# SPDX-License-Identifier: MIT
"""The Debian packages: built by dpkg-buildpackage, unpacked, run from there, without errors of
lintian."""
import glob

from harness import *
from harness import artefacts


def packages():
    need("dpkg-buildpackage")
    return sorted(glob.glob(os.path.join(artefacts.make("deb"), "*.deb")))


def unpacked():
    place = new_dir()
    for package in packages():
        subprocess.run(["dpkg-deb", "-x", package, place], check=True)
    return place


@case
def works():
    env, root, place = artefacts.environment(), unpacked(), new_dir()
    command = root + "/usr/bin/battprof"
    library = artefacts.run([command, "--library"], env).stdout.strip()
    equal("library", library, root + "/usr/lib/x86_64-linux-gnu/battprof/libbattprof.so")
    done = artefacts.run([command, "run", "--device", "sim:l4", "--", os.environ["RUN_BATT"], "-c", "2",
                          "--gpu=naive"], env, place)
    check(done.returncode == 0 and "simulated device L4" in done.stderr, done.stderr)
    done = artefacts.run([PYTHON, "-c", "import battprof; print(battprof.command())"],
                         dict(env, PYTHONPATH=root + "/usr/lib/python3/dist-packages"))
    equal("command", done.stdout.strip(), command)


@case
def library_is_what_it_is():
    """The flags of a distribution change nothing that the target would notice."""
    root, lint = unpacked(), os.path.join(artefacts.ROOT, "tests", "lint")
    library = root + "/usr/lib/x86_64-linux-gnu/battprof/libbattprof.so"
    for words in (["exports.py", library, lint + "/exports.txt"], ["needed.py", artefacts.ROOT, library],
                  ["calls.py", artefacts.ROOT, lint + "/forbidden.txt", library]):
        done = artefacts.run([sys.executable, "-B", os.path.join(lint, words[0]), *words[1:]],
                             artefacts.environment())
        check(done.returncode == 0, done.stdout + done.stderr)


@case
def by_lintian():
    done = artefacts.run([need("lintian"), "--fail-on", "error", *packages()], artefacts.environment())
    check(done.returncode == 0, done.stdout + done.stderr)


main()
