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
    module = os.path.dirname(os.path.dirname(find(stage, "__main__.py")))
    done = artefacts.run([PYTHON, "-m", "battprof", "--version"], dict(env, PYTHONPATH=module))
    equal("-m battprof", done.stdout, artefacts.run([command, "--version"], env).stdout)


# What is typed, and what a shell makes of it.
TYPED = (("battprof rep", "battprof report"), ("battprof report --by thr", "battprof report --by thread"),
         ("battprof export -f ppr", "battprof export -f pprof"))
BASH = """. "$1"
COMP_WORDS=($2) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _battprof
[ ${#COMPREPLY[@]} = 1 ] && echo "${COMP_WORDS[*]::COMP_CWORD} $COMPREPLY" """
FISH = """set fish_complete_path (dirname $argv[1])
set words (string split ' ' -- $argv[2]); set found (complete -C $argv[2] | string split -f 1 \\t)
test (count $found) = 1; and echo $words[1..-2] $found"""
# Its completion works in a terminal alone. The line is taken from the editor, not from the screen.
ZSH = r"""zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "fpath=(${1:h} \$fpath); autoload -Uz compinit; compinit -u -D
tell() { print -r -- \"<\$BUFFER>\"; exit; }; zle -N tell; bindkey ^I complete-word; bindkey ^T tell
print REA''DY"
zpty -r shell said "*READY*"
zpty -w -n shell "$2"$'\t\x14'
while zpty -r shell said; do all+=$said; done
print -r -- ${${all##*<}%%>*}"""


@case
def completion():
    env, stage = artefacts.environment(), install(os.environ["BP_TEST_BUILD"], new_dir())
    command = os.path.realpath(os.path.join(os.path.dirname(find(stage, "battprof.h")), "../bin"))
    env["PATH"] = command + ":" + env["PATH"]
    share = find(stage, "battprof.fish").split("/fish/")[0]
    missing = []
    for words, file in ((["bash", "-c", BASH, "bash"], "bash-completion/completions/battprof"),
                        (["fish", "--no-config", "-c", FISH], "fish/vendor_completions.d/battprof.fish"),
                        (["zsh", "-f", "-c", ZSH, "zsh"], "zsh/site-functions/_battprof")):
        if not shutil.which(words[0]):
            missing.append(words[0])
            continue
        for typed, wanted in TYPED:
            done = artefacts.run([*words, os.path.join(share, file), typed], env)
            equal("%s, %s (%s)" % (words[0], typed, done.stderr), done.stdout.strip(), wanted)
    if missing:
        raise Skip("not installed: " + ", ".join(missing))


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
