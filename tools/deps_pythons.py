#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python versions newer than this Debian has, for the tests: from Debian's next release, unpacked
into a directory of their own with the C library that they need. Nothing is installed.

    tools/deps_pythons.py DIRECTORY VERSION...

The package list is fetched by plain HTTP; each package must have the checksum that the list has."""
import glob
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import sys
import urllib.request

MIRROR = "http://deb.debian.org/debian/"
SUITE = "forky"
FIELD = re.compile(r"^(Package|Depends|Pre-Depends|Filename|SHA256): (.*)$", re.M)
TIMEOUT_S = 60
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def fetch(path):
    with urllib.request.urlopen(MIRROR + path, timeout=TIMEOUT_S) as answer:
        return answer.read()


def read_index():
    """{name: fields} of all packages."""
    text = lzma.decompress(fetch("dists/%s/main/binary-amd64/Packages.xz" % SUITE)).decode()
    packages = (dict(FIELD.findall(paragraph)) for paragraph in text.split("\n\n"))
    return {fields["Package"]: fields for fields in packages if "Package" in fields}


def needs(fields):
    """Names, the first where there is a choice."""
    text = fields.get("Depends", "") + "," + fields.get("Pre-Depends", "")
    names = (re.match(r"[a-z0-9.+-]+", item.strip()) for item in text.split(","))
    return [name.group() for name in names if name]


def closure(index, names):
    found, left = {}, list(names)
    while left:
        name = left.pop()
        if name in index and name not in found:
            found[name] = index[name]
            left += needs(index[name])
    return found


def unpack(fields, root):
    data = fetch(fields["Filename"])
    if hashlib.sha256(data).hexdigest() != fields["SHA256"]:
        sys.exit("deps: %s is not what the list says" % fields["Filename"])
    subprocess.run(["dpkg-deb", "-x", "/dev/stdin", root], input=data, check=True)


def bind(program, root):
    """Has the program use the C library and the others beside it, here and nowhere else."""
    libraries = os.path.join(root, LIBRARIES)
    subprocess.run(["patchelf", "--force-rpath", "--set-rpath", libraries, "--set-interpreter",
                    os.path.join(libraries, "ld-linux-x86-64.so.2"), program], check=True)


def main():
    root, versions = os.path.abspath(sys.argv[1]), sys.argv[2:]
    index, part = read_index(), root + ".part"
    wanted = closure(index, ["python" + version for version in versions])
    for version in versions:
        headers = "libpython%s-dev" % version
        wanted.update({name: index[name] for name in (headers, "python%s-venv" % version)
                       if name in index})
    shutil.rmtree(part, ignore_errors=True)
    os.makedirs(part)
    for name in sorted(wanted):
        unpack(wanted[name], part)
    for program in glob.glob(os.path.join(part, "usr/bin/python3.[0-9][0-9]")):
        bind(program, root)
    shutil.rmtree(root, ignore_errors=True)
    os.rename(part, root)


if __name__ == "__main__":
    main()
