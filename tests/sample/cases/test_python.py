# SPDX-License-Identifier: MIT
"""Python stacks under every Python from 3.8 to 3.15 that is found: functions, lines and order, in
the place of the interpreter's own frames; and the layouts of its structures, where headers are."""
import os
import re
import subprocess
import tempfile

from harness import Skip, case, check, equal, main, need_quiet, timed
from harness import pythons
from harness.samples import is_chain, sampled

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUBJECT = os.path.join(HERE, "subjects", "stacks.py")
FOUND = pythons.find()
LIMIT = 512

# mode: Python functions from the leaf outwards; after a colon the mark of the line
CHAINS = {
    "through_sort": ["spin", "key", "through_sort", "<module>"],
    "through_reduce": ["spin", "<lambda>", "through_reduce", "<module>"],
    "through_generator": ["spin", "__iter__", "method", "through_generator", "<module>"],
    "in_handler": ["spin", "in_handler", "<module>"],
    "signalled": ["spin", "on_signal", "signalled", "<module>"],
    "in_thread": ["spin", "run", "_bootstrap_inner", "_bootstrap"],
    "näher": ["spin", "näher", "<module>"],
}


def marks():
    """{function: the line that is marked with its name}"""
    found = {}
    with open(SUBJECT, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            match = re.search(r"  # ([\w.]+)$", text)
            if match:
                found[match.group(1).split(".")[-1]] = number
    return found


LINES = marks()


def plain(name):
    return name.split(".")[-1]


def run(python, mode, seconds="0.2"):
    _, samples = sampled([python, SUBJECT, mode, seconds], env={"PYTHONHASHSEED": "0"})
    stacks = samples.having("spin")
    count = sum(stack.count for stack in stacks)
    check(count >= 10, "%s: only %d samples: %s" % (python, count, samples.files))
    equal("Python frames that made no sense", samples.total("python_lost"), 0)
    return stacks


def check_stack(stack, chain):
    python = [frame for frame in stack.frames if frame["kind"] == "python"]
    names = [plain(frame["name"]) for frame in python]
    equal("Python functions", names[-len(chain):] if chain[-1] == "<module>" else names, chain)
    check(is_chain([plain(name) for name in stack.names], chain), "wrong order: %s" % stack)
    for frame in python:
        name = plain(frame["name"])
        if name in LINES and name != "spin":
            equal("line of " + name, frame["line"], LINES[name])
        if name == "spin":
            check(0 <= LINES["spin"] - frame["line"] < 5, "line of spin: %d" % frame["line"])
    between = [i for i, frame in enumerate(stack.frames) if frame["kind"] == "python"]
    for frame, name in list(zip(stack.frames, stack.names))[between[0]:between[-1]]:
        check(frame["kind"] == "python" or not name.startswith(("_Py", "Py")),
              "the interpreter's own %s in %s" % (name, stack))


for mode_name in CHAINS:
    def go(mode=mode_name):
        for python in FOUND.values():
            for stack in run(python, mode):
                check_stack(stack, CHAINS[mode])
    go.__name__ = mode_name
    case(go)


@case
def modules():
    """As far as the file tells them."""
    for python in FOUND.values():
        for stack in run(python, "in_thread"):
            names = {plain(f["name"]): f["module"] for f in stack.frames if f["kind"] == "python"}
            equal("modules", (names["spin"], names["_bootstrap"]), ("stacks", "threading"))


@timed
def the_ledger_and_the_samples_agree():
    """The innermost open call of the ledger is the same function as in the stack, but where a
    function has begun and its call is not open yet, or not any more: a few instructions."""
    program = os.path.join(HERE, "subjects", "pipeline", "pipeline.py")
    for python in FOUND.values():
        _, samples = sampled([python, program, "0.5"])
        for leaf, node in (("deeper", "log"), ("pure", "pure"), ("framework", "")):
            stacks = [s for s in samples.stacks if leaf in s.names]
            need_quiet(stacks, "%s: no samples of %s" % (python, leaf))
            others = [s.node for s in stacks if s.node != node]
            check(len(others) <= 1 + len(stacks) // 50,
                  "open call while %s runs: %s in %d stacks" % (leaf, others, len(stacks)))
            for stack in stacks:
                if stack.node != node:
                    continue
                funcs = [frame["func"] for frame in stack.frames if frame["kind"] == "python"]
                check(not node or stack.func in funcs, "%s is another function" % node)
        names = samples.having("deeper")[0].names
        check(is_chain(names, ["deeper", "log", "inner.<locals>.closure", "inner", "outer"]),
              "order: %s" % names)


@case
def deep_recursion_is_truncated():
    for python in FOUND.values():
        for stack in run(python, "deep"):
            equal("truncated", stack.truncated, "depth")
            names = {plain(f["name"]) for f in stack.frames[:-1] if f["kind"] == "python"}
            equal("functions", names, {"spin", "recurse"})


CHECK = """
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>
#include <stdio.h>
#if PY_MINOR_VERSION >= 11
#    include <internal/pycore_frame.h>
#    if PY_MINOR_VERSION >= 14
#        include <internal/pycore_interpframe.h>
#    endif
#else
#    include <frameobject.h>
#endif
#include <opcode.h>
#include "interpose/python/layout.c"
static int wrong;
#define SAME(field, type, member) same(#type "." #member, layout->field, offsetof(type, member))
static void same(const char *what, size_t ours, size_t theirs) {
    if (ours != theirs)
        wrong = printf("%s: %zu, not %zu\\n", what, theirs, ours);
}
int main(void) {
    const struct bp_layout *layout = bp_layout_find(PY_VERSION);
    same("minor version", (size_t)layout->minor, PY_MINOR_VERSION);
    SAME(filename, PyCodeObject, co_filename);
    SAME(name, PyCodeObject, co_name);
    SAME(line, PyCodeObject, co_firstlineno);
    same("characters", layout->ascii, sizeof(PyASCIIObject));
    same("wide characters", layout->wide, sizeof(PyCompactUnicodeObject));
    same("bytes", BP_LAYOUT_BYTES, offsetof(PyBytesObject, ob_sval));
    SAME(tuple, PyTupleObject, ob_item);
#if PY_MINOR_VERSION >= 11
    SAME(qualname, PyCodeObject, co_qualname);
    SAME(table, PyCodeObject, co_linetable);
    SAME(instructions, PyCodeObject, co_code_adaptive);
    SAME(previous, struct _PyInterpreterFrame, previous);
#    if PY_MINOR_VERSION == 11
    SAME(owner, struct _PyInterpreterFrame, is_entry);
#    else
    SAME(owner, struct _PyInterpreterFrame, owner);
#        if PY_MINOR_VERSION >= 14
    same("entry frames", layout->entry, FRAME_OWNED_BY_INTERPRETER);
    same("tags", layout->tags, Py_TAG_BITS);
#        else
    same("entry frames", layout->entry, FRAME_OWNED_BY_CSTACK);
#        endif
    same("JUMP_BACKWARD", layout->jump_back, JUMP_BACKWARD);
    same("EXTENDED_ARG", layout->extended_arg, EXTENDED_ARG);
#    endif
#    if PY_MINOR_VERSION >= 13
    SAME(code, struct _PyInterpreterFrame, f_executable);
    SAME(instruction, struct _PyInterpreterFrame, instr_ptr);
    SAME(current, PyThreadState, current_frame);
#    else
    SAME(code, struct _PyInterpreterFrame, f_code);
    SAME(instruction, struct _PyInterpreterFrame, prev_instr);
    SAME(current, PyThreadState, cframe);
    SAME(indirect, _PyCFrame, current_frame);
#    endif
#else
#    if PY_MINOR_VERSION == 10
    SAME(table, PyCodeObject, co_linetable);
#    else
    SAME(table, PyCodeObject, co_lnotab);
#    endif
    SAME(current, PyThreadState, frame);
    SAME(previous, PyFrameObject, f_back);
    SAME(code, PyFrameObject, f_code);
    SAME(instruction, PyFrameObject, f_lasti);
#endif
    return wrong != 0;
}
"""


@case
def layouts_are_those_of_the_headers():
    root, checked = os.path.join(HERE, "..", ".."), 0
    for (_, minor), python in FOUND.items():
        include = subprocess.run([python, "-c", "import sysconfig;"
                                  "print(sysconfig.get_paths()['include'])"],
                                 capture_output=True, text=True).stdout.strip()
        internal = os.path.join(include, "internal", "pycore_frame.h")
        if not os.path.exists(internal if minor >= 11 else os.path.join(include, "Python.h")):
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "layout")
            with open(program + ".c", "w") as file:
                file.write(CHECK)
            done = subprocess.run(["cc", "-w", "-I", root, "-I", include, "-I", include + "/internal",
                                   "-I", os.path.dirname(include), program + ".c", "-o", program,
                                   "-Wl,--unresolved-symbols=ignore-all"],
                                  capture_output=True, text=True)
            check(done.returncode == 0, done.stderr[-2000:])
            done = subprocess.run([program], capture_output=True, text=True)
            check(done.returncode == 0, "3.%d: %s" % (minor, done.stdout))
            checked += 1
    if not checked:
        raise Skip("no headers of Python from 3.8 to 3.15")


if __name__ == "__main__":
    main()
