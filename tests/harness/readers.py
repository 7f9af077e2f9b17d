# SPDX-License-Identifier: MIT
"""The programs that exports are for: where they are, and what they say of a file. All but the first
few are packages that tools/deps --readers unpacks into a cache outside the repository."""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export", "readers")
CACHES = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
CACHE = os.environ.get("BATTPROF_READERS") or os.path.join(CACHES, "battprof-readers")
MODULES = os.environ.get("BATTPROF_NODE_MODULES") or os.path.join(
    CACHES, "battprof-page", "node_modules")
ASSETS = os.path.join(CACHE, "argent", "assets", "trace-processor")
SPEEDSCOPE = os.path.join(CACHE, "speedscope")
FIREFOX = os.path.join(CACHE, "profiler-cli", "dist", "profiler-cli.js")
PYTHON = os.path.join(CACHE, "python", "bin", "python3")


class Missing(Exception):
    """A reader is not installed; says which."""


def need(*things):
    """Programs, or paths of the cache."""
    for thing in things:
        if not (os.path.exists(thing) if "/" in thing else shutil.which(thing)):
            raise Missing("no %s: tools/deps --readers" % thing)


def need_python(module):
    """The Python that has the module."""
    need(PYTHON)
    if subprocess.run([PYTHON, "-c", "import " + module], check=False,
                      capture_output=True).returncode:
        raise Missing("no %s in %s: tools/deps --readers" % (module, PYTHON))
    return PYTHON


def run(*command, data=None):
    """In an empty directory: callgrind_annotate cuts the working directory off some paths, and then
    has functions of files below it twice."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(command, capture_output=True, check=False, input=data, timeout=500,
                              cwd=home, env={**os.environ, "HOME": home})
    assert done.returncode == 0, (command, done.stderr[-2000:])
    return done.stdout.decode("utf-8", "replace")


def ask(script, *arguments, plan):
    """A script of node's with a plan; its answer."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(plan, file)
        file.flush()
        text = run("node", os.path.join(HERE, script), *arguments, file.name)
    return json.loads(text[text.index('{"'):])


def go_pprof(path, value):
    """(self, total) in nanoseconds by name."""
    need("go")
    out = run("go", "tool", "pprof", "-top", "-nodecount=999999", "-unit=ns", "-nodefraction=0",
              "-edgefraction=0", "-sample_index=" + value, path)
    own, total = collections.Counter(), collections.Counter()
    for flat, cum, name in re.findall(r"^ *([\d.]+)(?:ns)? +\S+ +\S+ +([\d.]+)(?:ns)? +\S+ +(.*)$",
                                      out, re.M):
        name = name.replace(" (inline)", "")
        own[name] += float(flat)
        total[name] += float(cum)
    return own, total


def protoc(path):
    """The text of a decoded profile: every field has a name, and none a number."""
    need("protoc")
    with gzip.open(path) as file:
        return run("protoc", "--decode=Profile", "-I" + HERE, "profile.proto", data=file.read())


def annotate(path, inclusive):
    """{event: {name: nanoseconds}}; a function within itself is one function."""
    need("callgrind_annotate")
    out = run("callgrind_annotate", "--threshold=100", "--auto=no",
              "--inclusive=" + ("yes" if inclusive else "no"), path)
    found = {"wall": collections.Counter(), "thread": collections.Counter()}
    for line in out.splitlines():
        row = re.match(r" *([\d,]+) +(?:\(.{5}%\) +)?([\d,]+) +(?:\(.{5}%\) +)?[\d,]+ +(?:\(.{5}%\) +)?"
                       r"[\d,]+ +(?:\(.{5}%\) +)?(.*)$", line)
        if not row:
            continue
        name = row[3].split(":", 1)[-1]
        name = re.sub(r" \[[^\]]*\]$", "", name)
        if inclusive and re.search(r"'\d+$", name):
            continue
        for event, text in zip(found, (row[1], row[2]), strict=True):
            found[event][re.sub(r"'\d+$", "", name)] += int(text.replace(",", ""))
    return found


def firefox(path):
    """(self, total) in nanoseconds of wall by name, of all threads: a session of the CLI."""
    need("node", FIREFOX)
    own, total = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        def cli(*words):
            done = subprocess.run(["node", FIREFOX, *words], capture_output=True, check=False,
                                  timeout=500,
                                  env={**os.environ, "PROFILER_CLI_SESSION_DIR": directory})
            return done.returncode, done.stdout.decode(), done.stderr.decode()
        status, _, error = cli("load", path)
        for _ in range(60):  # it gives its daemon half a second; a busy machine takes longer
            status, text, later = cli("thread", "list", "--json", "--limit", "99999")
            if status == 0:
                break
        assert status == 0, error + later
        for thread in json.loads(text)["threads"]:
            status, text, error = cli("thread", "functions", "--json", "--limit", "99999",
                                      "--include-idle", "--thread", thread["threadHandle"])
            assert status == 0, error
            for row in json.loads(text)["functions"]:
                own[row["name"]] += row["selfSamples"] * 1e6
                total[row["name"]] += row["totalSamples"] * 1e6
        cli("stop", "--all")
    return own, total


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def shown(text):
    """(value, what its last digit is worth) of a time as speedscope writes it: "1.23s (4%)"."""
    minutes, number, unit = re.match(r"(?:(\d+):)?([\d,.]+)(ns|µs|ms|s)?", text).groups()
    scale = UNITS[unit or "s"]
    value = float(number.replace(",", "")) * scale + 60e9 * int(minutes or 0)
    return value, 1e9 if minutes else scale / 100


def speedscope(files, profiles=2, shot=None):
    """{file: [{name: ((self, digit), (total, digit))} of each of the first profiles]}"""
    need("node", "chromium", SPEEDSCOPE, os.path.join(MODULES, "playwright-core"))
    answer = ask("speedscope.js", plan={
        "modules": MODULES, "speedscope": SPEEDSCOPE, "chromium": shutil.which("chromium"),
        "profiles": profiles, "files": files, "shot": shot})
    assert not answer["errors"], answer["errors"]
    return {name: [add_rows(table) for table in tables] for name, tables in answer["files"].items()}


def add_rows(table):
    """Functions of one name in several files have a row each."""
    found = {}
    for total, own, name in table:
        before = found.get(name, ((0, 0), (0, 0)))
        found[name] = tuple((value[0] + more[0], value[1] + more[1])
                            for value, more in zip(before, (shown(own), shown(total)), strict=True))
    return found


def perfetto(questions):
    """{trace: {name: rows}} of {trace: {name: SQL}}."""
    need("node", os.path.join(ASSETS, "trace_processor.wasm"))
    return ask("perfetto.mjs", ASSETS, plan=questions)
