# SPDX-License-Identifier: MIT
"""Copies that Python code asks for, without device records: each is counted where it comes from, on
every Python that is here."""
import json
import os

from harness import pythons
from harness.device import QUICK, fine
from harness import cases, check, equal, execute, main

SUBJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "subjects", "copies.py")


def step(frame):
    """As the subject writes it."""
    if frame["function"].endswith(".copy"):
        return "copy"
    name = frame["function"].rsplit(".", 1)[-1]
    return "%s %s:%d" % (name, os.path.basename(frame["file"]), frame["line"])


def by_path(report):
    found = {}
    for site in report["copy_sites"]:
        path = ";".join(step(frame) for frame in site["stack"] if frame["file"])
        count, size = found.get(path, (0, 0))
        found[path] = count + site["count"], size + site["bytes"]
    return found


def counted_by_path(python, env):
    environment = {"BATTPROF_CUDA": "wrappers", "BATTPROF_SAMPLE": "off", "LD_LIBRARY_PATH": QUICK}
    environment.update(env)
    run = execute([python, SUBJECT], True, env=environment, timeout=60)
    fine(run)
    with open(os.path.join(run.dir, "want")) as file:
        want = {path: tuple(sums) for path, sums in json.load(file).items()}
    report = run.report()
    found = by_path(report)
    for path in sorted(set(want) | set(found)):
        check(found.get(path) == want.get(path), "%s: got %s, want %s"
              % (path, found.get(path), want.get(path)))
    h2d = report["transfers"]["h2d"]
    equal("copies and bytes", (h2d["count"], h2d["bytes"]),
          tuple(map(sum, zip(*want.values()))))
    print("   %d copies by %d paths" % (h2d["count"], len(want)))


def add_case(version, python, name, env):
    def of_version():
        counted_by_path(python, env)
    of_version.__name__ = "%s_%d_%d" % (name, *version)
    cases.append((of_version, 1))


for version, python in pythons.find().items():
    add_case(version, python, "known_again", {})
    add_case(version, python, "slow_way", {"BATTPROF_CUDA_HASH": "1"})
main()
