# SPDX-License-Identifier: MIT
"""Lines of functions and what the interpreter was doing there: ten lines with 1 to 40 % of a
function's time, in Python and native, and functions whose work has a name. A longer run, with
SAMPLE_SECONDS=10, has more samples, and its shares are nearer to the truth."""
import glob
import os
import shutil
import subprocess

from harness import pythons
from harness import CMD, Skip, base_env, case, check, check_time, execute, main, new_dir, timed
from harness.samples import check_share

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAIN = os.path.join(HERE, "subjects", "lines", "main.py")
DSL = os.path.join(HERE, "subjects", "lines", "dsl.py")
NATIVE = os.path.join(HERE, "subjects", "lines.c")
SECONDS = os.environ.get("SAMPLE_SECONDS", "2")
PYTHONS = list(pythons.find().items())
with open(DSL) as text:
    FIRST = next(i for i, line in enumerate(text, 1) if "sum(range(units))" in line)


def profile(argv, **env):
    run = execute(argv, True, env=dict(env, BATTPROF_SAMPLE="1000"), timeout=120)
    check(run.status == 0, "status %s: %s" % (run.status, run.stderr[-400:]))
    return run, run.report()


def text_of(run, *options, **env):
    return subprocess.run([CMD, "report", *options, run.profile], capture_output=True, text=True,
                          env=dict(base_env(), LANG="C.UTF-8", **env), check=True).stdout


def function_of(report, name):
    found = [f for f in report["functions"] + report["sampled"] if f["name"] == name]
    check(len(found) == 1, "%s is there %d times" % (name, len(found)))
    return found[0]


def source_of(path, line):
    with open(path) as file:
        return file.read().splitlines()[line - 1].strip()


def check_shares(function, truth, path):
    """Self times of lines against {line: percent}; they sum to the exact time of the function."""
    lines = {row["line"]: row for row in function["lines"]}
    samples = sum(row["self_samples"] for row in lines.values())
    total = sum(lines[line]["self_s"] for line in truth if line in lines)
    check(len(truth) == 10, "ten lines: %s" % truth)
    for line, share in truth.items():
        row = lines.get(line, {"self_s": 0, "self_error_s": 0})
        got = 100 * row["self_s"] / total
        print("     line %3d %5.1f +- %.1f %%, %5.1f %% true" % (
            line, got, 100 * row["self_error_s"] / total, share))
        check_share("line %d" % line, got, share, samples)
        if line not in lines:
            continue  # not sampled: a matter of chance
        check(row["source"] == source_of(path, line), "line %d is %r" % (line, row["source"]))
        check(row["self_error_s"] > 0, "line %d has no error" % line)
    print("     %d samples" % samples)


def python_shares(python):
    run, report = profile([python, MAIN, "ten", SECONDS])
    shares = [float(line) for line in run.stdout.decode().split()]
    ten = function_of(report, "dsl.ten")
    check_shares(ten, {FIRST + i: share for i, share in enumerate(shares)}, DSL)
    sums = sum(row["self_s"] for row in ten["lines"])
    check_time(abs(sums - ten["self_s"]) < 0.05 * ten["self_s"], "lines sum to %.3f s, the function "
               "has %.3f" % (sums, ten["self_s"]))
    check_time(ten["doing"][0]["name"] == "sum()" and ten["doing"][0]["pct"] > 80,
               "doing %s" % ten["doing"][:3])


@timed
def native_shares():
    run, report = profile([os.path.join(os.environ["SAMPLE_BIN"], "sample_lines"), SECONDS])
    truth = {int(line.split()[0]): float(line.split()[1])
             for line in run.stdout.decode().splitlines()}
    check_shares(function_of(report, "ten"), truth, NATIVE)
    caller = function_of(report, "main")["lines"]
    row = max(caller, key=lambda line: line["total_s"])
    check(row["source"].startswith("ten(units)") and row["callee"] == "ten", "main's line is %s" % row)
    check_time(row["total_pct"] > 95, "main's line is %s" % row)


