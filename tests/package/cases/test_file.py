# SPDX-License-Identifier: MIT
"""The one file: it has all that it needs inside, wherever it is copied."""
import glob
import json
import re

from harness import *
from harness import artefacts

LARGEST_FILE, LARGEST_WHEEL = 4_000_000, 2_500_000
TESTS = os.path.join(artefacts.ROOT, "tests")
# What asks the command from outside, and needs no library beside it.
BORROWED = ("import/cases/test_nsys.py", "import/cases/test_kineto.py", "import/cases/test_traces.py",
            "command/cases/test_merge.py", "command/cases/test_usage.py")


def report(command, env, directory, *options):
    done = artefacts.run([command, "report", *options, directory], env)
    check(done.returncode == 0, "report: %s" % done.stderr)
    return done.stdout


@case
def needs_nothing():
    command = artefacts.command()
    size = os.path.getsize(command)
    check(size <= LARGEST_FILE, "%d bytes" % size)
    size = os.path.getsize(artefacts.wheel())
    check(size <= LARGEST_WHEEL, "%d bytes of the wheel" % size)
    read = subprocess.run(["readelf", "-ld", command], stdout=subprocess.PIPE, universal_newlines=True)
    check("INTERP" not in read.stdout and "(NEEDED)" not in read.stdout, read.stdout)


@case
def parts_left_out_are_not_ours():
    """A function of that name in our own code would do nothing."""
    artefacts.make("wheel")
    parts = open(os.path.join(artefacts.ROOT, "tools/static/parts.def"), encoding="utf-8").read()
    names = set(re.findall(r"^PART\((\w+)\)", parts, re.M))
    check(len(names) > 10, "parts: %s" % names)
    library = os.path.join(artefacts.FOLDER, "release/tools/libtools.a")
    read = subprocess.run(["nm", library], stdout=subprocess.PIPE, universal_newlines=True)
    used = set(re.findall(r" [UT] (\w+)$", read.stdout, re.M))
    check("main" not in used and len(used) > 100, "nm: %d names" % len(used))
    equal("parts that our code uses", names & used, set())


@case
def says_who_it_is():
    env, command = artefacts.environment(), artefacts.command()
    version = artefacts.run([command, "--version"], env).stdout
    project = open(os.path.join(artefacts.ROOT, "meson.build"), encoding="utf-8").read()
    project = re.search(r"^  version: '(.*)'", project, re.M).group(1)
    found = re.match(r"battprof (\S+) \(build ([0-9a-f]{16})\)\n$", version)
    check(found and found.group(1) == project, "version %r, in meson.build %s" % (version, project))
    library = artefacts.run([command, "--library"], env).stdout
    equal("library", library, "%s/.cache/battprof/%s/libbattprof.so\n" % (env["HOME"], found.group(2)))
    texts = artefacts.run([command, "--licenses"], env).stdout
    for word in ("GNU LESSER GENERAL PUBLIC LICENSE", "meson setup build -Dstatic=true", "elfutils",
                 "Petri Lehtinen"):
        check(word in texts, "no %r in the licences" % word)


@case
def answers_as_the_other_one():
    """Tests of the other command, run with this one."""
    command = artefacts.command()
    for name in BORROWED:
        env = artefacts.environment(BATTPROF_CMD=command, BATTPROF_LIB=LIB, PYTHONPATH=TESTS,
                                    BP_TEST_TRACES=os.environ.get("BP_TEST_TRACES", ""))
        done = artefacts.run([sys.executable, os.path.join(TESTS, name)], env)
        check(done.returncode in (0, 77), "%s: %s" % (name, done.stdout[-500:] + done.stderr[-2000:]))
    for golden in sorted(glob.glob(os.path.join(TESTS, "golden", "*", "input.json")))[::5]:
        done = artefacts.run([sys.executable, os.path.join(TESTS, "golden", "run.py"), command,
                              os.path.dirname(golden)], artefacts.environment())
        check(done.returncode == 0, done.stdout[-2000:] + done.stderr)


