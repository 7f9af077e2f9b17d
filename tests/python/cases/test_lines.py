# SPDX-License-Identifier: MIT
"""run --lines: the hits of every line equal those that the program counts itself in a run of its own,
and line_profiler's; times follow the work, and are line_profiler's where lines are long; forks, kills,
tracers of the program. Where line_profiler is not installed, BP_LINE_PROFILER may name a directory that
has it, {} for the version: /tmp/lp/python{}."""
import csv
import io
import json
import os
import shutil
import signal
import statistics
import subprocess

from harness import pythons

SUBJECTS = os.path.join(pythons.AREA, "subjects", "lines")


def lines_of(report, module="work"):
    """{"function": {line: row}}"""
    return {f["name"][len(module) + 1:]: {row["line"]: row for row in f["lines"] if row.get("exact")}
            for f in report["functions"]
            if f["name"].startswith(module + ".") and any(r.get("exact") for r in f.get("lines", ()))}


def hits_of(lines):
    return {name: {line: row["hits"] for line, row in rows.items() if row["hits"]}
            for name, rows in lines.items()}


def profile(python, arguments, patterns):
    options = [word for pattern in patterns for word in ("--lines", pattern)]
    done, output = pythons.profiled(python, arguments, SUBJECTS, options)
    report = pythons.report(output)
    shutil.rmtree(output)
    return done, report


def place_of_line_profiler(where):
    return os.environ.get("BP_LINE_PROFILER", ".").format(where)


def counted_by(python, how, place="."):
    done = pythons.bare(python, ["run.py", how, place], SUBJECTS)
    assert done.returncode == 0, done.stderr
    return {name: {int(line): hits for line, hits in rows.items()}
            for name, rows in json.loads(done.stdout).items()}


def differences(want, got):
    return ["%s: %r, not %r" % (name, got.get(name), want.get(name))
            for name in sorted(set(want) | set(got)) if want.get(name) != got.get(name)]


def check_hits(check, where, python):
    done, report = profile(python, ["run.py"], ["work:*"])
    check.that((done.returncode, done.stdout, done.stderr) == (0, b"", b""),
               "%s: %r" % (where, done.stderr))
    got = hits_of(lines_of(report))
    wrong = differences(counted_by(python, "itself"), got)
    check.that(not wrong, "%s: %s" % (where, "; ".join(wrong)))
    check.that(not [note for note in report["notes"] if "lines" in note], where + ": notes")
    place = place_of_line_profiler(where)
    if pythons.bare(python, ["run.py", "version", place], SUBJECTS).returncode != 0:
        print(where + ": skipped: no line_profiler")
        return
    compare(check, where, python, got, place)


def compare(check, where, python, got, place):
    """line_profiler 4.0 leaves hits out on 3.11, of loops the last one: it says 5 for range(5) where
    CPython's own trace function, and later versions of line_profiler, are called 6 times."""
    want = counted_by(python, "line_profiler", place)
    version = pythons.bare(python, ["run.py", "version", place], SUBJECTS).stdout.decode().strip()
    old = version.startswith(("3.", "4.0"))
    wrong = [line for line in differences(want, {name: got[name] for name in want}) if not old]
    wrong += ["%s:%d" % (name, line) for name, rows in want.items() for line, hits in rows.items()
              if got[name].get(line, 0) < hits]
    check.that(not wrong, "%s, line_profiler: %s" % (where, "; ".join(wrong)))
    print("%s: hits %s line_profiler %s's" % (where, "at least" if old else "equal", version))


def check_csv(check, where, python):
    """A row for each line, with the figures of the JSON; exact lines have hits and an error."""
    done, output = pythons.profiled(python, ["run.py"], SUBJECTS, ["--lines", "work:*"])
    text = subprocess.run([pythons.CMD, "report", "--lines", "--csv", output], check=True,
                          stdout=subprocess.PIPE, env=pythons.environment()).stdout.decode()
    lines = lines_of(pythons.report(output))
    shutil.rmtree(output)
    rows = list(csv.DictReader(io.StringIO(text)))
    check.that(text.splitlines()[0] == "function,file,line,hits,self_s,total_s,error_s,exact,source",
               "%s: %r" % (where, text.splitlines()[:1]))
    exact = {(row["function"][len("work."):], int(row["line"])): row for row in rows
             if row["exact"] == "true"}
    check.that(set(exact) == {(name, line) for name, found in lines.items() for line in found},
               "%s: lines of the CSV: %r" % (where, sorted(exact)))
    check.that(all(int(row["hits"]) == lines[name][line]["hits"] for (name, line), row in exact.items()),
               where + ": hits of the CSV")
    check.that(all(float(row["error_s"]) > 0 for row in exact.values() if float(row["total_s"]) > 0),
               where + ": lines without an error")


