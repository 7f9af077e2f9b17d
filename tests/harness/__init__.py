# SPDX-License-Identifier: MIT
"""Runs subjects bare and profiled and compares them.

A case file defines functions marked @case and ends with main(). Every run of a subject happens in
a fresh directory with a zeroed file `counters`, in which the subject libraries count their calls
(core/subjects/count.h): the truth that the profile is compared with. `pair()` runs a command bare and
profiled and requires the same stdout, stderr and exit status or signal.

Times may be spoilt by whatever else the machine does, facts may not. check_time(), close_to() and
need_quiet() are for times, check(), equal() and sums_to() for facts. A case marked @timed is tried
again if its times alone were wrong; a fact that is wrong fails the case at once. The test ends with
status 1 if a fact was wrong, with NOISE if only times were.

meson gives the places: BATTPROF_LIB, BATTPROF_CMD, E2E_BIN (built subjects). E2E_KEEP=1 keeps all
directories; those of failures are always kept and named, with a command to repeat.
"""
import json
import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

LIB = os.path.abspath(os.environ.get("BATTPROF_LIB", "libbattprof.so"))
CMD = os.path.abspath(os.environ.get("BATTPROF_CMD", "battprof"))
COUNTED = os.environ.get("E2E_COUNTED")  # BATTPROF_EXACT: calls are counted and hardly any is timed
BIN = os.path.abspath(os.environ.get("E2E_BIN", "."))
RECORD = struct.Struct("32s32sQQ")  # struct count_record of core/subjects/count.h
RECORDS = 256
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable

# A shell cannot trap what was ignored when it started: SIGINT and SIGQUIT in jobs with &, SIGHUP
# with nohup.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

cases = []
state = {"dirs": [], "commands": [], "processes": [], "noise": []}
NOISE = 3  # the exit status if times alone were wrong: tools/check runs such a test once more
TRIES = 5  # of a case if its times alone were wrong
PAUSE_S = 0.5  # before the second try, and twice as long before each further one: noise passes
HANGS_S = 120  # a subject of a second takes a minute on one core of a machine with a load of 60


class Failure(Exception):
    pass


class Noise(Failure):
    """A time is wrong, perhaps because of what else the machine does. Never for a fact."""


class Skip(Exception):
    pass


def case(function):
    cases.append((function, 1))
    return function


def timed(function):
    """A case with times, which two noisy cores may spoil: it is tried again if they alone fail."""
    cases.append((function, TRIES))
    return function


def check(condition, message):
    if not condition:
        raise Failure(message)


def equal(what, got, want):
    check(got == want, "%s: got %r, want %r" % (what, got, want))


def check_time(condition, message):
    """Notes a wrong time and goes on: a wrong time must not keep the facts after it from being
    checked. The case ends as Noise."""
    if not condition:
        state["noise"].append(message)


def need_quiet(condition, message):
    """Ends the try as Noise: what follows holds only if this time is right."""
    if not condition:
        raise Noise(message)


def distance(what, got, want, part, slack):
    """Whether it is within the limit, and the words for it."""
    limit = abs(want) * part + slack
    return abs(got - want) <= limit, ("%s: got %.6f, want %.6f within %.6f (off by %.3f %%)"
                                      % (what, got, want, limit,
                                         100 * (got - want) / want if want else 0))


def close_to(what, got, want, part, slack=0.0):
    """Two measurements of one time."""
    check_time(*distance(what, got, want, part, slack))


def sums_to(what, got, want, part, slack=0.0):
    """Parts of one measurement and their whole, rounding apart: a fact."""
    check(*distance(what, got, want, part, slack))


def subject(name):
    path = os.path.join(BIN, name)
    if not os.path.exists(path):
        raise Skip("subject %s was not built" % name)
    return path


def need(tool):
    path = shutil.which(tool)
    if not path:
        raise Skip("%s is not installed" % tool)
    return path


def new_dir():
    path = tempfile.mkdtemp(prefix="battprof-e2e-")
    os.chmod(path, 0o777)
    state["dirs"].append(path)
    return path


def base_env(extra=None):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("BATTPROF", "E2E_", "LD_", "MESON", "MALLOC_"))}
    env["BATTPROF_QUIET"] = "1"
    if COUNTED:
        env["BATTPROF_EXACT"] = COUNTED
    env["LC_ALL"] = "C.UTF-8"
    for key, value in (extra or {}).items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return env


