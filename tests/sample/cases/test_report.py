# SPDX-License-Identifier: MIT
"""What `report` makes of samples: known shares by function, and the pipelines that log every call of
the DSL, where logging must be the first line, with its true share and its callers."""
import collections
import os
import re
import subprocess

from harness import CMD, PYTHON, Skip, base_env, case, check, check_time, execute, main, timed
from harness.samples import check_share, slack

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUN_BATT = os.environ["RUN_BATT"]
TWIN = os.path.join(HERE, "..", "..", "dsl", "python", "run_batt.py")


def profile(argv, rate, **how):
    run = execute(argv, True, env={"BATTPROF_SAMPLE": str(rate)}, timeout=120, **how)
    check(run.status == 0, "status %s: %s" % (run.status, run.stderr[-400:]))
    return run, run.report()


def text_of(run, *options):
    return subprocess.run([CMD, "report", *options, run.profile], capture_output=True, text=True,
                          env=dict(base_env(), LANG="C.UTF-8"), check=True).stdout


def check_sum(report):
    """Samples divide the ledger, they add nothing to it."""
    groups = sum(group["self_s"] for group in report["groups"])
    ledger = sum(function["self_s"] for function in report["functions"])
    check(abs(groups - ledger) < 1e-6 * ledger, "groups %.6f, ledger %.6f" % (groups, ledger))
    for group in report["groups"]:
        parts = sum(part["self_s"] for part in group["functions"])
        check(abs(parts - group["self_s"]) < 1e-6 * ledger, "%s: parts %.6f" % (group, parts))


def check_shares(argv):
    run, report = profile(argv + ["4"], 1000)
    truth = {line.split()[0]: float(line.split()[1]) for line in run.stdout.decode().splitlines()}
    check(len(truth) == 10, "ten functions: %s" % truth)
    check_sum(report)
    found = {f["name"].split(".")[-1]: f for f in report["framework"]["functions"] if f["sampled"]}
    total = sum(found[name]["s"] for name in truth if name in found)
    samples = sum(found[name]["samples"] for name in truth if name in found)
    for name, share in truth.items():
        row = found.get(name, {"s": 0, "error_s": 0})
        got, error = 100 * row["s"] / total, 100 * row["error_s"] / total
        print("     %-9s %5.1f +- %.1f %%, %5.1f %% true" % (name, got, error, share))
        check_share(name, got, share, samples)
        if name not in found:
            continue  # not sampled: a matter of chance
        check(row["error_s"] > 0, "%s has no error" % name)
        said = "%s was called from %s" % (name, row["callers"])
        check(row["callers"][0]["name"].endswith("main"), said)
        check_time(row["callers"][0]["pct"] > 95, said)


@timed
def native_shares():
    check_shares([os.path.join(os.environ["SAMPLE_BIN"], "sample_shares")])


@timed
def python_shares():
    check_shares([PYTHON, os.path.join(HERE, "subjects", "shares.py")])


def check_logging(run, report, pattern, prefix):
    """The truth is what the same run has measured by hand: another one would meet another load."""
    truth = float(run.stderr.split()[-1])
    check_sum(report)
    lines = text_of(run).splitlines()
    first = lines[[line.startswith("Framework") for line in lines].index(True) + 1]
    check(first.startswith("  logging "), "the first line is %r" % first)
    group = report["groups"][0]
    check(group["name"] == "logging", "the largest group is %s" % group["name"])
    self_s = sum(g["self_s"] for g in report["groups"])
    share = 100 * group["self_s"] / self_s
    # By hand the profiler's own cost is measured with it; the report has taken that out.
    least = 100 * (truth / 100 * (self_s + report["overhead_s"]) - report["overhead_s"]) / self_s
    samples = sum(part["samples"] for g in report["groups"] for part in g["functions"])
    near = slack(truth, samples)
    print("     logging %.1f %% of %d samples, by hand %.1f to %.1f %%"
          % (share, samples, least, truth))
    check_time(least - near <= share <= truth + near,
               "logging: %.2f %%, by hand %.2f to %.2f" % (share, least, truth))
    with open(os.path.join(run.dir, "calls.log")) as log:
        calls = collections.Counter(re.findall(pattern, log.read(), re.M))
    callers = [caller["name"] for caller in group["callers"]]
    often = [prefix + name for name, count in calls.most_common(3)]
    caller = re.sub("^dsl_", "", callers[0])  # dsl_connect logs as connect
    check_time(caller in often, "called from %s; most lines are of %s" % (callers[:5], often))
    check_time(sum(caller["pct"] for caller in group["callers"]) > 98, "callers: %s" % group["callers"])


