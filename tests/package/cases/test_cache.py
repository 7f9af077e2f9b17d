# SPDX-License-Identifier: MIT
"""Where the one file unpacks its library, and what it does where it cannot: it says nothing, keeps it in
memory, and leaves nothing behind."""
import glob
import re
import stat

from harness import *
from harness import artefacts

TRUE = "/bin/true"


def everything(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, folders, files in os.walk(folder) for name in folders + files)


def profiled(command, env, words=(TRUE,), prepare="", status=0, said=""):
    """Runs it; it must record, and say nothing."""
    place = new_dir()
    argv = [command, "run", "-q", "--", *words]
    if prepare:
        argv = artefacts.with_mounts(prepare, *argv)
    done = artefacts.run(argv, env, place)
    equal("status", done.returncode, status)
    check(re.fullmatch(said, done.stderr), "said %r" % done.stderr)
    check(len(glob.glob(place + "/battprof.out/*.bp")) >= 2, "no profile: %s" % everything(place))
    return place


def where(command, env, prepare=""):
    """What doctor says of the library."""
    argv = [command, "doctor"]
    if prepare:
        argv = artefacts.with_mounts(prepare, *argv)
    done = artefacts.run(argv, env)
    text = " ".join(done.stdout.split())
    return re.search(r"library (.*) (?:ok|--|!!) preloading", text).group(1)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def holders(command):
    """Processes that hold a library of this command."""
    return [path for path in glob.glob("/proc/[0-9]*") if read(path + "/comm") == "battprof-holder\n"
            and read(path + "/cmdline").startswith(command + "\0")]


def wait_until(condition, what):
    deadline = time.monotonic() + HANGS_S
    while not condition():
        check(time.monotonic() < deadline, "%s: not within %d s" % (what, HANGS_S))
        time.sleep(0.1)


@case
def unpacked_once():
    command, env = artefacts.command(), artefacts.environment()
    profiled(command, env)
    files = everything(env["HOME"])
    check(len(files) == 4 and files[-1].endswith("/libbattprof.so"), "%s" % files)
    for name in files[1:-1]:
        mode = stat.S_IMODE(os.stat(os.path.join(env["HOME"], name)).st_mode)
        check(mode == 0o700, "%s: %o" % (name, mode))
    before = os.stat(os.path.join(env["HOME"], files[-1]))
    profiled(command, env)
    equal("inode", os.stat(os.path.join(env["HOME"], files[-1])).st_ino, before.st_ino)
    check("unpacked from this command" in where(command, env), where(command, env))
    env["XDG_CACHE_HOME"] = os.path.join(new_dir(), "made")
    profiled(command, env)
    check(os.path.isdir(env["XDG_CACHE_HOME"] + "/battprof"), everything(env["XDG_CACHE_HOME"]))


@case
def damaged():
    """A file of another size is written again."""
    command, env = artefacts.command(), artefacts.environment()
    path = artefacts.run([command, "--library"], env).stdout.strip()
    size = os.path.getsize(path)
    os.truncate(path, 100)
    profiled(command, env)
    equal("size", os.path.getsize(path), size)


@case
def many_at_once():
    command, env = artefacts.command(), artefacts.environment()
    running = [subprocess.Popen([command, "run", "-q", "-o", new_dir() + "/out", "--", TRUE], env=env,
                                stderr=subprocess.PIPE, cwd=new_dir()) for _ in range(8)]
    for process in running:
        equal("words", process.communicate(timeout=HANGS_S)[1], b"")
        equal("status", process.returncode, 0)
    files = [name for name in everything(env["HOME"]) if "." in os.path.basename(name)[1:]]
    check(len(files) == 1, "%s" % files)


def planted(plant, word):
    """`plant` makes something of the directory `battprof` in a cache; it must not be used."""
    command, env = artefacts.command(), artefacts.environment()
    cache, other = os.path.join(env["HOME"], ".cache"), new_dir()
    os.makedirs(cache)
    plant(os.path.join(cache, "battprof"), other)
    before = everything(env["HOME"])
    profiled(command, env)
    equal("what is in the home", everything(env["HOME"]), before)
    equal("what is elsewhere", everything(other), [])
    check("in memory" in where(command, env) and word in where(command, env), where(command, env))
    done = artefacts.run([command, "--library"], env)
    equal("status of --library", (done.returncode, done.stdout), (1, ""))
    check(len(done.stderr.splitlines()) == 1 and word in done.stderr, done.stderr)
    done = artefacts.run([command, "run", "--device", "sim:t4", "--", TRUE], env)
    check(done.returncode == 125 and len(done.stderr.splitlines()) == 1, done.stderr)


@case
def planted_link():
    planted(lambda path, other: os.symlink(other, path), "no directory of yours")


@case
def open_to_others():
    def plant(path, _):
        os.mkdir(path)
        os.chmod(path, 0o777)
    planted(plant, "does not belong to you alone")


@case
def of_another_user():
    if os.geteuid():
        raise Skip("needs root, to make a directory of another user")

    def plant(path, _):
        os.mkdir(path, 0o700)
        os.chown(path, 65534, 65534)
    planted(plant, "does not belong to you alone")