def check_choice(check, where, python):
    """One function with what is nested in it, and a pattern for nothing."""
    _, report = profile(python, ["run.py"], ["work:nested", "work:Box.*", "work:nothing"])
    got = lines_of(report)
    check.that({name.split(".<")[0] for name in got} ==
               {"nested", "Box.__init__", "Box.double", "Box.one"}, "%s: %r" % (where, set(got)))
    check.that("nested.<locals>.inner" in got, where + ": nothing nested")
    notes = [note for note in report["notes"] if note.startswith("--lines")]
    check.that(len(notes) == 1 and "'work:nothing'" in notes[0], "%s: %r" % (where, notes))


def wrong_times(check, where, python):
    done, report = profile(python, ["times.py"], ["times:[!w]*"])
    truth = json.loads(done.stdout)
    wrong = []
    lines = lines_of(report, "times")
    for name, rows in truth.items():
        for line, seconds in rows.items():
            row = lines[name][int(line)]
            if abs(row["total_s"] - seconds) > 0.1 * seconds + 0.002:
                wrong.append("%s:%s: %r, not %r s" % (name, line, row, seconds))
            check.that(row["self_s"] <= row["total_s"] * 1.01 + 1e-5,
                       "%s, %s:%s: %r" % (where, name, line, row))
    return wrong


def check_times(check, where, python):
    """Lines that work for a known time; only times may be wrong by chance. Yields are no work."""
    wrong = pythons.tries(4, "lines_" + where, lambda: wrong_times(check, where, python),
                          lambda wrong: not wrong)
    check.time(not wrong, "%s: %s" % (where, "; ".join(wrong)))


def least(functions):
    """{line: seconds}, lines from the def: other work on the machine makes them longer, never shorter."""
    result = {}
    for rows in functions.values():
        for line, seconds in rows.items():
            result[int(line)] = min(result.get(int(line), seconds), seconds)
    return result


def our_long_times(python):
    _, report = profile(python, ["long.py"], ["long:work*"])
    found = {name: {line: row["total_s"] / row["hits"] for line, row in rows.items() if row["hits"]}
             for name, rows in lines_of(report, "long").items()}
    return least({name: {line - min(rows) + 1: seconds for line, seconds in rows.items()}
                  for name, rows in found.items()})


def wrong_long_times(python, place, runs):
    """Lines of 50 us and more that are more than 5 % off line_profiler's time. Where memory lies makes
    a process slower or faster, of either: with each try there is one more, and medians count."""
    done = pythons.bare(python, ["long.py", place], SUBJECTS)
    runs.append((least(json.loads(done.stdout)), our_long_times(python)))
    theirs, ours = ({line: statistics.median(run[line] for run in side) for line in side[0]}
                    for side in zip(*runs))
    chosen = [line for line, seconds in theirs.items() if seconds > 50e-6]
    assert len(chosen) >= 4, theirs
    return ["%d: %.1f us, not %.1f" % (line, 1e6 * ours[line], 1e6 * theirs[line])
            for line in chosen if abs(ours[line] / theirs[line] - 1) > 0.05]


def check_line_profiler_times(check, where, python):
    place = place_of_line_profiler(where)
    if pythons.bare(python, ["long.py", place], SUBJECTS).returncode != 0:
        print(where + ": skipped: no line_profiler to compare times with")
        return
    runs = []
    wrong = pythons.tries(4, "line_profiler_" + where, lambda: wrong_long_times(python, place, runs),
                          lambda wrong: not wrong)
    check.time(not wrong, "%s, line_profiler: %s" % (where, "; ".join(wrong)))


