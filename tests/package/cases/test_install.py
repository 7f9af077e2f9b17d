# SPDX-License-Identifier: MIT
"""`meson install` into a staging folder: everything is where it belongs, and works from there."""
import re

from harness import *
from harness import artefacts

PREFIX = "/opt/battprof"
HEADER_TEST = """
#include <battprof.h>
int main(void) {
    battprof_task_begin("one");
    battprof_task_end(0);
    return 0;
}
"""


def install(build, place):
    """Into place/stage."""
    done = artefacts.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir",
                          os.path.join(place, "stage")], artefacts.environment())
    check(done.returncode == 0, done.stdout + done.stderr)
    return os.path.join(place, "stage")


def find(root, name):
    found = [os.path.join(path, name) for path, _, files in os.walk(root) if name in files]
    check(found, "no %s below %s" % (name, root))
    return found[0]


@case
def staged():
    """From the build that runs this test: whatever its prefix is."""
    env, stage = artefacts.environment(), install(os.environ["BP_TEST_BUILD"], new_dir())
    command = find(stage, "battprof") if not stage else os.path.join(
        os.path.dirname(find(stage, "battprof.h")), "..", "bin", "battprof")
    command = os.path.realpath(command)
    library = artefacts.run([command, "--library"], env).stdout.strip()
    check(library.startswith(stage) and library.endswith("/battprof/libbattprof.so"), library)
    place = new_dir()
    done = artefacts.run([command, "run", "--device", "sim:t4", "--", os.environ["RUN_BATT"], "-c", "1",
                          "--gpu=naive"], env, place)
    check(done.returncode == 0 and "simulated device" in done.stderr, done.stderr)
    pages = os.listdir(os.path.join(artefacts.ROOT, "docs", "man"))
    check(len(pages) > 5, pages)
    for name in (*pages, "_battprof", "battprof.fish"):
        check(os.path.getsize(find(stage, name)) > 100, name)
    bash = os.path.join(stage, find(stage, "battprof.fish").split("/fish/")[0],
                        "bash-completion/completions/battprof")
    words = artefacts.run(["bash", "-c", ". '%s'; COMP_WORDS=(battprof rep); COMP_CWORD=1; _battprof; "
                           "echo $COMPREPLY" % bash], env).stdout
    equal("completion", words, "report\n")
    module = os.path.dirname(os.path.dirname(find(stage, "__main__.py")))
    done = artefacts.run([PYTHON, "-m", "battprof", "--version"], dict(env, PYTHONPATH=module))
    equal("-m battprof", done.stdout, artefacts.run([command, "--version"], env).stdout)


@case
def header():
    """pkg-config finds it; the program runs alone, and its task is seen under the profiler."""
    env, stage, place = artefacts.environment(), install(os.environ["BP_TEST_BUILD"], new_dir()), new_dir()
    config = find(stage, "battprof.pc")
    flags = artefacts.run([need("pkg-config"), "--cflags", "--libs", "battprof"], dict(
        env, PKG_CONFIG_PATH=os.path.dirname(config), PKG_CONFIG_SYSROOT_DIR=stage,
        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1"))
    check(flags.returncode == 0 and stage in flags.stdout, flags.stdout + flags.stderr)
    with open(place + "/task.c", "w", encoding="ascii") as file:
        file.write(HEADER_TEST)
    subprocess.run([need("cc"), place + "/task.c", "-o", place + "/task"] + flags.stdout.split(), check=True)
    equal("alone", artefacts.run([place + "/task"], env).returncode, 0)
    command = os.path.realpath(os.path.join(os.path.dirname(find(stage, "battprof.h")), "../bin/battprof"))
    done = artefacts.run([command, "run", "--", place + "/task"], env, place)
    check(re.search(r"Tasks +1 ended", done.stderr), done.stderr)


main()
