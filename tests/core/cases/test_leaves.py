# SPDX-License-Identifier: MIT
"""Functions that make no hooked call, until they do: stubs jump to counted calls of such leaves, and
what comes from within one, or leaves it, is recorded all the same.

Each mode of the subject is run with stubs that jump as soon as they may, and by default with so
many calls of the leaf first that it is judged to be short and a leaf.
"""
from harness import *

EAGER = {"BATTPROF_EXACT": "j"}
EARLY, LATE = 2000, 20000  # calls of the leaf: eager, and by default
WAYS = (("eager", EAGER, EARLY), ("judged", {}, LATE))
LEAVES = ("leaf_plain", "leaf_direct", "leaf_helper", "leaf_deep", "leaf_throw", "leaf_tail",
          "leaf_call", "leaf_busy")
MOST = 0.5  # part of the calls that is not timed


def asked(count):
    """Calls of the leaf in which it does what a leaf does not, see leaf_main.cc."""
    return sum(i >= count - count // 4 and i % (count // 16) == 0 for i in range(count))


def edges(run):
    """{(caller, callee): calls}; the caller of what the program calls is None."""
    done = subprocess.run([CMD, "export", "-f", "folded", "--weight", "calls", "-o", "-",
                           run.profile], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=HANGS_S, env=base_env())
    equal("status of export", done.returncode, 0)
    found = {}
    for line in done.stdout.decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        names = [name.split("(")[0] for name in stack.split(";")][1:]
        if names:
            edge = (names[-2] if len(names) > 1 else None, names[-1])
            found[edge] = found.get(edge, 0) + int(count)
    return found


def check_untimed(report, eager):
    """Else the test says nothing. Whether a call is short is a time, whether it is counted is not."""
    made = sum(calls(report, name) for name in LEAVES)
    untimed = sum(row.get("untimed", 0) for name in LEAVES for row in rows(report, name))
    say = check if eager else check_time
    say(untimed > MOST * made, "of %d calls of leaves %d are untimed" % (made, untimed))


def check_sums(report):
    self_s = sum(f["self_s"] for f in report["functions"])
    sums_to("self times and overhead", self_s + report["overhead_s"], report["thread_s"], 1e-6)


def run_leaf(mode, env, count, **options):
    run = pair([subject("e2e_leaf"), mode, str(count)], env=env, expect=0)
    report = same_counts(run, **options)
    check_untimed(report, env is EAGER)
    return run, report


def leaf_case(mode, want=None, more=None, ways=WAYS, sums=True, **options):
    """A case for each way; `want(times)` are edges: callers and calls of what a leaf calls."""
    for name, env, count in ways:
        def go(env=env, count=count):
            run, report = run_leaf(mode, env, count, **options)
            if sums:
                check_sums(report)
            found = edges(run)
            for (caller, callee), made in (want(asked(count)) if want else {}).items():
                equal("calls of %s from %s" % (callee, caller), found.get((caller, callee), 0), made)
            if more:
                more(run, report, count)
        go.__name__ = "%s_%s" % (mode, name)
        timed(go)


leaf_case("direct", lambda n: {("leaf_direct", "work_add"): n, (None, "work_add"): 0})
leaf_case("helper", lambda n: {("leaf_helper", "work_add"): n, ("leaf_helper", "work_sub"): n})
leaf_case("deep", lambda n: {("leaf_deep", "work_add"): n})
leaf_case("callback", lambda n: {("leaf_call", "work_add"): n, ("leaf_call", "work_sub"): n,
                                 ("leaf_call", "leaf_plain"): n})
leaf_case("recursive")
leaf_case("nested")
for way in ("throws", "throws_later", "throws_in_hooked", "throws_after_call", "throws_past_guards",
            "caught_in_leaf"):
    leaf_case(way)
for way in "jumps", "jumps_after_call":
    leaf_case(way)
for way in "raised", "raised_alternate", "left_by_signal":
    leaf_case(way)
for way in "signals", "signals_alternate":  # at any instruction, where a sum may be half made
    leaf_case(way, sums=False)
leaf_case("dispatch", lambda n: {("leaf_direct", "work_add"): 1, ("leaf_helper", "work_add"): 1,
                                 ("leaf_deep", "work_add"): 1})
# A function that is jumped to at its first call, before anything is known of it, may end in a call.
leaf_case("wrap", lambda n: {(None, "leaf_plain"): 0}, ways=WAYS[1:])
leaf_case("wrap", ways=WAYS[:1])
leaf_case("tail")
for way in "coroutine", "suspended", "threads":
    leaf_case(way)


def counted_once(run, report, count):
    """Its frame returns in two processes, or its program was replaced: no call was aborted. The last
    one has made a call and returned, and no stub came after it."""
    entered = run.counts()["libdslleaf.so", "leaf_call"][0]
    equal("calls of leaf_call", calls(report, "leaf_call") + in_flight(report, "leaf_call"), entered)
    equal("aborted calls of leaf_call", aborted(report, "leaf_call"), 0)


for way in "forks", "forks_and_calls", "execs":
    leaf_case(way, more=counted_once, ignore=("leaf_call",))


def none_open(run, report, count):
    equal("calls of leaf_call in flight", in_flight(report, "leaf_call"), 0)


leaf_case("ended", more=none_open)


def own_time(run, report, count):
    row = rows(report, "leaf_busy")[0]
    close_to("self time of leaf_busy", row["self_s"], 0.3, 0.1, 0.01)


leaf_case("busy", more=own_time)


@case
def killed():
    for _, env, count in WAYS:
        run = pair([subject("e2e_leaf"), "killed", str(count)], env=env, expect=-signal.SIGKILL)
        report = run.report()
        for (_, name), (entered, _) in run.counts().items():
            got = calls(report, name) + in_flight(report, name)
            check(abs(got - entered) <= 1, "%s: %d calls, want %d" % (name, got, entered))


@case
def paused():
    """What was not recorded is known: all of leaf_helper, and a work_sub in a leaf."""
    for _, env, count in WAYS:
        run = pair([subject("e2e_leaf"), "pauses", str(count)], env=env, expect=0)
        report = run.report()
        equal("calls of leaf_plain", calls(report, "leaf_plain"), 3 * count)
        equal("calls of leaf_helper", calls(report, "leaf_helper"), 0)
        equal("calls of work_sub", calls(report, "work_sub"), 0)
        equal("calls of work_add", calls(report, "work_add"), 1)
        got = calls(report, "leaf_call") + in_flight(report, "leaf_call")
        equal("calls of leaf_call", got, 3 * count + 1)


PYTHON_PROGRAM = """
import ctypes
import tasks
lib = ctypes.CDLL(%r)
back = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
call = back(lambda _: tasks.called())
none = back()
for i in range(%d):
    lib.leaf_call(call if i == %d else none, None)
    lib.leaf_plain(0)
print("done")
"""
PYTHON_DSL = """
def called():
    return 1
"""


@case
def python_called_back():
    for _, env, count in WAYS:
        directory = new_dir()
        for name, text in (("tasks.py", PYTHON_DSL), ("program.py", PYTHON_PROGRAM % (
                subject("libdslleaf.so"), count, count - 10))):
            with open(os.path.join(directory, name), "w") as f:
                f.write(text)
        program = os.path.join(directory, "program.py")
        run = pair([PYTHON, program], env=dict(env, BATTPROF_DSL="tasks,libdslleaf.so"), expect=0)
        report = same_counts(run)
        equal("calls of called", sum(row["calls"] for row in report["functions"]
                                     if row["name"].endswith("called")), 1)
        found = {edge: n for edge, n in edges(run).items() if edge[1].endswith("called")}
        equal("callers of called", [(caller, n) for (caller, _), n in found.items()],
              [("leaf_call", 1)])

main()
