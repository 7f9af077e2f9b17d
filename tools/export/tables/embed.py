# SPDX-License-Identifier: MIT
"""Writes the lines of a text as C strings: embed.py OUTPUT FILE"""
import json
import sys

with open(sys.argv[2], encoding="ascii") as source, \
        open(sys.argv[1], "w", encoding="ascii") as output:
    output.write('/* Made by embed.py. */\n#include "tools/export/tables/views.h"\n\n'
                 "const char *const bp_views_sql[] = {\n")
    for line in source:
        output.write("    " + json.dumps(line) + ",\n")
    output.write("    0,\n};\n")
