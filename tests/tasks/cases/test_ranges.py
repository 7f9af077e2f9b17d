# SPDX-License-Identifier: MIT
"""Tasks and phases that programs announce: battprof.h and NVTX."""
from harness import PYTHON, case, check, equal, execute, main, subject
from harness.tasks import (API, DETAILED, ELSEWHERE, FAILED, NVTX, PHASE, UNFINISHED, calls, check_sums,
                   profiles, record)


def both(function):
    for name in ("task_ranges", "task_ranges_cc"):
        def go(name=name):
            function(name)
        go.__name__ = "%s (%s)" % (function.__name__, name)
        case(go)


@both
def announced(name):
    profile, = record([name])
    check_sums(profile)
    tasks = [t for t in profile["tasks"] if not t["flags"] & PHASE]
    equal("ids", [t["id"] for t in tasks], ["task %d" % i for i in range(4)] + [""])
    for i, task in enumerate(tasks[:4]):
        equal("flags", task["flags"], API | DETAILED | (FAILED if i == 2 else 0))
        equal("samples", task["samples"], i)
        want = {"dsl_work": 1, "dsl_step": i, "dsl_leaf": 2 * i + 1}
        equal("calls", calls(task), {k: v for k, v in want.items() if v})
    phases = [t for t in profile["tasks"] if t["flags"] & PHASE]
    equal("phases", [t["name"] for t in phases], ["loading"] + ["inner"] * 4)
    equal("calls", calls(phases[0]), {"dsl_work": 1, "dsl_step": 2, "dsl_leaf": 4})
    check(all(profile["tasks"][t["parent"]] in tasks for t in phases[1:]), "inner phases")


@both
def left_open(name):
    profile, = record([name, "open"])
    task, phase = profile["tasks"][-2:]
    equal("task", (task["id"], task["flags"]), ("left open", API | UNFINISHED | DETAILED))
    equal("phase", (phase["name"], phase["flags"]),
          ("left open, too", API | PHASE | UNFINISHED | DETAILED))
    check(task["length"] > 0.006, "length %.6f" % task["length"])
    profile, = record([name, "deep"])
    equal("too deep", profile["tasks_lost"], 40 - 32)


@both
def without_the_profiler(name):
    run = execute([subject(name)], False)
    equal("output", (run.status, run.stdout), (0, b"ok\n"))


@case
def nvtx():
    env = {"NVTX_INJECTION64_PATH": None}
    run = execute([subject("task_nvtx")], True, how="run",
                  env=dict(env, BATTPROF_TASKS="task=nvtx:task *;phase=data loading=nvtx:load*"))
    equal("output", (run.status, run.stdout), (0, b"ok\n"))
    profile, = profiles(run)
    tasks = {t["id"]: t for t in profile["tasks"] if not t["flags"] & PHASE}
    equal("tasks", sorted(tasks), ["task a", "task elsewhere", "task ex", "task first",
                                   "task registered", "task second"])
    equal("calls", calls(tasks["task a"]), {"dsl_work": 2, "dsl_step": 4, "dsl_leaf": 8})
    for name in ("task first", "task second"):
        equal("calls", calls(tasks[name]), {"dsl_work": 1, "dsl_step": 1, "dsl_leaf": 2})
    equal("flags", tasks["task a"]["flags"], NVTX | DETAILED)
    equal("ended elsewhere", tasks["task elsewhere"]["flags"], NVTX | ELSEWHERE)
    equal("phases", [t["name"] for t in profile["tasks"] if t["flags"] & PHASE],
          ["data loading", "inner", "other domain"])
    check(all(t["flags"] & (UNFINISHED | FAILED) == 0 for t in profile["tasks"]), "all ended")


@case
def nvtx_before_version_3():
    bare = execute([subject("task_nvtx_old")], False)
    run = execute([subject("task_nvtx_old")], True, env={"BATTPROF_TASKS": "task=nvtx:task *"})
    equal("what the library answers", (run.status, run.stdout), (0, bare.stdout))
    profile, = profiles(run)
    check_sums(profile)
    equal("ranges", [(t["id"] or t["name"], t["flags"]) for t in profile["tasks"]],
          [("loading", NVTX | PHASE | DETAILED)] +
          [what for i in range(3) for what in (("task %d" % i, NVTX | DETAILED),
                                               ("inner", NVTX | PHASE | DETAILED))])
    for i, task in enumerate(t for t in profile["tasks"] if not t["flags"] & PHASE):
        want = {"dsl_work": 1, "dsl_step": i, "dsl_leaf": 2 * i + 1}
        equal("calls", calls(task), {k: v for k, v in want.items() if v})


FROM_PYTHON = """
import ctypes
profiler = ctypes.CDLL(None)
announced = hasattr(profiler, "libbattprof_task_begin")
for k in range(3 if announced else 0):
    profiler.libbattprof_task_begin(b"task %d" % k)
    profiler.libbattprof_phase_begin(b"inner")
    profiler.libbattprof_sample()
    profiler.libbattprof_phase_end()
    profiler.libbattprof_task_end(k == 1)
print(announced)
"""


@case
def announced_from_python():
    equal("bare", execute([PYTHON, "-c", FROM_PYTHON], False).stdout, b"False\n")
    run = execute([PYTHON, "-c", FROM_PYTHON], True)
    equal("output", (run.status, run.stdout), (0, b"True\n"))
    profile, = profiles(run)
    equal("ranges", [(t["id"] or t["name"], t["flags"] & ~DETAILED, t["samples"])
                     for t in profile["tasks"] if not t["flags"] & PHASE],
          [("task %d" % k, API | (FAILED if k == 1 else 0), 1) for k in range(3)])
    equal("phases", [t["name"] for t in profile["tasks"] if t["flags"] & PHASE], ["inner"] * 3)


main()
