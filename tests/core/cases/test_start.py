# SPDX-License-Identifier: MIT
"""What a process writes into its profile before its program runs."""
import struct

from harness import *

# profile/format.h
USED, COSTS, ADAPTIVE, COMMAND, DIRECTORY = 48, 144, 3704, 880, 1904
MOST_SPARE = 8 << 10  # bytes at the end of a file that it would take longer to cut off


def headers(run):
    found = []
    for name in sorted(run.files()):
        with open(os.path.join(run.profile, name), "rb") as file:
            found.append(file.read(4096))
    return found


def text(header, at):
    return header[at:header.index(b"\0", at)].decode()


def costs(header):
    return struct.unpack_from("<4I", header, COSTS) + struct.unpack_from("<3I", header, ADAPTIVE)


def commands(argv):
    """As the profile has it, and as the kernel has it, which the program printed."""
    run = execute(argv, True)
    printed = run.stdout if isinstance(run.stdout, bytes) else run.stdout.encode()
    kernel = printed.rstrip(b"\0\n").replace(b"\0", b" ").decode()
    return text(headers(run)[0], COMMAND), kernel


@case
def arguments():
    script = "import sys; sys.stdout.buffer.write(open('/proc/self/cmdline', 'rb').read())"
    for more in ([], ["a  b", "", "c"], ["last", "", ""], ["x" * 2000]):
        got, kernel = commands([PYTHON, "-c", script, *more])
        equal("command", got, kernel[:1023])


@case
def arguments_by_the_loader():
    """The loader hides its own arguments from the program."""
    loader = "/lib64/ld-linux-x86-64.so.2"
    got, kernel = commands([loader, "/bin/cat", "/proc/self/cmdline"])
    equal("command", got, kernel)
    check(got.startswith(loader), got)


@case
def directory():
    run = execute(["/bin/sh", "-c", "mkdir d; cd d; rmdir ../d; exec /bin/cat /dev/null"], True)
    names = [text(header, DIRECTORY) for header in headers(run)]
    check(any(name.endswith("/d (deleted)") for name in names), "directories %r" % names)
    check(any(os.path.isdir(name) for name in names), "directories %r" % names)


@case
def measured_once():
    """What a call costs is measured by the first process of a tree."""
    run = execute(["/bin/sh", "-c", "/bin/true; /bin/true; /bin/true"], True)
    found = [costs(header) for header in headers(run)]
    check(len(found) >= 4, "%d files" % len(found))
    check(found[0][0] > 0, "costs %r" % found)
    equal("different costs", len(set(found)), 1)


@case
def measured_anew():
    """Not where calls are recorded in another way than by the first process."""
    run = execute(["/bin/sh", "-c", "BATTPROF_EXACT=1 /bin/true; /bin/true"], True)
    adaptive = sorted(costs(header)[4] > 0 for header in headers(run))
    equal("without counted calls", adaptive.count(False), 1)
    check(adaptive.count(True) >= 2, "adaptive %r" % adaptive)


@case
def little_is_left_over():
    run = execute(["/bin/sh", "-c", "/bin/true; ls / | sort | wc; %s -c 'import json'" % PYTHON],
                  True)
    for name, header in zip(sorted(run.files()), headers(run)):
        used, = struct.unpack_from("<Q", header, USED)
        spare = os.stat(os.path.join(run.profile, name)).st_size - used
        check(0 <= spare <= MOST_SPARE, "%s: %d bytes are spare" % (name, spare))


main()
