# SPDX-License-Identifier: MIT
"""Programs of others, as their users start them: the split adds up to the wall; the first command
that the page prints, pasted, times every call of the function named here; and what samples found
there has, where its calls are counted, the same name."""
import json
import os
import shutil

from harness import CMD, Skip, case, check, main, new_dir
from harness.foreign import (PYTHON, counted_calls, has_module, names_are_equal, pasted_line, report,
                             shell)


def see(argv, *hot):
    """Without options, then as the page says. `hot`: the names that the function has had."""
    folder = new_dir()
    text = shell("%s run -- %s" % (CMD, argv), folder)
    first = report(folder)
    sampled = {row["name"] for row in first["framework"]["functions"] if row["sampled"]}
    check(sampled & set(hot), "%s was not sampled:\n%s" % (hot, text))
    shell(pasted_line(text), folder)
    second = report(folder)
    check(any(counted_calls(second).get(name) for name in hot),
          "%s has no exact calls:\n%s" % (hot, text))
    names_are_equal(first, second)
    return first, second


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip("no " + program)


def needs_module(name):
    if not has_module(name):
        raise Skip("no module " + name)


def write(name, text):
    path = os.path.join(new_dir(), name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


@case
def jq_with_its_library():
    needs("jq")
    rows = [{"id": i, "values": [i * k % 97 for k in range(12)], "tag": "abcdef"[i % 6]}
            for i in range(12000)]
    path = write("big.json", json.dumps(rows))
    see("jq 'group_by(.tag) | map(map(.values | add) | add)' %s" % path, "jv_copy")


@case
def sqlite_with_its_library():
    needs("sqlite3")
    see("sqlite3 :memory: \"with recursive c(x) as (values(1) union all select x + 1 from c where "
        "x < 300000) select count(*), sum(length(printf('%d', x * x))) from c where x % 3 = 0\"",
        "sqlite3VdbeExec", "sqlite3_step")


@case
def markdown_or_pygments_of_the_registry():
    text = write("in.md", "# Title\n\nSome *text* with `code` and **bold** words.\n\n* item\n" * 300)
    needs_module("markdown")
    see("%s -m markdown %s" % (PYTHON, text),
        "markdown.treeprocessors.InlineProcessor.__applyPattern")


@case
def docutils_reads_a_long_text():
    needs_module("docutils")
    text = write("in.rst", "".join(
        "Title %d\n=========\n\nSome *text* with ``code`` and **bold** words.\n\n* item\n\n" % i
        for i in range(400)))
    see("%s -m docutils %s" % (PYTHON, text), "docutils.nodes.Node._fast_findall")


@case
def a_generator_expression_is_its_function():
    path = write("gen.py", "def primes(limit):\n    found = []\n"
                 "    for number in range(2, limit):\n"
                 "        if all(number % small for small in found):\n"
                 "            found.append(number)\n    return found\n"
                 "for _ in range(40):\n    primes(2500)\n")
    first, _ = see("%s %s" % (PYTHON, path), "gen.primes")
    check("genexpr" not in json.dumps(first["framework"]["functions"]), "it is a part of primes")


@case
def quoted_arguments_stay_as_they_are():
    path = write("loop.py", "import sys\n\n\ndef loop():\n    total = 0\n"
                 "    for i in range(3000000):\n        total += i * i % 7\n    return total\n\n\n"
                 "print(loop(), sys.argv[1])\n")
    words = "a word " * 40 + "and an end"
    folder = new_dir()
    text = shell("%s run -- %s %s '%s'" % (CMD, PYTHON, path, words), folder)
    check(words in shell(pasted_line(text), folder), "the argument was broken:\n" + text)


if __name__ == "__main__":
    main()
