# SPDX-License-Identifier: MIT
"""Packs files for a command that carries them, as tools/run/carried.c reads them.

    pack.py OUTPUT STRIP NAME=FILE...

ELF files lose the symbols that the loader does not need. The same files make the same bytes."""
import re
import struct
import subprocess
import sys
import tempfile
import zlib

ENTRY = struct.Struct("<QQQ64s64s")
COUNT = struct.Struct("<Q")
ALIGNMENT = 64


def stripped(path, strip):
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(b"\x7fELF"):
        return data
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run([strip, "--strip-unneeded", "-o", copy.name, path], check=True)
        with open(copy.name, "rb") as file:
            return file.read()


def build_id(data):
    """Of the note, as its bytes stand in the file: length of the name, of the id, type 3, "GNU"."""
    found = re.search(rb"\x04\0\0\0(....)\x03\0\0\0GNU\0", data, re.S)
    if not found or not data.startswith(b"\x7fELF"):
        return ""
    size = struct.unpack("<I", found.group(1))[0]
    return data[found.end():found.end() + size].hex()


def main():
    output, strip = sys.argv[1:3]
    files = []
    for word in sys.argv[3:]:
        name, path = word.split("=", 1)
        data = stripped(path, strip)
        files.append((name.encode(), build_id(data).encode(), len(data), zlib.compress(data, 9)))
    offset = COUNT.size + ENTRY.size * len(files)
    index, body = COUNT.pack(len(files)), b""
    for name, identity, size, packed in files:
        if len(name) >= 64 or len(identity) >= 64:
            sys.exit("pack.py: %s: its name or build id is too long" % name.decode())
        index += ENTRY.pack(offset + len(body), len(packed), size, name, identity)
        body += packed + bytes(-len(packed) % ALIGNMENT)
    with open(output, "wb") as file:
        file.write(index + body)


if __name__ == "__main__":
    main()
