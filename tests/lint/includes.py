# SPDX-License-Identifier: MIT
"""Who may include whom, and how: paths from the root, own header first, groups sorted. And no folder
with more files than a reader can look over."""
import collections
import os
import re
import sys

import common

# Room: what its files may include beside their own room and its subfolders. A room is the longest
# prefix of a path in this table; a path that ends in a header's name allows that header only.
FOLDERS = ("profile", "dsl", "cuda", "interpose", "tools")
ALLOWED = {
    "profile/": (),
    "dsl/": (),
    "cuda/": ("profile/", "interpose/base/", "interpose/hook/source.h",
              "interpose/ledger/thread.h"),
    "tools/base/": ("profile/", "interpose/process/variables.def"),
    "tools/symbols/": ("profile/", "tools/base/"),
    "tools/rules/": ("profile/", "tools/base/"),
    "tools/model/": ("profile/", "tools/base/", "tools/symbols/", "tools/rules/"),
    "tools/analyze/": ("profile/", "tools/base/", "tools/rules/", "tools/model/"),
    "tools/render/": ("profile/", "tools/base/", "tools/rules/", "tools/model/", "tools/analyze/"),
    "tools/export/": ("profile/", "tools/base/", "tools/rules/", "tools/model/"),
    "tools/export/html/": ("profile/", "tools/base/", "tools/rules/", "tools/model/",
                           "tools/analyze/"),
    "tools/import/": ("profile/", "tools/base/", "cuda/attribute.h"),
    "tools/live/": ("profile/", "tools/base/", "tools/symbols/", "tools/rules/",
                    "interpose/python/layout.h", "interpose/python/location.h"),
    "tools/attach/": ("profile/", "tools/base/", "tools/live/exported.h", "tools/live/find.h",
                      "tools/live/trace.h"),
    "tools/run/": ("profile/", "tools/base/", "tools/rules/", "tools/live/tasks.h"),
    "tools/command/": ("profile/", "tools/"),
    "tools/static/": (),
    "interpose/base/": ("profile/",),
    "interpose/arch/": ("profile/",),
    "interpose/ledger/": ("profile/", "interpose/base/", "interpose/arch/"),
    "interpose/unwind/": ("profile/", "interpose/base/", "interpose/arch/"),
    "interpose/hook/": ("profile/", "interpose/base/", "interpose/arch/", "interpose/ledger/"),
    "interpose/task/": ("profile/", "interpose/base/", "interpose/ledger/", "interpose/hook/"),
    "interpose/sample/": ("profile/", "interpose/base/", "interpose/arch/", "interpose/ledger/",
                          "interpose/unwind/", "interpose/python/stack/stack.h"),
    "interpose/python/": ("profile/", "interpose/base/", "interpose/arch/", "interpose/ledger/",
                          "interpose/hook/", "interpose/task/"),
    "interpose/process/": ("profile/", "interpose/"),
}
EXCEPTIONS = {
    # The one place that starts everything.
    "interpose/process/init.c": ("cuda/",),
    # Runs while building: prints where the stubs find the ledger's fields.
    "interpose/arch/x86_64/offsets.c": ("interpose/ledger/thread.h",),
}
# Headers for their own room.
INTERNAL = ("internal.h", "work.h")
MOST_FILES = 45  # in one folder
GENERATED = ("interpose/offsets.h",)  # made by the build
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+("([^"]+)"|<([^>]+)>)', re.M)


def room_of(path):
    rooms = [room for room in ALLOWED if path.startswith(room)]
    return max(rooms, key=len) if rooms else None


def exceptions(path):
    return tuple(header for start, headers in EXCEPTIONS.items() if path.startswith(start)
                 for header in headers)


def is_internal(path, included):
    """Whether the header is for a room that the file is not in."""
    return included.endswith(INTERNAL) and room_of(included) != room_of(path)


def check_rights(root, path, included):
    room = room_of(path)
    if room is None:
        return f"{path}: belongs to no room"
    if not included.startswith(ALLOWED[room] + (room,) + exceptions(path) + GENERATED):
        return f'{path}: may not include "{included}"'
    if is_internal(path, included):
        return f'{path}: "{included}" is for its own room'
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


def check_sizes(paths):
    """A room that has grown too large to find things in wants to be two."""
    count = collections.Counter(os.path.dirname(path) for path in paths)
    return [f"{folder}/: {number} files, more than {MOST_FILES}"
            for folder, number in count.items() if number > MOST_FILES]


def main():
    root, problems, checked = sys.argv[1], [], 0
    problems += check_sizes(common.sources(root, (".c", ".h", ".S", ".def", ".build"), FOLDERS))
    for path in common.sources(root, (".c", ".h", ".S"), FOLDERS):
        checked += 1
        text = common.read(root, path)
        includes = []
        for match in INCLUDE.finditer(text):
            includes.append((text.count("\n", 0, match.start()), match.group(1)))
            if match.group(2):
                problems.append(check_rights(root, path, match.group(2)))
        if path.endswith(".c"):
            plain = [(n, i) for n, i in includes if not i.endswith('.def"')]
            problems += check_order(path, plain)
    common.finish([p for p in problems if p], checked, "files")


if __name__ == "__main__":
    main()