def check_fork(check, where, python):
    """The child's lines begin at zero, in the line that forks; both together are the sum."""
    _, report = profile(python, ["forks.py"], ["forks:work"])
    got = hits_of(lines_of(report, "forks"))["work"]
    # The child has one round more, and the end of the loop.
    want = {7: 1, 9: 8, 10: 6, 11: 1, 12: 1, 13: 2}
    check.that(got == want, "%s: %r, not %r" % (where, got, want))


def check_kill(check, where, python):
    done, report = profile(python, ["killed.py"], ["killed:*"])
    check.that(done.returncode == -signal.SIGKILL, "%s: %r" % (where, done))
    rows = lines_of(report, "killed")
    check.that(hits_of(rows) == {"outer": {9: 1}, "inner": {14: 3, 15: 3, 16: 1}},
               "%s: %r" % (where, hits_of(rows)))
    open_s, within_s = rows["outer"][9]["total_s"], rows["inner"][16]["total_s"]
    check.that(0.15 < within_s <= open_s < 60, "%s: open %r, %r" % (where, open_s, within_s))


def wrong_steps(python):
    """What a step costs is most of such a line while it is counted, and is taken out once: before 3.12
    it is uncertain by as much as the line itself."""
    truth = float(pythons.bare(python, ["steps.py"], SUBJECTS).stdout)
    _, report = profile(python, ["steps.py"], ["steps:work"])
    row = lines_of(report, "steps")["work"][10]
    got = row["total_s"] / row["hits"]
    return [] if 0.4 * truth < got < 2.5 * truth else ["%.2f us, not %.2f" % (1e6 * got, 1e6 * truth)]


def check_steps(check, where, python):
    """At real-time priority: calibration and line must not differ by what else the machine does."""
    if tuple(map(int, where.split("."))) < (3, 12):
        return
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    except PermissionError:
        print(where + ": skipped: steps need real-time priority")
        return
    wrong = pythons.tries(4, "steps_" + where, lambda: wrong_steps(python), lambda wrong: not wrong)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    check.time(not wrong, "%s, steps: %s" % (where, wrong))


def check_rounds(check, where, python):
    """Since 3.12 the rounds of a loop within a line are slower than without us, by what no event tells:
    the error says so. Elsewhere it is that of the events."""
    _, report = profile(python, ["rounds.py"], ["rounds:*"])
    wide = {(name, line) for name, rows in lines_of(report, "rounds").items()
            for line, row in rows.items() if row["error_s"] >= 0.3 * row["total_s"] > 0}
    old = tuple(map(int, where.split("."))) < (3, 12)
    want = set() if old else {("work", line) for line in (7, 9, 12, 13)}
    check.that(want <= wide, "%s: %r" % (where, wide))
    check.that(old or not wide & {("work", 8), ("long", 3)}, "%s: %r" % (where, wide))


def check_tracer(check, where, python):
    """A tracer of the program works as without us, and the report says what is missing. Without one
    the program sees none."""
    want = pythons.bare(python, ["traced.py"], SUBJECTS)
    done, report = profile(python, ["traced.py"], ["traced:work"])
    check.that((done.stdout, done.stderr) == (want.stdout, want.stderr),
               "%s: %r, not %r" % (where, done.stdout + done.stderr, want.stdout + want.stderr))
    hits = hits_of(lines_of(report, "traced"))["work"]
    notes = [note for note in report["notes"] if "lines were not counted" in note]
    old = tuple(map(int, where.split("."))) < (3, 12)
    # Six calls without a tracer, until they set one; since 3.12 tools do not disturb each other.
    want = {9: 6, 10: 6} if old else {line: 7 for line in range(9, 16)}
    check.that(hits == want, "%s: %r, not %r" % (where, hits, want))
    check.that(bool(notes) == old, "%s: %r" % (where, report["notes"]))


def check_version(check, where, python):
    check_hits(check, where, python)
    check_choice(check, where, python)
    check_csv(check, where, python)
    check_times(check, where, python)
    check_line_profiler_times(check, where, python)
    check_fork(check, where, python)
    check_kill(check, where, python)
    check_steps(check, where, python)
    check_rounds(check, where, python)
    check_tracer(check, where, python)


if __name__ == "__main__":
    pythons.check_all(check_version)