class Run:
    """One finished run: its directory, where the profile is, and what came out."""

    def __init__(self, directory, profile, argv):
        self.dir, self.profile, self.argv = directory, profile, argv
        self.status, self.stdout, self.stderr = None, b"", b""
        self.began, self.took = time.monotonic(), None  # seconds, as seen from here

    def counts(self):
        """{(library, function): [entered, returned]} as counted by the libraries themselves."""
        truth = {}
        with open(os.path.join(self.dir, "counters"), "rb") as f:
            data = f.read()
        for i in range(RECORDS):
            library, name, entered, returned = RECORD.unpack_from(data, i * RECORD.size)
            if name[0]:
                key = (library.split(b"\0")[0].decode(), name.split(b"\0")[0].decode())
                truth[key] = [entered, returned]
        return truth

    def files(self):
        if not os.path.isdir(self.profile):
            return []
        return sorted(f for f in os.listdir(self.profile) if f.endswith(".bp"))

    def report(self, *options):
        command = [CMD, "report", "--json"] + list(options) + [self.profile]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=HANGS_S, env=base_env())
        check(done.returncode == 0, "%s: status %d: %s"
              % (shlex.join(command), done.returncode, done.stderr.decode(errors="replace")))
        try:
            return json.loads(done.stdout)
        except ValueError as error:
            raise Failure("%s: not JSON: %s" % (shlex.join(command), error))

    def text(self, name):
        with open(os.path.join(self.dir, name)) as f:
            return f.read()


def start(argv, profiled, how="preload", hook=None, env=None, directory=None, profile=None,
          options=(), preload=(), setup=None, **popen):
    """Starts a subject; returns (Popen, Run)."""
    directory = directory or new_dir()
    if not os.path.exists(os.path.join(directory, "counters")):
        with open(os.path.join(directory, "counters"), "wb") as f:
            f.write(bytes(RECORD.size * RECORDS))
        os.chmod(f.name, 0o666)
    if profile is None:
        profile = os.path.join(directory, "profile")
        if how == "preload":  # `battprof run` makes its own, and keeps what is there as .old
            os.mkdir(profile)
            os.chmod(profile, 0o777)
    if setup:
        setup(directory)
    run = Run(directory, profile, argv)
    environment = base_env(env)
    command = list(argv)
    extra = list(preload)
    shown = []
    if profiled and how == "preload":
        extra.insert(0, LIB)
        environment.setdefault("BATTPROF_DIR", profile)
        if hook:
            environment["BATTPROF_HOOK"] = hook
        shown = ["%s=%s" % (k, environment[k]) for k in sorted(environment) if "BATTPROF" in k]
    elif profiled:
        command = [CMD, "run", "-o", profile] + list(options)
        for pattern in hook.split(",") if hook else ():
            command += ["--hook", pattern]
        command += ["--"] + list(argv)
    if extra:
        environment["LD_PRELOAD"] = ":".join(extra)
        shown.append("LD_PRELOAD=" + environment["LD_PRELOAD"])
    if profiled:
        state["commands"].append("cd %s && %s %s" % (directory, " ".join(shown),
                                                     shlex.join(command)))
    popen.setdefault("stdin", subprocess.DEVNULL)
    popen.setdefault("stdout", subprocess.PIPE)
    popen.setdefault("stderr", subprocess.PIPE)
    process = subprocess.Popen(command, env=environment, cwd=directory, **popen)
    state["processes"].append(process)
    return process, run


def finish(process, run, timeout=HANGS_S, data=None):
    try:
        run.stdout, run.stderr = process.communicate(input=data, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGABRT)
        time.sleep(0.2)
        process.kill()
        process.communicate()
        raise Failure("%s: still running after %d s" % (shlex.join(run.argv), timeout))
    run.status = process.returncode
    run.took = time.monotonic() - run.began
    return run


def execute(argv, profiled, timeout=HANGS_S, data=None, **how):
    if data is not None:
        how["stdin"] = subprocess.PIPE
    process, run = start(argv, profiled, **how)
    return finish(process, run, timeout, data)


def describe(status):
    return "signal %d" % -status if status < 0 else "status %d" % status


def same(bare, profiled, stderr=True):
    check(bare.status == profiled.status, "exit: bare %s, profiled %s; stderr: %s"
          % (describe(bare.status), describe(profiled.status),
             (profiled.stderr or b"")[-400:].decode(errors="replace")))
    for what in ("stdout", "stderr") if stderr else ("stdout",):
        a, b = getattr(bare, what) or b"", getattr(profiled, what) or b""
        if a == b:
            continue
        lines = zip(a.splitlines() + [b"<end>"], b.splitlines() + [b"<end>"])
        first = next(((x, y) for x, y in lines if x != y), (a, b))
        raise Failure("%s differs: bare %r, profiled %r" % (what, first[0][:200], first[1][:200]))


def pair(argv, how="preload", expect=None, stderr=None, **options):
    """Runs bare, then profiled; the same must come out. `expect` is the status both must have."""
    bare_options = dict(options)
    for key in ("hook", "options"):
        bare_options.pop(key, None)
    bare = execute(argv, False, **bare_options)
    if expect is not None:
        check(bare.status == expect, "bare run of %s: %s, want %s; stderr: %s"
              % (shlex.join(argv), describe(bare.status), describe(expect),
                 (bare.stderr or b"")[-400:].decode(errors="replace")))
    run = execute(argv, True, how=how, **options)
    same(bare, run, how == "preload" if stderr is None else stderr)
    return run


