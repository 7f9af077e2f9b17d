# SPDX-License-Identifier: MIT
"""docs/internals/format.md names every field of the profile's structures and every kind of chunk."""
import glob
import os
import re
import sys

import common

PAGE = "docs/internals/format.md"
FILLING = {"reserved", "unused", "spare", "spare_reason", "spare_number"}
STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\}", re.S | re.M)
NAME = re.compile(r"\*?(\w+)(?:\[[^\]]*\])?\s*(?=,|$)")
KIND = re.compile(r"^    (BP_\w+) = (\d+),", re.M)


def fields(header):
    """Pairs of a structure's name and a field's."""
    for struct, body in STRUCT.findall(re.sub(r"/\*.*?\*/", "", header, flags=re.S)):
        for declaration in body.split(";"):
            for name in NAME.findall(declaration.strip()):
                yield struct, name


def main():
    root = sys.argv[1]
    page = common.read(root, PAGE)
    words = set(re.findall(r"\w+", page))
    headings = "\n".join(line for line in page.split("\n") if line.startswith("#"))
    problems, checked = [], 0
    for path in sorted(glob.glob(os.path.join(root, "profile", "format*.h"))):
        header = common.read(root, path)
        for struct, name in fields(header):
            checked += 1
            if name not in words and name not in FILLING:
                problems.append(f"{PAGE}: does not name {struct}.{name}")
        enum = re.search(r"^enum bp_chunk_kind \{\n(.*?)^\}", header, re.S | re.M)
        for name, kind in KIND.findall(enum.group(1)) if enum else ():
            checked += 1
            if name != "BP_KINDS" and not re.search(rf"\(kind {kind}\)", headings):
                problems.append(f"{PAGE}: has no section of kind {kind}, {name}")
    common.finish(problems, checked, "fields and kinds")


if __name__ == "__main__":
    main()
