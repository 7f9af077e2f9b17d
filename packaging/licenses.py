# SPDX-License-Identifier: MIT
"""What the licences of the libraries in a static command ask for: their names and versions, where
their source is, how to link the command with others, and the texts.

    licenses.py OUTPUT VERSION LICENSE

Versions and texts are those of the Debian packages that the linker takes the libraries from. Without
Debian's files the output says which texts are missing, and tools/package makes nothing of it."""
import os
import subprocess
import sys

TEXTS = "/usr/share/common-licenses"
# Package, what is used of it, licence.
LIBRARIES = (
    ("libc6-dev", "the GNU C library", "LGPL-2.1 or later"),
    ("libdw-dev", "libdw and libelf of elfutils", "LGPL-3 or later (of a choice with GPL-2 or later)"),
    ("libjansson-dev", "jansson", "MIT"),
    ("libsqlite3-dev", "SQLite", "public domain"),
    ("zlib1g-dev", "zlib", "zlib"),
    ("liblzma-dev", "liblzma", "public domain"),
    ("libbz2-dev", "bzip2", "bzip2"),
)
COMMON = ("LGPL-3", "GPL-3", "LGPL-2.1")
HEAD = """battprof {version}: licences

battprof itself is under the MIT licence, which is the first text below. This command is linked
statically with the libraries in the list, each under its own licence. What they use of GCC (libgcc,
the demangler of libstdc++) is under the GPL-3 with the GCC Runtime Library Exception, which asks for
nothing here.

{libraries}

You may change these libraries and link the command with your version of them. Its source,
battprof-{version}.tar.gz, is published beside it; with the static libraries installed,

    meson setup build -Dstatic=true --buildtype=release && ninja -C build

makes build/tools/battprof. libbattprof.so, which goes into programs that are profiled, is not linked
statically with anything.
"""


def source_of(package):
    """Source package and version, or None where there is no dpkg."""
    try:
        done = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return done.stdout.decode().split()
    except (OSError, subprocess.CalledProcessError):
        return None


def describe(package, what, licence):
    source = source_of(package)
    where = ("Debian source package %s %s\n    https://snapshot.debian.org/package/%s/%s/" %
             (*source, *source) if source else "the version of the machine it was built on")
    return "  %s: %s\n    %s" % (what, licence, where)


def chapter(title, path):
    text = "MISSING: %s\n" % path
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    return "\n%s\n%s\n\n%s" % (title, "=" * len(title), text)


def main():
    output, version, own = sys.argv[1:4]
    parts = [HEAD.format(version=version, libraries="\n".join(describe(*row) for row in LIBRARIES)),
             chapter("battprof", own)]
    parts += [chapter(what, "/usr/share/doc/%s/copyright" % package) for package, what, _ in LIBRARIES]
    parts += [chapter(name, os.path.join(TEXTS, name)) for name in COMMON]
    with open(output, "w", encoding="utf-8") as file:
        file.write("".join(parts))


if __name__ == "__main__":
    main()
