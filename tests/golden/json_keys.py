#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/json.md explains every key that the command writes as JSON, below the path that it has there:
json_keys.py BATTPROF JSON_MD TOOLS. The profiles are those of all golden cases; keys that none of
them has, but the sources name, must be in the document somewhere. And each word of --by has its
list in some report: without one its CSV would be empty for ever."""
import fnmatch
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import make_bp

NAMES_OF_USERS = ["tasks.list[].phases", "projection.phases"]
WRITES = (r'(?:bp_json_set\w*|bp_report_json_name|set_known|set_function|json_object_set_new)'
          r'\(\s*\w+,\s*"(\w+)"')
SERIES = "session_status"  # a case with the session file that makes a directory a run


def read_document(path):
    """{schema: [(path, keys)]}: "## schema", "### path, path", the first cells of the tables."""
    schemas = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            heading = re.fullmatch(r"(##+) (.*)\n", line)
            if heading and heading[1] == "##":
                keys = set()
                sections = schemas.setdefault(heading[2], [("", keys)])
            elif heading:
                keys = set()
                sections += [(name, keys) for name in heading[2].split(", ")]
            elif re.match(r"\| [a-z0-9_, ]+ \|", line) and schemas:
                keys.update(line.split("|")[1].strip().split(", "))
    return schemas


def read_sources(directory):
    """Keys that are written as they stand."""
    keys = set()
    for path in glob.glob(os.path.join(directory, "**", "*.c"), recursive=True):
        with open(path, encoding="utf-8") as file:
            keys.update(re.findall(WRITES, file.read()))
    return keys


def missing_lists(directory, seen):
    """Lists that views.def names and no report has."""
    with open(os.path.join(directory, "render", "views.def"), encoding="utf-8") as file:
        lists = re.findall(r'\.list = "([\w.]+)"', file.read())
    assert lists, "views.def names no list"
    return [name for name in lists if name.rpartition(".")[::2] not in seen]


def is_explained(sections, path, key):
    return any(key in keys and fnmatch.fnmatchcase(path, name.replace("[", "[[]"))
               for name, keys in sections)


def walk(value, path, seen):
    if isinstance(value, list):
        for item in value:
            walk(item, path + "[]", seen)
    elif isinstance(value, dict) and path not in NAMES_OF_USERS:
        for key, item in value.items():
            seen.add((path, key))
            walk(item, path + "." + key if path else key, seen)


def show(battprof, directory, arguments):
    """None if the profile of the case cannot be shown."""
    done = subprocess.run([battprof] + arguments, cwd=directory, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout) if done.stdout.startswith(b"{") else None


def commands(name, case, directory):
    options = case.get("options", [])
    if "sides" in case:
        yield ["diff", "--json"] + options + case["sides"]
        yield ["report", "--json", case["sides"][0]]
        return
    where = [case["path"]] if case.get("path") else []
    yield ["report", "--json", "--scale", "400", "--budget", "8h"] + options + where
    if name == SERIES:
        for run in ("1", "2"):
            shutil.copytree(os.path.join(directory, case["path"]),
                            os.path.join(directory, "series", run))
        yield ["report", "--json", "series"]


def main():
    battprof, document = os.path.abspath(sys.argv[1]), read_document(sys.argv[2])
    cases = os.path.dirname(os.path.abspath(__file__))
    seen = {schema: set() for schema in document}
    for name in sorted(os.listdir(cases)):
        if not os.path.exists(os.path.join(cases, name, "input.json")):
            continue
        with open(os.path.join(cases, name, "input.json"), encoding="utf-8") as source:
            case = json.load(source)
        with tempfile.TemporaryDirectory() as directory:
            make_bp.write_all(case, directory)
            for arguments in commands(name, case, directory):
                report = show(battprof, directory, arguments)
                if report:
                    walk(report, "", seen[report["schema"]])
    wrong = 0
    for schema, keys in seen.items():
        assert keys, "no case writes " + schema
        for path, key in sorted(keys):
            if not is_explained(document[schema], path, key):
                print("docs/json.md does not explain %s: %s%s%s"
                      % (schema, path, path and ".", key))
                wrong += 1
    told = {key for sections in document.values() for _, keys in sections for key in keys}
    named = read_sources(sys.argv[3])
    assert len(named) > 100, "the sources name only %d keys" % len(named)
    for key in sorted(named - told):
        print("docs/json.md does not explain %s" % key)
        wrong += 1
    for name in missing_lists(sys.argv[3], seen["battprof-report/1"]):
        print("render/views.def: no report has the list %s" % name)
        wrong += 1
    print(", ".join("%s: %d keys" % (schema, len(keys)) for schema, keys in seen.items()))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
