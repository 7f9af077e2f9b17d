# SPDX-License-Identifier: MIT
"""Who may include whom, and how: paths from the root, own header first, groups sorted."""
import os
import re
import sys

import common

# Folder: what its files may include beside their own folder; a path allows that header only.
ALLOWED = {
    "profile": (),
    "interpose": ("profile/",),
    "cuda": ("profile/", "interpose/source.h", "interpose/hook.h", "interpose/thread.h",
             "interpose/log.h"),
    "tools": ("profile/", "cuda/attribute.h"),
    "dsl": (),
}
EXCEPTIONS = {"interpose/init.c": ("cuda/",)}
GENERATED = ("interpose/offsets.h",)  # made by the build
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+("([^"]+)"|<([^>]+)>)', re.M)


def check_rights(root, path, included):
    folder = path.split("/")[0]
    allowed = ALLOWED[folder] + (folder + "/",) + EXCEPTIONS.get(path, ())
    if not included.startswith(allowed):
        return f'{path}: may not include "{included}"'
    if included not in GENERATED and not os.path.exists(os.path.join(root, included)):
        return f'{path}: "{included}" is not written from the root'
    return None


def check_order(path, includes):
    """Own header; then <...> sorted; then "..." sorted. A blank line may begin a new group."""
    own = os.path.splitext(path)[0] + ".h"
    problems = []
    names = [name for _, name in includes]
    if f'"{own}"' in names and names[0] != f'"{own}"':
        problems.append(f"{path}: its own header does not come first")
    groups, last_line = [], None
    for line, name in includes:
        if name == f'"{own}"':
            continue
        if last_line is None or line != last_line + 1:
            groups.append([])
        groups[-1].append(name)
        last_line = line
    for group in groups:
        if group != sorted(group):
            problems.append(f"{path}: includes not sorted: {' '.join(group)}")
    return problems


def main():
    root, problems, checked = sys.argv[1], [], 0
    for path in common.sources(root, (".c", ".h", ".S"), tuple(ALLOWED)):
        checked += 1
        text = common.read(root, path)
        includes = []
        for match in INCLUDE.finditer(text):
            includes.append((text.count("\n", 0, match.start()), match.group(1)))
            if match.group(2) and not match.group(2).endswith(".def"):
                problems.append(check_rights(root, path, match.group(2)))
        if path.endswith(".c"):
            plain = [(n, i) for n, i in includes if not i.endswith('.def"')]
            problems += check_order(path, plain)
    common.finish([p for p in problems if p], checked, "files")


if __name__ == "__main__":
    main()
