# SPDX-License-Identifier: MIT
"""A costly line is planted in a DSL function: the first advice names its file and line, why it is
costly, and what the run takes less without it. The truth is the same program without that line, run
in turn with it. Which line it is, is a fact and must be right in every run; only the time may be
tried again."""
import json
import os
import re
import statistics
import subprocess

from harness import (BIN, CMD, PYTHON, base_env, case, check, check_time, equal, main, need_quiet,
                     new_dir, timed)

SUBJECTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "subjects",
                        "causes")
PYTHON = os.environ.get("CAUSES_PYTHON", PYTHON)
PAIRS = 5
NEAR = 0.1


def calm():
    """Real-time priority where that is allowed: neighbours would make runs incomparable."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    except OSError:
        pass


def planted_lines(path):
    with open(path) as f:
        return [i for i, text in enumerate(f, 1) if "planted" in text]


def without(text):
    """The source with nothing where the planted lines were."""
    return re.sub(r"^( *)\S.*# planted$", r"\1pass", text, flags=re.M)


def python_pair(name):
    """Directories of the module with and without its planted lines."""
    directory = new_dir()
    source = os.path.join(SUBJECTS, name + ".py")
    with open(source) as f:
        text = f.read()
    for kind, content in (("with", text), ("without", without(text))):
        os.mkdir(os.path.join(directory, kind))
        with open(os.path.join(directory, kind, "dsl.py"), "w") as f:
            f.write(content)
    command = [PYTHON, "-B", os.path.join(SUBJECTS, "pipeline.py")]
    return source, [(os.path.join(directory, kind), command) for kind in ("with", "without")]


def native_pair(name):
    programs = [os.path.join(BIN, "native_" + name + end) for end in ("", "_without")]
    return os.path.join(SUBJECTS, name + ".c"), [(new_dir(), [program]) for program in programs]


def seconds(where, command):
    """CPU time: the programs do nothing but compute."""
    process = subprocess.Popen(command, cwd=where, stdout=subprocess.DEVNULL, env=base_env(),
                               preexec_fn=calm)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    equal("status of %s" % command, status, 0)
    return usage.ru_utime + usage.ru_stime


def profile(where, command, setup=calm):
    subprocess.run([CMD, "run", "-q", "--rate", "1000", "--"] + command, cwd=where, check=True,
                   stdout=subprocess.DEVNULL, env=base_env(), preexec_fn=setup, timeout=60)
    return report_of(where)


def report_of(where):
    done = subprocess.run([CMD, "report", "--json"], cwd=where, check=True, env=base_env(),
                          stdout=subprocess.PIPE, timeout=60)
    return json.loads(done.stdout)


def program(report):
    """Seconds of the run without the profiler's own: with its time bare it tells how much slower
    the machine was for one of the two."""
    return report["wall_s"] - report["overhead_wall_s"]


def check_facts(report, source, cause):
    """The first advice is about the planted line, and no other has its time once more."""
    rows = [row for row in report["advice"] if row["level"] != "warning"]
    check(rows, "no advice")
    first, lines = rows[0], planted_lines(source)
    equal("cause of %r" % first["what"], first.get("cause"), cause)
    check(first["line"] in lines, "line %d, planted: %s" % (first["line"], lines))
    for line in lines[:3]:
        check(":%d" % line in first["what"], "line %d is not in %r" % (line, first["what"]))
    for row in rows:
        check("GPU" not in row["why"], "a candidate as a whole: %r" % row)
        check("twice as fast" not in row["why"], "its time once more: %r" % row)
    for candidate in report["candidates"]["list"]:
        if candidate["name"] == first["function"] and first["share_pct"] > 50:
            equal("verdict of " + candidate["name"], candidate["verdict"], "line")
    return first["saves_s"]


class Savings:
    """What was promised and what is saved, as parts of the run. Neighbours can only add to a CPU
    time: the least of several is the program's own. Chance sets the parts of the samples off to both
    sides: the median counts."""

    def __init__(self, what):
        self.what, self.took, self.left, self.promised = what, [], [], []

    def measure(self, one, other):
        """The run as it is and without what is planted: (directory, command) each."""
        self.took.append(seconds(*one))
        self.left.append(seconds(*other))

    def promise(self, report, saves_s):
        self.promised.append(saves_s / program(report))

    def judge(self):
        saved, promised = 1 - min(self.left) / min(self.took), statistics.median(self.promised)
        words = "%s: %.3f promised, %.3f saved; promised %s; CPU time with %s, without %s" % (
            self.what, promised, saved, *(" ".join("%.3f" % value for value in values)
                                          for values in (self.promised, self.took, self.left)))
        print("   " + words)
        check_time(abs(promised - saved) <= NEAR * saved, words)


def judge(source, pair, cause, rounds):
    one, other = [(where, command + [rounds]) for where, command in pair]
    savings = Savings(cause)
    for _ in range(PAIRS):
        savings.measure(one, other)
        report = profile(*one)
        savings.promise(report, check_facts(report, source, cause))
    savings.judge()


def planted(make, name, cause, rounds):
    def go():
        judge(*make(name), cause, str(rounds))
    go.__name__ = name
    timed(go)


planted(python_pair, "message", "message", 12000)
planted(python_pair, "sort", "sort", 12000)
planted(python_pair, "exception", "exception", 9000)
planted(python_pair, "regex", "regex", 9000)
planted(python_pair, "deepcopy", "deepcopy", 12000)
planted(python_pair, "text", "string building", 16000)
planted(native_pair, "memset", "memset", 150000)
planted(native_pair, "strlen", "strlen", 8000)
planted(python_pair, "hints", "type hints", 20000)


@case
def freeing_is_named():
    """What a function's locals held is freed after its end, in the time of its caller."""
    _, pair = python_pair("free")
    where, command = pair[0]
    report = profile(where, command + ["250"])
    found = [row for row in report["advice"] if row.get("cause") == "freeing"]
    check(found, "not in %s" % [row["what"] for row in report["advice"]])
    equal("file", os.path.basename(found[0]["file"]), "pipeline.py")
    with open(os.path.join(SUBJECTS, "pipeline.py")) as f:
        text = f.read().splitlines()[found[0]["line"] - 1]
    check("dsl.shift(" in text, "line %d: %s" % (found[0]["line"], text))
    check("made by dsl.shift," in found[0]["what"], found[0]["what"])