def rows(report, name=None, library=None):
    """Rows of the report; a symbol version (name@V1) and C++ arguments do not count as name."""
    found = []
    for row in report["functions"]:
        row_name = row["name"].split("@")[0].split("(")[0]
        if name is not None and row_name != name:
            continue
        if library is not None and os.path.basename(row["library"] or "") != library:
            continue
        found.append(row)
    return found


def calls(report, name, library=None):
    return sum(row["calls"] for row in rows(report, name, library))


def aborted(report, name, library=None):
    return sum(row["aborted"] for row in rows(report, name, library))


def in_flight(report, name):
    """Calls of a function that were open when its process ended."""
    return sum(row.get("in_flight", 0) for row in rows(report, name))


def same_counts(run, report=None, ignore=(), still_open=False, least=1):
    """Every counted function has exactly its calls and aborted calls in the report.

    A call is over when it returned or was aborted. With still_open, calls that the truth has as
    never returned may be in flight instead of aborted."""
    report = report or run.report()
    truth = run.counts()
    check(sum(n for n, _ in truth.values()) >= least, "the subject counted no calls")
    wrong = []
    for (library, name), (entered, returned) in sorted(truth.items()):
        if name in ignore:
            continue
        left = in_flight(report, name) if still_open else 0
        got = calls(report, name, library) + left
        if got != entered:
            wrong.append("%s: %d calls, want %d" % (name, got, entered))
        gone = aborted(report, name, library) + left
        if gone != entered - returned:
            wrong.append("%s: %d aborted, want %d" % (name, gone, entered - returned))
    check(not wrong, "; ".join(wrong))
    return report


def counted(argv, **options):
    """pair() and same_counts(): what most cases are."""
    extra = {k: options.pop(k) for k in ("ignore", "still_open") if k in options}
    options.setdefault("expect", 0)
    run = pair(argv, **options)
    return run, same_counts(run, **extra)


def modes(program, names, **options):
    """Registers a case for each mode of a subject whose counts must simply be right."""
    for name in names:
        def go(name=name):
            counted([subject(program), name], **options)
        go.__name__ = name
        case(go)


def process_count(report):
    value = report["processes"]
    return len(value) if isinstance(value, list) else value


def as_nobody(*actions):
    """For preexec_fn: drops root for good, after the given actions."""
    def go():
        for action in actions:
            action()
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    return go


def run_once(function):
    """None, or a Failure: Noise if only times were wrong."""
    state.update(dirs=[], commands=[], processes=[], noise=[])
    try:
        function()
    except Skip:
        raise
    except Noise as noise:
        state["noise"].append(str(noise))
    except Failure as failure:
        return Failure("; ".join([str(failure)] + state["noise"]))
    except Exception:  # a defect of the case or a report without an expected key
        return Failure("; ".join([traceback.format_exc()] + state["noise"]))
    finally:
        end_processes()
    return Noise("; ".join(state["noise"])) if state["noise"] else None


def attempt(function, tries):
    """How it ended, and in which try."""
    for n in range(1, tries + 1):
        error = run_once(function)
        if not isinstance(error, Noise) or n == tries:
            return error, n
        print("   retry %s: %s" % (function.__name__, error), flush=True)  # for check_summary.py
        drop_dirs()
        time.sleep(PAUSE_S * 2 ** (n - 1))


def end_processes():
    for process in state["processes"]:
        if process.poll() is None:
            process.kill()
            process.wait()


def drop_dirs():
    if not os.environ.get("E2E_KEEP"):
        for path in state["dirs"]:
            shutil.rmtree(path, ignore_errors=True)


def print_failure(name, took, error):
    print("%s %s (%.1f s): %s" % ("NOISE" if isinstance(error, Noise) else "FAIL", name, took, error))
    for command in state["commands"][-2:]:
        print("     repeat: " + command)
    sys.stdout.flush()


def run_case(function, tries, sums):
    """Counts how it ended in sums."""
    name, begin = function.__name__, time.monotonic()
    try:
        error, n = attempt(function, tries)
    except Skip as skip:
        print("SKIP %s: %s" % (name, skip), flush=True)
        sums["skipped"] += 1
        return
    took = time.monotonic() - begin
    if error:
        sums["noisy" if isinstance(error, Noise) else "failed"] += 1
        print_failure(name, took, error)
        return
    sums["passed"] += 1
    sums["retried"] += n > 1
    print("ok   %s (%.1f s%s)" % (name, took, ", try %d" % n if n > 1 else ""), flush=True)
    drop_dirs()


def main():
    for path in (LIB, CMD):
        if not os.path.exists(path):
            print("SKIP all: %s does not exist" % path)
            sys.exit(77)
    only = sys.argv[1:]
    sums = dict.fromkeys(("passed", "retried", "failed", "noisy", "skipped"), 0)
    for function, tries in cases:
        if not only or function.__name__ in only:
            run_case(function, tries, sums)
    print("%(passed)d passed, %(retried)d of them after a retry, %(failed)d failed, %(noisy)d failed "
          "by times alone, %(skipped)d skipped" % sums)
    sys.exit(1 if sums["failed"] else NOISE if sums["noisy"] else 0 if sums["passed"] else 77)