@timed
def native_logging():
    library = os.path.join(os.environ["SAMPLE_BIN"], "liblogtime.so")
    if not os.path.exists(library):
        raise Skip("liblogtime.so was not built: it is for x86-64")
    run, report = profile([RUN_BATT, "-c", "20", "--log=calls.log"], 1000, preload=[library])
    check_logging(run, report, r"DEBUG (\w+)\(", "")


@timed
def python_logging():
    subject = os.path.join(HERE, "subjects", "logged.py")
    run, report = profile([PYTHON, subject, TWIN, "-c", "40", "--log=calls.log"], 1000)
    check_logging(run, report, r"INFO (\w+)", "dsl.")
    proposal = report["framework"]["count"]
    check(proposal == "logging:*", "proposed to count %r" % proposal)


GARBAGE = """
import gc, time
keep = [[i] for i in range(300000)]
end = time.process_time() + 1
def interrupted():
    gc.collect()
while time.process_time() < end:
    interrupted()
"""


@timed
def garbage_collection():
    """Its rows are the collector's; the function that it interrupts is who called it: by CPU time, so
    that a busy machine does not leave it less than what the interpreter's end collects."""
    run, report = profile([PYTHON, "-c", GARBAGE], 1000)
    group = [g for g in report["groups"] if g["name"] == "garbage collection"]
    if not group and any(f["name"].endswith("(interpreter)") for f in report["framework"]["functions"]):
        raise Skip("the interpreter has no symbols")
    check(group, "groups: %s" % report["groups"])
    check_time(group[0]["self_s"] > 0.5 * report["wall_s"], "groups: %s" % report["groups"])
    check(group[0]["callers"][0]["name"].endswith("interrupted"), "%s" % group[0]["callers"])
    check(not any("interrupted" in f["name"] for f in group[0]["functions"]), "%s" % group[0])
    names = {f["name"] for f in group[0]["functions"]}
    strays = [f for f in report["framework"]["functions"] if f["name"] in names and
              f.get("group", "garbage collection") != "garbage collection"]
    check(not strays, "in another group: %s" % strays)


def transfer_text(argv):
    run = execute(argv, True, how="run", options=["-q", "--device", "sim:t4"], timeout=60)
    check(run.status == 0, "status %s: %s" % (run.status, run.stderr[-400:]))
    text = text_of(run, "--by", "transfer")
    wide = [line for line in text.splitlines() if len(line) > 80 and not line.startswith("next:")]
    check(not wide, "longer than 80 columns: %s" % wide)
    return run.report()["copy_sites"], text


def lines_with(path, pattern):
    with open(path) as file:
        return [number for number, line in enumerate(file, 1) if re.search(pattern, line)]


@case
def native_copies():
    """The report names the lines of gpu.c that call cudaMemcpy, each with its own direction."""
    sites, text = transfer_text([RUN_BATT, "-c", "5", "--gpu=naive"])
    source = os.path.join(HERE, "..", "..", "dsl", "gpu", "gpu.c")
    calls = {"h2d": lines_with(source, r"cudaMemcpy\(.*COPY_UP"),
             "d2h": lines_with(source, r"cudaMemcpy\(.*COPY_DOWN")}
    check(sorted(s["direction"] for s in sites) == ["d2h", "h2d"], "places: %s" % sites)
    for site in sites:
        step, lines = site["stack"][0], calls[site["direction"]]
        check(step["line"] in lines and step["file"].endswith("gpu.c"), "%s, not %s" % (step, lines))
        check("at gpu.c:%d run_" % step["line"] in text, "not in %s" % text)
        functions = [step["function"] for step in site["stack"]]
        check("batch_process_samples_gpu" in functions[1:3], "from %s" % functions)


@case
def python_copies():
    """File and line of Python functions, the innermost first."""
    subject = os.path.join(HERE, "subjects", "copies.py")
    sites, text = transfer_text([PYTHON, subject])
    inner = lines_with(subject, "# copy$")[0]
    for name, direction in (("upload", "h2d"), ("download", "d2h")):
        line = lines_with(subject, "# %s$" % name)[0]
        found = [s for s in sites if s["stack"][0]["line"] == inner and s["stack"][1]["line"] == line]
        check([s["direction"] for s in found] == [direction], "%s: %s" % (name, sites))
        check(re.search(r"from copies.py:%d \S*%s" % (line, name), text), "not in %s" % text)


if __name__ == "__main__":
    main()