def habit_judge():
    command = [PYTHON, "-B", os.path.join(SUBJECTS, "habit.py")]
    where, bare = new_dir(), new_dir()
    seconds(where, command + ["write"])
    seconds(bare, command + ["write", "bare"])
    savings = Savings("habit")
    command.append("5000")
    for _ in range(PAIRS):
        savings.measure((where, command), (bare, command))
        report = profile(where, command)
        first = next(row for row in report["advice"] if row["level"] != "warning")
        equal("cause", first.get("cause"), "message")
        lines = int(re.search(r"on (?:at least )?(\d+) lines", first["what"]).group(1))
        check(lines <= 40, first["what"])
        check_time(lines >= 36, first["what"])  # each was sampled
        others = [row["what"] for row in report["advice"] if row.get("cause") == "message"]
        equal("advice on messages", len(others), 1)
        savings.promise(report, first["saves_s"])
    savings.judge()


@timed
def a_habit_is_one_advice():
    """Forty small lines of forty functions: one advice says how many, and what all of them take."""
    habit_judge()


@case
def wanted_messages_are_no_advice():
    """A line with two samples, both while its text was built, is one like the others."""
    command = [PYTHON, "-B", os.path.join(SUBJECTS, "habit.py")]
    where = new_dir()
    seconds(where, command + ["write"])
    rows = profile(where, command + ["600", "wanted"])["advice"]
    found = [row["what"] for row in rows if row.get("cause") == "message"]
    equal("advice on messages", found, [])


@case
def needed_sorts_are_no_advice():
    """A loop over sorted(…) sorts once; what is made in a loop is something else in each round."""
    _, pair = python_pair("needed")
    where, command = pair[0]
    report = profile(where, command + ["3000"])
    found = [row["what"] for row in report["advice"] if row.get("cause") == "sort"]
    equal("advice on sorts", found, [])
    found = {row["name"]: row for row in report["candidates"]["list"]}
    row = found["dsl.tally"]
    equal("verdict of a function that is one line", row["verdict"], "line")
    equal("its line", (os.path.basename(row["file"]), row["line"]), ("dsl.py", 20))
    check(all("GPU" not in row["why"] or "not for a GPU as a whole" in row["why"]
              for row in report["advice"]), report["advice"])


@timed
def imports_of_restarted_workers():
    """Imports within tasks are what a pool saves that keeps its workers."""
    command = [PYTHON, "-B", os.path.join(SUBJECTS, "restart.py")]
    report = profile(new_dir(), command + ["1"], setup=None)
    first = next(row for row in report["advice"] if row["level"] != "warning")
    need_quiet("each imports its modules again" in first["what"], first["what"])
    group = next(row for row in report["groups"] if row["name"] == "module import")
    check_time(first["saves_s"] > 0.7 * group["wall_s"], "%s of %s" % (first["saves_s"], group["wall_s"]))
    rows = profile(new_dir(), command + ["0"], setup=None)["advice"]
    check(all("processes were started" not in row["what"] for row in rows), rows)


@case
def a_changed_source_is_not_read():
    """What a file says now is not what ran: no cause is taken from it."""
    source, pair = python_pair("message")
    where, command = pair[0]
    profile(where, command + ["4000"])
    with open(os.path.join(where, "dsl.py"), "a") as f:
        f.write("\n")
    rows = report_of(where)["advice"]
    first = next(row for row in rows if row["level"] != "warning")
    check(first["line"] in planted_lines(source), first["what"])


main()