@case
def planted_links_inside():
    """In place of the build's directory, and of the file."""
    command, env, other = artefacts.command(), artefacts.environment(), new_dir()
    library = artefacts.run([command, "--library"], env).stdout.strip()
    target = os.path.join(other, "victim")
    with open(target, "w", encoding="ascii") as file:
        file.write("precious")
    os.unlink(library)
    os.symlink(target, library)
    profiled(command, env)
    equal("victim", read(target), "precious")
    check(not os.path.islink(library), "the link is still there")
    shutil.rmtree(os.path.dirname(library))
    os.symlink(other, os.path.dirname(library))
    profiled(command, env)
    equal("what is elsewhere", everything(other), ["victim"])


def mounted(options, word):
    """The home is a file system of its own."""
    command, env = artefacts.command(), artefacts.environment()
    prepare = "mount -t tmpfs -o %s none '%s'" % (options, env["HOME"])
    place = new_dir()
    look = prepare + "\n\"$@\"\nfind '%s' -mindepth 1 >'%s/left'\nexit" % (env["HOME"], place)
    found = where(command, env, prepare)
    check("in memory" in found and word in found, found)
    profiled(command, env, prepare=prepare)
    artefacts.run(artefacts.with_mounts(look, command, "run", "-q", "--", TRUE), env)
    equal("left behind", read(place + "/left").splitlines(),
          [os.path.join(env["HOME"], ".cache")] if "ro" not in options.split(",") else [])


@case
def read_only_home():
    mounted("ro", "Read-only file system")


@case
def full_disk():
    mounted("size=64k", "No space left")


@case
def noexec():
    mounted("noexec", "noexec")


@case
def file_size_limit():
    """ulimit -f: the kernel would kill whoever writes more."""
    command, env = artefacts.command(), artefacts.environment()
    done = artefacts.run(["sh", "-c", "ulimit -f 100; exec \"$@\"", "sh", command, "--library"], env)
    check(done.returncode == 1 and "File too large" in done.stderr, "%r" % done)
    equal("left behind", everything(env["HOME"]), [".cache"])


@case
def blanks():
    """A loader would split the path."""
    command = artefacts.command()
    env = artefacts.environment(XDG_CACHE_HOME=os.path.join(new_dir(), "my cache: here"))
    profiled(command, env)


@case
def nobodys_library():
    """Anybody may put a library beside a command in /tmp."""
    if os.geteuid():
        raise Skip("needs root, to make a file of another user")
    command, env = artefacts.command(), artefacts.environment()
    beside = os.path.join(os.path.dirname(command), "libbattprof.so")
    shutil.copy(artefacts.run([command, "--library"], env).stdout.strip(), beside)
    equal("our own", artefacts.run([command, "--library"], env).stdout.strip(), beside)
    os.chown(beside, 65534, 65534)
    check(".cache" in artefacts.run([command, "--library"], env).stdout, "another user's")
    shutil.copy(LIB, beside)
    os.chown(beside, 0, 0)
    check(".cache" in artefacts.run([command, "--library"], env).stdout, "another build's")


@case
def survivors():
    """A program that outlives the command, and starts another one later; the library is in memory."""
    command = artefacts.command()
    env = artefacts.environment(XDG_CACHE_HOME="/proc/nowhere")
    script = "(while [ ! -e go ]; do sleep 0.1; done; /bin/echo late) >out 2>err & exit 3"
    place = profiled(command, env, ("/bin/sh", "-c", script), status=3,
                     # Nothing, if the command ended before the child was there to be counted.
                     said="(battprof: (1 process|2 processes) of the run ha(s|ve) not ended; .*\n)?")
    equal("holders", len(holders(command)), 1)
    count = len(glob.glob(place + "/battprof.out/*.bp"))
    open(place + "/go", "w", encoding="ascii").close()
    wait_until(lambda: not holders(command), "the holder's end")
    equal("output and errors", (read(place + "/out"), read(place + "/err")), ("late\n", ""))
    check(len(glob.glob(place + "/battprof.out/*.bp")) > count, "what came late was not profiled")
    done = artefacts.run([command, "report", "--json", "--", place + "/battprof.out"], env)
    check("echo" in done.stdout, done.stdout[:500] + done.stderr)


@case
def killed():
    """The holder goes when the command is killed, too."""
    command = artefacts.command()
    env = artefacts.environment(XDG_CACHE_HOME="/proc/nowhere")
    process = subprocess.Popen([command, "run", "-q", "--", "/bin/sleep", "1000"], env=env, cwd=new_dir())
    children = "/proc/%d/task/%d/children" % (process.pid, process.pid)

    def sleeper():
        return [pid for pid in read(children).split() if read("/proc/%s/comm" % pid) == "sleep\n"]

    wait_until(sleeper, "the program's start")
    target = int(sleeper()[0])
    process.kill()
    process.wait()
    equal("holders", len(holders(command)), 1)
    os.kill(target, signal.SIGKILL)
    wait_until(lambda: not holders(command), "the holder's end")


main()