@case
def names_and_lines():
    env, command, place = artefacts.environment(), artefacts.command(), new_dir()
    done = artefacts.run([command, "run", "-q", "--rate", "1000", "--", subject("names")], env, place)
    equal("status and words", (done.returncode, done.stderr), (0, ""))
    stacks = report(command, env, place + "/battprof.out", "--folded")
    check("spin<unsigned long>" in stacks, "stacks: %s" % stacks)
    lines = report(command, env, place + "/battprof.out", "--lines")
    check("names.cc:" in lines, "lines: %s" % lines)


@case
def device():
    env, command, place = artefacts.environment(), artefacts.command(), new_dir()
    done = artefacts.run([command, "run", "--device", "sim:t4", "--", os.environ["RUN_BATT"], "-c", "2",
                          "--gpu=naive"], env, place)
    check(done.returncode == 0 and "simulated device T4" in done.stderr, done.stderr)
    found = report(command, env, place + "/battprof.out", "--json")
    check(json.loads(found)["transfers"]["h2d"]["count"] > 0, found[:2000])


def copy_with_libraries(program, root):
    """A program and what its loader lists, at the same places below root."""
    listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, universal_newlines=True)
    paths = re.findall(r"(/\S+) \(0x", listed.stdout)
    check(len(paths) > 1, "ldd: %s" % listed.stdout)
    for path in paths + [program]:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)


@case
def empty_root():
    """Only /proc, the command and a program with its libraries: no shell, no /tmp, no /etc."""
    root, program = new_dir(), os.environ["RUN_BATT"]
    os.makedirs(root + "/proc")
    copy_with_libraries(program, root)
    for library in glob.glob(os.path.dirname(program) + "/*.so"):
        copy_with_libraries(library, root)
    shutil.copy(artefacts.command(), root + "/battprof")
    before = os.listdir(root)

    def inside(*words):
        return artefacts.run(artefacts.with_mounts("mount --bind /proc '%s/proc'" % root,
                                                   "chroot", root, "/battprof", *words), {})

    done = inside("run", "-o", "/one", "--", program, "-c", "3", "--log=/log")
    check(done.returncode == 0 and "DSL functions" in done.stderr, done.stderr)
    check("battprof:" not in done.stderr, done.stderr)
    done = inside("run", "-q", "-o", "/two", "--", program, "-c", "3")
    equal("status and words", (done.returncode, done.stderr), (0, ""))
    for words in (("report", "/one"), ("report", "--lines", "/one"), ("diff", "/one", "/two")):
        done = inside(*words)
        check(done.returncode == 0 and done.stdout and not done.stderr, "%s: %r" % (words, done))
    check("objects" in inside("report", "/one").stdout, "no function of the DSL")
    done = inside("doctor")
    check("in memory, from this command" in " ".join(done.stdout.split()), done.stdout)
    check(re.search(r"ok  glibc +2\.\d+ \(2\.17 or newer needed\)", done.stdout), done.stdout)
    equal("what is left in the root", sorted(set(os.listdir(root)) - {*before, "one", "two", "log"}), [])


@case
def another_libc():
    """A musl program runs, unprofiled, and is told why."""
    place = new_dir()
    source = os.path.join(place, "hello.c")
    with open(source, "w", encoding="ascii") as file:
        file.write('#include <stdio.h>\nint main(void) { puts("hello"); return 5; }\n')
    program = os.path.join(place, "hello")
    subprocess.run([need("musl-gcc"), source, "-o", program], check=True)
    done = artefacts.run([artefacts.command(), "run", "--", program], artefacts.environment())
    equal("status and output", (done.returncode, done.stdout), (5, "hello\n"))
    check("does not use the GNU C library" in done.stderr, done.stderr)
    done = artefacts.run([artefacts.command(), "doctor", "--", program], artefacts.environment())
    check("does not use the GNU C library" in " ".join(done.stdout.split()), done.stdout)


main()