def check_width(table, columns):
    """Times end in one column; on a narrow page they stand below a text that is too long."""
    rows = [i for i, row in enumerate(table) if row.startswith(("  dsl.py:", "Lines"))]
    check(len(rows) > 1 and max(map(len, table)) <= columns, "%d: %s" % (columns, table))
    wide = len(table[rows[0]])
    for i in rows:
        below = table[i + 1] if columns < 80 else ""
        check(wide in (len(table[i]), len(below)), "%d: %r %r" % (columns, table[i], below))


def check_logged(python, **env):
    """The message that is built for nobody: its line is the first, and its time is named."""
    run, report = profile([python, MAIN, "index", "0.7"], **env)
    index = function_of(report, "dsl.index")
    line, doing = index["lines"][0], index["doing"][0]
    check(line["source"].startswith("logger.info(f"), "first: %s" % line)
    check_time(line["self_pct"] > 80, "first: %s" % line)
    check(doing["work"] == "building strings", "doing %s" % index["doing"])
    check_time(doing["pct"] > 60, "doing %s" % index["doing"])
    text = text_of(run)
    check("dsl.py:%d  logger.info(f\"ind" % line["line"] in text, text)
    check("% building strings" in text, text)
    for columns in (60, 80, 120):
        table = text_of(run, "--lines", "dsl.index", COLUMNS=str(columns))
        check_width(table.splitlines(), columns)
    check(line["self_s"] <= line["total_s"], "%s" % line)


def check_work(python, function, wanted, least):
    _, report = profile([python, MAIN, function, "0.5"])
    doing = function_of(report, "dsl." + function)["doing"]
    part = sum(row["pct"] for row in doing if row["name"] == wanted)
    check_time(part >= least, "%s: %s has %.0f %%: %s" % (function, wanted, part, doing[:4]))


def for_each(version, python):
    """Cases of one interpreter."""
    long = float(SECONDS) >= 10 or python in (PYTHONS[0][1], PYTHONS[-1][1])

    def shares():
        python_shares(python)

    def logged():
        check_logged(python)

    def words():
        check_work(python, "order", "sorted()", 80)
        check_work(python, "hashes", "hashing and comparing", 60)
        check_work(python, "collect", "garbage collection", 80)

    told = version < (3, 14)  # docs/limits.md: what the interpreter was doing
    for function in [shares] * (long and told) + [logged] + [words] * told:
        function.__name__ = "%s_%d_%d" % (function.__name__, *version)
        timed(function)


@timed
def stripped():
    """Exported functions alone still tell."""
    for _, python in PYTHONS:
        library = glob.glob(os.path.join(os.path.dirname(python), "..", "lib", "libpython3.*.so.1.0"))
        if not library or not shutil.which("strip"):
            continue
        directory = new_dir()
        copy = os.path.join(directory, os.path.basename(library[0]))
        subprocess.run(["strip", "-o", copy, os.path.realpath(library[0])], check=True)
        check_logged(python, LD_LIBRARY_PATH=directory)
        return
    raise Skip("no Python with a shared library")


@case
def changed_source():
    """Text of a file that was changed after the run would be wrong: the number stands alone."""
    directory = new_dir()
    for path in MAIN, DSL:
        shutil.copy(path, directory)
    run, report = profile([PYTHONS[0][1], os.path.join(directory, "main.py"), "index", "0.5"])
    row = function_of(report, "dsl.index")["lines"][0]
    check(row["source"].startswith("logger.info"), "source: %s" % row)
    with open(os.path.join(directory, "dsl.py"), "a") as file:
        file.write("\n")
    row = function_of(run.report(), "dsl.index")["lines"][0]
    check(row["source"] is None, "changed since: %s" % row)


for item in PYTHONS:
    for_each(*item)

if __name__ == "__main__":
    main()
