# SPDX-License-Identifier: MIT
"""Stacks through hooked functions, callbacks, exceptions in flight, coroutines, signal handlers and
deep recursion are right, or marked as truncated; never wrong."""
import os

from harness import case, check, equal, main
from harness.samples import EXACT, SIGNAL, is_chain, sampled

LIMIT = 512  # frames of one stack that are kept
START = ["main", "_start"]

# mode: what was called by what, from the leaf outwards
CHAINS = {
    "hooked": ["s_spin", "s_innermost", "work_nest", "ledger:work_nest", "work_nest",
               "ledger:work_nest", "work_nest", "ledger:work_nest", "s_callback", "work_call",
               "ledger:work_call", "s_hooked"] + START,
    "loop": ["s_loop"] + START,
    "sort": ["s_spin", "s_compare", "qsort_r", "s_sort"] + START,
    "unwinding": ["s_spin", "s_throw", "work_call", "ledger:work_call", "s_between",
                  "s_unwinding"] + START,
    "catching": ["s_spin", "s_catching"] + START,
    "coroutine": ["s_spin", "s_innermost", "s_coroutine"],
    "handler": ["s_spin", "s_handler", "raise", "s_raise"] + START,
    "handler_stack": ["s_spin", "s_handler", "raise", "s_raise"] + START,
    "thread": ["s_spin", "s_thread"],
}
ALIASES = {"gsignal": "raise", "__GI_raise": "raise", "__GI___qsort_r": "qsort_r"}


def names_of(stack):
    return [ALIASES.get(name, name) for name in stack.names]


def program_stacks(samples):
    """Those of the subject's own functions; the rest is the start and end of the program."""
    return [s for s in samples.stacks if any(name.startswith("s_") for name in s.names)]


def check_chain(mode):
    run, samples = sampled([subject_path(), mode, "0.4"])
    stacks = program_stacks(samples)
    count = sum(stack.count for stack in stacks)
    check(count >= 10, "only %d samples: %s" % (count, samples.files))
    whole = deep = 0
    for stack in stacks:
        names = names_of(stack)
        own = [n for n in names if n.startswith("s_")]
        strange = [n for n in own if n not in CHAINS[mode]]
        check(not strange, "%s does not belong here: %s" % (strange, stack))
        if stack.truncated is None:
            # Most are at the leaf, others on the way there, or back.
            chain = CHAINS[mode][CHAINS[mode].index(own[0]):]
            check(is_chain(names, chain), "wrong: %s" % stack)
            whole += stack.count
        deep += stack.count if own[0] == CHAINS[mode][0] else 0
    check(whole >= 0.9 * count, "%d of %d stacks are whole" % (whole, count))
    check(deep >= 0.8 * count, "%d of %d stacks are at the leaf" % (deep, count))
    return samples, stacks


def subject_path():
    path = os.path.join(os.environ["SAMPLE_BIN"], "sample_stacks")
    check(os.path.exists(path), "%s was not built" % path)
    return path


for mode_name in CHAINS:
    def go(mode=mode_name):
        check_chain(mode)
    go.__name__ = mode_name
    case(go)


@case
def signal_frames_are_marked():
    _, stacks = check_chain("handler")
    for stack in stacks:
        if "s_handler" not in stack.names:
            continue  # within raise, before the kernel has called it
        marked = [i for i, frame in enumerate(stack.frames) if frame["flags"] & SIGNAL]
        equal("interrupted frames", len(marked), 1)
        check(stack.frames[marked[0]]["flags"] & EXACT, "not exact: %s" % stack)
        equal("called by the kernel", names_of(stack)[marked[0] - 1], "s_handler")


@case
def samples_know_their_node():
    _, stacks = check_chain("hooked")
    for stack in stacks:
        if stack.names[0] == "s_spin":
            equal("node", stack.node, "work_nest")


@case
def deep_recursion_is_truncated():
    _, samples = sampled([subject_path(), "deep", "0.4"])
    stacks = samples.having("s_spin")
    check(sum(stack.count for stack in stacks) >= 10, "too few samples")
    for stack in stacks:
        equal("truncated", stack.truncated, "depth")
        equal("frames", len(stack.frames), LIMIT + 1)
        inner = stack.names[stack.names.index("s_spin") + 1:-1]
        equal("callers", set(inner), {"s_recurse"})
    check(samples.total("dropped_full") == 0, "recursion filled the tables")


@case
def unknown_code_truncates():
    _, samples = sampled([subject_path(), "bare", "0.4"])
    stacks = samples.having("s_spin")
    check(sum(stack.count for stack in stacks) >= 10, "too few samples")
    for stack in stacks:
        equal("truncated", stack.truncated, "walk")
        equal("what is known", stack.names[stack.names.index("s_spin"):],
              ["s_spin", "s_bare", "truncated:walk"])


if __name__ == "__main__":
    main()
