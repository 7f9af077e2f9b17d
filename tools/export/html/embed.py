# SPDX-License-Identifier: MIT
"""Writes the style sheet and the scripts of the page as C arrays: embed.py OUTPUT FILE…

Lines that are comments, and the spaces before a line, stay in the repository: every page would carry
them. The scripts become one, but for 0_boot.js.
"""
import os
import sys


def squeeze(text):
    lines = []
    inside = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("/*"):
            inside = True
        if not inside and line and not line.startswith("//"):
            lines.append(line)
        if inside and line.endswith("*/"):
            inside = False
    return "\n".join(lines) + "\n"


def pack_style(text):
    for wide in (": ", ", ", "; ", " {"):
        text = text.replace(wide, wide.strip())
    return text


def array(name, data):
    rows = [", ".join(str(byte) for byte in data[i:i + 24]) for i in range(0, len(data), 24)]
    return "const char %s[] = {\n%s};\nconst size_t %s_size = sizeof(%s);\n" % (
        name, ",\n".join(rows), name, name)


def main():
    output, inputs = sys.argv[1], sys.argv[2:]
    kinds = {"css": "", "boot": "", "js": ""}
    for path in sorted(inputs, key=os.path.basename):
        kind = "boot" if path.endswith("0_boot.js") else os.path.splitext(path)[1][1:]
        with open(path, encoding="utf-8") as file:
            kinds[kind] += squeeze(file.read())
    kinds["css"] = pack_style(kinds["css"])
    with open(output, "w", encoding="ascii") as file:
        file.write("/* Made by embed.py. */\n#include \"tools/export/html/asset.h\"\n\n")
        for kind, text in kinds.items():
            file.write(array("bp_asset_" + kind, list(
                byte if byte < 128 else byte - 256 for byte in text.encode("utf-8"))))


main()
