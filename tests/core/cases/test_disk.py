# SPDX-License-Identifier: MIT
"""No place for the profile: one sentence, and the target runs to its end."""
from harness import *

PROGRAM = "e2e_safety"


def one_sentence(run, mentions="battprof"):
    lines = run.stderr.decode().splitlines()
    equal("lines on stderr (%r)" % lines, len(lines), 1)
    check(mentions in lines[0], "the sentence: %r" % lines[0])


def nowhere(name, make):
    def go():
        place = make()
        run = pair([subject(PROGRAM), "limits"], env={"BATTPROF_DIR": place,
                   "BATTPROF_QUIET": None}, stderr=False, expect=0)
        one_sentence(run)
    go.__name__ = name
    case(go)


def a_file():
    path = new_dir() + "/file"
    with open(path, "w"):
        return path


# /proc refuses even root; a path below a file too.
nowhere("not_writable", lambda: "/proc/1")
nowhere("below_a_file", lambda: a_file() + "/x")
nowhere("name_too_long", lambda: "/tmp/" + "x" * 3000)
nowhere("without_a_parent", lambda: new_dir() + "/not/there")


@case
def made_when_missing():
    place = new_dir() + "/made"
    pair([subject(PROGRAM), "limits"], env={"BATTPROF_DIR": place}, expect=0)
    check(os.path.isdir(place) and os.listdir(place), "no profile in %s" % place)


@case
def not_ours_to_write():
    if os.geteuid():
        raise Skip("needs root, to become somebody else")
    place = new_dir()
    os.chmod(place, 0o755)
    check_readable_by_all()
    run = pair([subject(PROGRAM), "limits"], env={"BATTPROF_DIR": place, "BATTPROF_QUIET": None},
               preexec_fn=as_nobody(), stderr=False, expect=0)
    one_sentence(run)
    equal("files", os.listdir(place), [])


def check_readable_by_all():
    path = BIN
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            raise Skip("%s is closed to others" % path)
        path = os.path.dirname(path)


SMALL = """
set -e
mount -t tmpfs -o size={size},mode=777 none {place}
{fill}
cd {directory}
set +e
LD_PRELOAD={lib} BATTPROF_DIR={place} {program} {mode}
status=$?
{cmd} report --json {place} >report.json 2>report.err
echo $? >report.status
umount {place}
exit $status
"""


def full(name, size, fill="", mode="grow"):
    def go():
        if os.geteuid() or subprocess.run(["unshare", "-m", "true"],
                                          stderr=subprocess.DEVNULL).returncode:
            raise Skip("needs root and mount, for a small tmpfs")
        place = new_dir()
        directory = new_dir()
        script = SMALL.format(size=size, place=place, fill=fill.format(place=place), lib=LIB,
                              directory=directory, program=subject(PROGRAM), mode=mode, cmd=CMD)
        state["commands"].append("unshare -m sh -c " + shlex.quote(script))
        bare = execute([subject(PROGRAM), mode], False)
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=base_env(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        check(done.returncode == bare.status, "exit: bare %s, profiled %s; stderr %r"
              % (describe(bare.status), describe(done.returncode), done.stderr[-300:]))
        equal("stdout", done.stdout, bare.stdout)
        lines = done.stderr.decode().splitlines()
        check(len(lines) <= 1, "more than one line on stderr: %r" % lines)
        with open(directory + "/report.status") as f:
            status = int(f.read())
        check(status in (0, 1), "the report ended with %d" % status)
    go.__name__ = name
    case(go)


full("full_at_once", "4k", "cat /dev/zero >{place}/fill 2>/dev/null || true")
full("full_at_8K", "8k")
full("full_at_64K", "64k")
full("full_at_256K", "256k")
full("full_at_1M", "1m")
full("full_with_children", "256k", mode="no_directory")


main()
