# SPDX-License-Identifier: MIT
"""Tasks that are calls of native functions: which ones, their ids, what happened in them."""
import signal

from harness import case, check, check_time, close_to, equal, execute, main, subject, timed
from harness.tasks import DETAILED, FAILED, UNFINISHED, calls, check_sums, ids, profiles, record


@case
def known_calls():
    profile, = record(["task_native", "plain"])
    equal("ids", ids(profile), ["task-%d" % i for i in range(20)])
    check_sums(profile)
    for i, task in enumerate(profile["tasks"]):
        want = {"batt": 1, "dsl_work": 1, "dsl_step": i, "dsl_leaf": 2 * i}
        equal("calls of " + task["id"], calls(task), {k: v for k, v in want.items() if v})
        equal("flags", task["flags"], DETAILED)
        check(task["length"] >= i * 2 * 100e-6, "task %d took %.6f" % (i, task["length"]))
    equal("phases", [(f["name"], f["phase"]) for f in profile["functions"] if f["phase"]],
          [("load_data", "data loading")])


@case
def tasks_and_the_rest_are_all():
    """What is in tasks and what is not sum to what the nodes have."""
    profile, = record(["task_native", "plain"])
    steps = sum(n["calls"] for t in profile["threads"] for n in t["nodes"] if n["func"] == "dsl_step")
    inside = sum(calls(task).get("dsl_step", 0) for task in profile["tasks"])
    equal("calls of dsl_step outside of tasks", steps - inside, 3)


@case
def a_task_in_a_task():
    profile, = record(["task_native", "nested"], "task=batt;task=check_batt;task=recurse")
    check_sums(profile)
    outer = [i for i, t in enumerate(profile["tasks"]) if t["func"] == "check_batt"]
    equal("outer tasks", len(outer), 4)
    for i in outer:
        inner = [t for t in profile["tasks"] if t["parent"] == i]
        equal("inner tasks", [t["func"] for t in inner], ["batt"] * 3)
        equal("calls", calls(profile["tasks"][i]),
              {"check_batt": 1, "batt": 3, "dsl_work": 3, "dsl_step": 3, "dsl_leaf": 7})
    deep = [t for t in profile["tasks"] if t["func"] == "recurse"]
    equal("a function that calls itself", [(t["id"], calls(t)) for t in deep],
          [("deep", {"recurse": 11, "dsl_leaf": 11})])


@case
def arguments():
    rules = "task=batt(1);task=solve_*(1);task=run_one(2)"
    profile, = record(["task_native", "ids"], rules)
    equal("ids", [i for i in ids(profile)[5:]], ["größe", "x" * 64, "4711", "second"])
    equal("text up to the end of memory", ids(profile)[0], "edge!")
    check(all(i.isdigit() for i in ids(profile)[1:5]), "no texts: %r" % ids(profile)[1:5])
    equal("no pointer", ids(profile)[2:4], ["0", "8"])
    profile, = record(["task_native", "ids"])  # our own rules guess, and only texts
    equal("guessed", ids(profile), ["edge!", "", "", "", "", "größe", "", "", ""])


@case
def our_own_rules():
    profile, = record(["task_native", "samples"])
    equal("tasks", [t["func"] for t in profile["tasks"] if t["parent"] < 0],
          ["batt"] * 5 + ["check_batt"] * 3)
    profile, = record(["task_native", "samples"], "task=none")
    equal("no tasks", profile["tasks"], [])
    profile, = record(["task_native", "samples"], "task=libother*:batt;sample=batt;task=check_batt")
    equal("samples", [(t["func"], t["samples"]) for t in profile["tasks"]],
          [("check_batt", 1), ("check_batt", 2), ("check_batt", 3)])
    profile, = record(["task_native", "samples"], "task=libpipe*:b[a-c]tt")
    equal("tasks of one library", len(profile["tasks"]), 5 + 1 + 2 + 3)


@case
def of_threads():
    profile, = record(["task_native", "threads"])
    check_sums(profile)
    equal("ids", sorted(ids(profile)), sorted("thread-%d-%d" % (t, i)
                                              for t in range(4) for i in range(5)))
    owners = {}
    for task in profile["tasks"]:
        owners.setdefault(task["thread"], set()).add(task["id"].rsplit("-", 1)[0])
        equal("calls", calls(task), {"batt": 1, "dsl_work": 1, "dsl_step": 2, "dsl_leaf": 4})
    check(all(len(names) == 1 for names in owners.values()), "threads: %r" % owners)


@case
def of_processes():
    found = record(["task_native", "processes"])
    equal("processes", len(found), 4)
    equal("tasks", sorted(len(p["tasks"]) for p in found), [2, 5, 5, 5])
    for profile in found:
        check_sums(profile)
    first = next(p for p in found if len(p["tasks"]) == 2)
    equal("the parent's", ids(first), ["before", "after"])


