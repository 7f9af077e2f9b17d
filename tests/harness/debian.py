# SPDX-License-Identifier: MIT
"""NVIDIA's own CUPTI of other versions, from Debian's non-free archive: unpacked into a folder of the
build, installed nowhere, and kept there. What cannot be had is a Skip with the reason."""
import glob
import hashlib
import lzma
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request

from harness import Skip

MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
CACHE = os.environ.get("CUPTI_CACHE", "")
SUITES = {"11.8": "bookworm", "12.4": "trixie"}
PACKAGES = {"11.8": ("libcupti-dev", "libcupti11.8", "libcudart11.0"),
            "12.4": ("libcupti-dev", "libcupti12", "libcudart12")}
CONNECT_S = 5
WHOLE_S = 40  # for all of a version: 17 MB
failed = {}  # version: why


def fetch(path, deadline):
    try:
        with urllib.request.urlopen(MIRROR + "/" + path, timeout=CONNECT_S) as answer:
            pieces = []
            while True:
                if time.monotonic() > deadline:
                    raise Skip("%s/%s: slower than %d s" % (MIRROR, path, WHOLE_S))
                piece = answer.read(1 << 20)
                if not piece:
                    return b"".join(pieces)
                pieces.append(piece)
    except (OSError, urllib.error.URLError) as error:
        raise Skip("%s/%s: %s" % (MIRROR, path, error))


def index(version, deadline):
    """{package: {field: value}} of the suite."""
    path = "dists/%s/non-free/binary-amd64/Packages.xz" % SUITES[version]
    found = {}
    for paragraph in lzma.decompress(fetch(path, deadline)).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line)
        found[fields.get("Package")] = fields
    return found


def unpack(version, folder):
    """The packages' files below a folder that appears only when it is whole."""
    deadline = time.monotonic() + WHOLE_S
    known = index(version, deadline)
    partial = "%s.%d" % (folder, os.getpid())
    os.makedirs(partial)
    try:
        for name in PACKAGES[version]:
            fields = known.get(name)
            if not fields or not fields["Version"].startswith(version):
                raise Skip("%s %s is not in %s any more" % (name, version, SUITES[version]))
            data = fetch(fields["Filename"], deadline)
            if hashlib.sha256(data).hexdigest() != fields["SHA256"]:
                raise Skip("%s: not what the archive's index says" % fields["Filename"])
            package = os.path.join(partial, "package.deb")
            with open(package, "wb") as f:
                f.write(data)
            subprocess.run(["dpkg-deb", "-x", package, partial], check=True, timeout=60)
            os.unlink(package)
        for archive in glob.glob(os.path.join(partial, "usr/lib/*/*.a")):
            os.unlink(archive)  # 120 MB that nobody links
        os.rename(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def cupti(version):
    """Where the version's headers and libraries are."""
    folder = os.path.join(CACHE, version)
    if not CACHE or not shutil.which("dpkg-deb"):
        raise Skip("dpkg-deb is not installed" if CACHE else "CUPTI_CACHE is not set")
    if version in failed:
        raise Skip(failed[version])
    if not os.path.isdir(folder):
        os.makedirs(CACHE, exist_ok=True)
        try:
            unpack(version, folder)
        except Skip as skip:
            failed[version] = str(skip)
            raise
    usr = os.path.join(folder, "usr")
    return os.path.join(usr, "include"), os.path.join(usr, "lib", "x86_64-linux-gnu")