@case
def a_fork_in_a_task():
    found = record(["task_native", "fork"], "task=batt;task=unwind")
    equal("tasks", sorted(ids(p) for p in found), [["child"], ["forks"]])
    for profile in found:
        check_sums(profile)
        equal("flags", [t["flags"] for t in profile["tasks"]], [DETAILED])


@case
def left_without_a_return():
    rules = "task=batt;task=unwind"
    profile, = record(["task_native", "jumps"], rules)
    check_sums(profile)
    equal("failed", [(t["id"], t["flags"] & FAILED) for t in profile["tasks"]],
          [("good", 0), ("bad", FAILED), ("good too", 0)])
    profile, = record(["task_native", "thread_exit"], rules)
    equal("failed", [(t["id"], t["flags"] & FAILED) for t in profile["tasks"]], [("ended", FAILED)])
    profile, = record(["task_native", "exit"], rules, status=3)
    check_sums(profile)
    equal("unfinished", [(t["id"], t["flags"]) for t in profile["tasks"]],
          [("leaving", UNFINISHED | DETAILED)])


@case
def killed_in_a_task():
    profile, = record(["task_native", "kill"], "task=unwind;task=batt(2)", status=-signal.SIGKILL)
    profile["tasks"] = [t for t in profile["tasks"] if t["func"] == "unwind"]
    task, = profile["tasks"]
    equal("id", task["id"], "in flight")
    equal("flags", task["flags"], UNFINISHED | DETAILED)
    equal("calls", calls(task), {"batt": 1, "dsl_work": 1, "dsl_step": 1, "dsl_leaf": 3})
    check(task["length"] > 0.006, "it took %.6f" % task["length"])
    off = sum(n["self"] for n in task["nodes"]) - task["length"]
    check(abs(off) < 1e-7, "its nodes differ from its length by %.9f" % off)


@case
def in_a_signal_handler():
    profile, = record(["task_native", "handler"], "task=unwind;task=batt")
    check_sums(profile)
    equal("tasks", [(t["id"], t["parent"]) for t in profile["tasks"]],
          [("interrupted", -1), ("handler", 0)])


@case
def more_than_are_kept():
    profile, = record(["task_native", "many"])
    equal("kept", len(profile["tasks"]), 16384)
    fold, = profile["folds"]
    equal("folded", (fold["func"], fold["count"], fold["failed"]), ("batt", 20000 - 16384, 0))
    check(0 < fold["min"] <= fold["max"] and fold["total"] >= fold["count"] * fold["min"],
          "fold: %r" % fold)
    detailed = sum(bool(t["flags"] & DETAILED) for t in profile["tasks"])
    equal("with and without details", detailed + profile["tasks_plain"], 16384)


@timed
def lengths():
    run = execute([subject("task_native"), "plain"], True)
    profile, = profiles(run)
    wrong = []
    for task, text in list(zip(profile["tasks"], run.stdout.split()))[1:]:  # the first makes room
        if abs(task["length"] - float(text)) > 0.02 * float(text) + 100e-6:
            wrong.append("%s took %.6f, seen from outside %s" % (task["id"], task["length"], text))
        close_to("part of " + task["id"], task["part"], task["length"], 0.02, 30e-6)
        check_time(task["cpu"] < 1.02 * task["length"] + 30e-6, "cpu: %r" % task)
    # The thread may lose its CPU between our clock and the program's: of some tasks, not of most.
    check_time(len(wrong) <= 4, "; ".join(wrong))


@timed
def threads_that_take_turns():
    """Recording a task is not where a thread loses its CPU: what ran in tasks waited in tasks. Where
    it does lose it is left to chance; 60 % is as far from the four fifths as chance goes."""
    run = execute([subject("task_native"), "crowd"], True, env={"BATTPROF_TASKS": "task=unwind"})
    profile, = profiles(run)
    nodes = [node for thread in profile["threads"][1:] for node in thread["nodes"]]
    share = sum(n["self"] for n in nodes if n["func"] == "unwind") / sum(n["self"] for n in nodes)
    cpu = sum(task["cpu"] for task in profile["tasks"]) / float(run.stdout.split()[0])
    print("   in tasks: %.1f %% of the time, %.1f %% of the CPU time" % (100 * share, 100 * cpu))
    check_time(share > 0.6, "%.1f %% in tasks" % (100 * share))
    # What recording takes of the CPU time depends on the machine.
    check_time(0.6 < cpu < 0.88, "%.1f %% of the CPU time in tasks" % (100 * cpu))


@case
def which_part_of_a_run():
    profile, = record(["task_native", "samples"], "task=batt",
                      env={"SLURM_PROCID": "7", "WORLD_SIZE": "16", "RANKED": "no"})
    equal("variables", profile["variables"],
          {"SLURM_PROCID": "7", "WORLD_SIZE": "16", "BATTPROF_TASKS": "task=batt"})


main()
