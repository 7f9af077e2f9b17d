# SPDX-License-Identifier: MIT
"""What battprof costs: called by tools/bench with the build directory; prints at most 80 columns.

Ratios are taken within a round (all variants within a few milliseconds of each other). Figures are
medians over the quiet rounds, those in which a fixed piece of work without calls was not slowed
down by others; [brackets] hold the quartiles over all rounds. Exit status 0
unless it could not measure."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import measure

SHAPES = (("one 1", 1, "1 fn"), ("many 1", 64, "64 fn"), ("nested 1", 3, "depth 3"),
          ("one 2", 1, "1 fn*2"), ("many 2", 64, "64 fn*2"))
OPERATIONS = (("mutex", "mutex lock+unlock, free"), ("read", "read 1 byte, file"),
              ("write", "write 1 byte, file"), ("pipe", "write+read 1 byte, pipe"),
              ("dlsym", "dlsym"), ("thread", "thread create+join"), ("fork", "fork+_exit+wait"))
TITLES = {"bare": "bare call, in all", "wrapper": "two-rdtsc wrapper", "battprof": "battprof",
          "uftrace": "uftrace record", "audit": "LD_AUDIT", "ltrace": "ltrace"}
ENOUGH = 20  # quiet rounds of each shape; on a busy machine up to MOST times as many are made
MOST = 3
FEWEST = 8  # with fewer quiet rounds there is no verdict
SAME = 1.05  # "no slower": the spread of two equal subjects on a quiet machine


class Bench:
    def __init__(self, build, scratch, options):
        self.scratch, self.options = scratch, options
        self.battprof = os.path.join(build, "tools", "battprof")
        self.library = os.path.join(build, "interpose", "libbattprof.so")
        self.run_batt = os.path.join(build, "dsl", "run_batt")
        self.folder = os.path.join(build, "tests", "bench")
        self.generations, self.rounds = (2, 8) if options.quick else (8, 25)
        self.misses, self.directories, self.skipped, self.slow = 0, 0, {}, []
        self.started, self.unknown = 0, 0
        for path in (self.battprof, self.library, self.run_batt, self.path("bench_calls")):
            if not os.path.exists(path):
                raise measure.CannotMeasure(f"{path}: is not built")

    def path(self, name):
        return os.path.join(self.folder, name)

    def directory(self):
        self.directories += 1
        path = os.path.join(self.scratch, str(self.directories))
        os.mkdir(path)
        return path

    def profiled(self, directory):
        return {"LD_PRELOAD": self.library, "BATTPROF_DIR": directory, "BATTPROF_QUIET": "1"}

    def subject(self, name, program):
        """A running subject, as variant `name`; `most`: calls in a slice at most."""
        command, extra, most = [self.path(program)], {}, 1 << 24
        if name == "wrapper":
            extra = {"LD_PRELOAD": self.path("libbenchwrapper.so")}
        elif name == "battprof":
            extra = self.profiled(self.directory())
        elif name == "audit":
            extra = {"LD_AUDIT": self.path("libbenchaudit.so")}
        elif name == "uftrace":  # -l: PLT calls of libraries too, of a program without mcount
            command = ["uftrace", "record", "-l", "--no-event", "-d",
                       os.path.join(self.directory(), "data")] + command
        elif name == "ltrace":
            command, most = ["ltrace", "-f", "-o", "/dev/null", "-e", "dsl_*"] + command, 64
        made = measure.Subject(name, command, extra, most)
        made.directory = extra.get("BATTPROF_DIR")
        return made

    def line(self, title, value, quartiles, target, good):
        """One row of the table of targets."""
        verdict = "" if good is None else "ok" if good else "MISSED"
        self.misses += good is False
        print(f"  {title:<37}{value:>8}  {quartiles:<14} {target:<9} {verdict}".rstrip())

    def ratio(self, title, values, limit, unit="", chosen=None):
        """A row whose median should be at most `limit`, or at least -limit if that is negative.
        `chosen`: the rounds that the median is of."""
        quartiles = measure.spread(values)
        median = quartiles if chosen is None else \
            measure.spread(v for i, v in enumerate(values) if i in chosen)
        if not median or chosen is not None and len(chosen) < FEWEST:
            self.unknown += limit is not None
            print(f"  {title:<37}  too few quiet rounds; "
                  + (f"all: {quartiles[1]:.2f}" if quartiles else "no others"))
            return
        low, middle, high = quartiles[0], median[1], quartiles[2]
        sign = "" if limit is None else "<=" if limit > 0 else ">="
        target = f"{sign} {abs(limit)}{unit}" if sign else ""
        good = None if limit is None else middle <= limit if limit > 0 else middle >= -limit
        self.line(title, f"{middle:.2f}{unit}", f"[{low:.2f} {high:.2f}]", target, good)

    # Calls

    def variants(self):
        names = ["bare", "wrapper", "battprof", "audit"]
        for tool in ("uftrace", "ltrace"):
            if measure.have(tool):
                names.append(tool)
            else:
                self.skipped[tool] = f"skipped: no {tool} here; tools/deps --bench installs it"
        return names

    def works(self, name):
        """Does this variant run at all? ptrace may be forbidden."""
        try:
            probe = self.subject(name, "bench_calls")
            probe.ask("one 1", 8)
            probe.close()
            return True
        except (measure.CannotMeasure, OSError) as error:
            if name in ("bare", "wrapper", "battprof"):
                raise measure.CannotMeasure(str(error)) from error
            self.skipped[name] = "skipped: does not run here"
            return False

    def calls(self):
        names = [name for name in self.variants() if self.works(name)]
        fast = [name for name in names if name != "ltrace"]
        questions = [(what, unit, fast) for what, unit, _ in SHAPES]
        profiles = []

        def start():
            subjects = [self.subject(name, "bench_calls") for name in fast]
            profiles.extend(s for s in subjects if s.name == "battprof")
            return subjects

        samples, chosen, self.started = {what: [] for what, _, _ in SHAPES}, {}, 0
        while self.started < self.generations or (
                self.started < MOST * self.generations and
                min(map(len, chosen.values())) < ENOUGH):
            for what, rounds in measure.interleave(start, questions, 1, self.rounds,
                                                   probe="bare").items():
                samples[what] += rounds
            chosen = measure.quiet(samples)
            self.started += 1
        self.counted(profiles)
        slow = {"one 1": []}
        if "ltrace" in names:
            slow = measure.interleave(
                lambda: [self.subject(name, "bench_calls") for name in ("bare", "ltrace")],
                [("one 1", 1, None)], 1, 10)
        self.slow = slow["one 1"]
        self.show_calls(samples, fast, chosen)
        self.judge_calls(samples, chosen)

    def counted(self, profiles):
        """Every call must be in the profile, or the figures are of something else."""
        for subject in profiles:
            made = sum(n * int(what.split()[1]) for what, n in subject.made.items())
            result = subprocess.run([self.battprof, "report", "--json", subject.directory],
                                    capture_output=True, check=False)
            calls = sum(f["calls"] for f in json.loads(result.stdout)["functions"]
                        if f["name"].startswith("dsl_")) if not result.returncode else -1
            if calls != made:
                raise measure.CannotMeasure(f"the profile has {calls} of {made} calls")

    def show_calls(self, samples, fast, chosen):
        count, kept = self.started * self.rounds, sum(map(len, chosen.values()))
        print(f"ns per call above the bare call; {count} rounds in {self.started} processes "
              f"each, {100 * kept // (count * len(SHAPES))} % quiet")
        print(f"  {'':<20}" + "".join(f"{title:>11}" for _, _, title in SHAPES))
        print(f"  {'quiet rounds':<20}"
              + "".join(f"{len(chosen[what]):>11}" for what, _, _ in SHAPES))
        for name, title in TITLES.items():
            if name in self.skipped:
                print(f"  {title:<20} {self.skipped[name]}")
                continue
            cells = []
            for what, _, _ in SHAPES:
                rounds = [r for i, r in enumerate(samples[what]) if i in chosen[what]]
                if name not in fast:
                    rounds = self.slow if what == "one 1" else []
                values = [r.get(name) for r in rounds] if name == "bare" else \
                    measure.above(rounds, name)
                middle = measure.spread(values)
                cells.append(f"{middle[1]:>11.1f}" if middle else f"{'-':>11}")
            print(f"  {title:<20}" + "".join(cells))

    def judge_calls(self, samples, chosen):
        print(f"\n{'ratios and targets':<39}{'quiet':>8}  {'all, quartiles':<15}target")
        net = {(what, name): measure.above(rounds, name)
               for what, rounds in samples.items() for name in TITLES}
        for what, _, title in SHAPES:
            self.ratio(f"battprof / wrapper, {title}",
                       measure.ratios(net[what, "battprof"], net[what, "wrapper"]), 1.3,
                       chosen=chosen[what])
        for what, _, title in SHAPES if "uftrace" not in self.skipped else ():
            self.ratio(f"uftrace record / battprof, {title}",
                       measure.ratios(net[what, "uftrace"], net[what, "battprof"]), -5,
                       chosen=chosen[what])
        for name in ("battprof", "wrapper"):
            for shape, title in (("one", "1 fn"), ("many", "64 fn")):
                one, two = f"{shape} 1", f"{shape} 2"
                self.ratio(f"{name}, 2 threads / 1 thread, {title}",
                           measure.ratios(net[two, name], net[one, name]),
                           SAME if name == "battprof" else None,
                           chosen=chosen[one] & chosen[two])

    # Whole programs

    def startup(self):
        count = 20 if self.options.quick else 300
        plain, other, ours = measure.spawn(
            self.path("bench_spawn"), count,
            ["", self.path("libbenchwrapper.so"), self.library], ["/bin/true"],
            {"BATTPROF_DIR": self.directory(), "BATTPROF_QUIET": "1"})
        title = f"/bin/true, {count} runs: "
        self.ratio(title + "battprof adds", [(a - b) / 1e6 for a, b in zip(ours, plain)], 5, " ms")
        self.ratio(title + "wrapper adds", [(a - b) / 1e6 for a, b in zip(other, plain)], None, " ms")

    def pipeline(self):
        count = 3 if self.options.quick else 15
        command = [self.run_batt, "-c", "100"]
        plain, ours = measure.spawn(self.path("bench_spawn"), count, ["", self.library], command,
                                    {"BATTPROF_DIR": self.directory(), "BATTPROF_QUIET": "1"})
        low, _, high = measure.spread(a / b for a, b in zip(ours, plain))
        middle = measure.spread(ours)[1] / measure.spread(plain)[1]
        self.line(f"run_batt -c 100, {count} runs: with / bare", f"{middle:.2f}",
                  f"[{low:.2f} {high:.2f}]", "", None)

    def sampling(self):
        """Within one process: the same work with its timer running and stopped, in turn."""
        seconds = "2" if self.options.quick else "10"
        python = [sys.executable, os.path.join(os.path.dirname(__file__), "sample.py"),
                  self.path("libbenchsample.so")]
        for title, command in (("native", [self.path("bench_sample")]), ("Python", python)):
            for rate in ("200", "1000"):
                result = subprocess.run(command + [seconds, rate], capture_output=True, text=True,
                                        env={**os.environ, **self.profiled(self.directory())},
                                        check=False)
                found = [float(n) for n in re.findall(r"\d+\.\d{4}", result.stdout)]
                if len(found) != 3:
                    raise measure.CannotMeasure("sampling: " + result.stdout + result.stderr)
                middle, low, high = found
                self.line(f"sampling, {title}, {rate}/s: on / off", f"{middle:.3f}",
                          f"[{low:.3f} {high:.3f}]", "<= 1.03", middle <= 1.03)

    def file(self):
        each = (10 ** 9 if self.options.full else 10 ** 7 if self.options.quick else 10 ** 8) // 2
        subject = self.subject("battprof", "bench_calls")
        subject.ask("many 2", each)
        subject.ask("nested 2", 3)
        subject.close()
        path, = (os.path.join(subject.directory, name) for name in os.listdir(subject.directory))
        size = os.stat(path).st_size / 2 / 1e6
        title = f"after {2 * each:.0e} calls by 2 threads: ".replace("e+0", "e")
        self.line(title + "file", f"{size:.3f} MB", "per thread", "< 1 MB", size < 1)
        times = []
        for _ in range(5 if self.options.quick else 21):
            start = time.perf_counter()
            subprocess.run([self.battprof, "report", path], check=True, stdout=subprocess.DEVNULL)
            times.append((time.perf_counter() - start) * 1e3)
        self.ratio("  battprof report of that file", times, 100, " ms")

    def runtime(self):
        def start():
            return [self.subject(name, "bench_runtime") for name in ("bare", "battprof")]

        generations = 1 if self.options.quick else 4
        samples = measure.interleave(start, [(name, 1, None) for name, _ in OPERATIONS],
                                     generations, self.rounds)
        print(f"\n{'C runtime, ns, ' + str(generations * self.rounds) + ' rounds':<29}"
              f"{'bare':>8}{'battprof':>10}{'more':>9}{'ratio':>8}  quartiles")
        for name, title in OPERATIONS:
            rounds = samples[name]
            plain = measure.spread([r["bare"] for r in rounds])[1]
            ours = measure.spread([r["battprof"] for r in rounds])[1]
            more = measure.spread(measure.above(rounds, "battprof"))[1]
            low, middle, high = measure.spread([r["battprof"] / r["bare"] for r in rounds])
            digits = 1 if plain < 10000 else 0
            print(f"  {title:<27}{plain:>8.{digits}f}{ours:>10.{digits}f}{more:>9.{digits}f}"
                  f"{middle:>8.2f}  [{low:.2f} {high:.2f}]")


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} cores, " \
           f"load {os.getloadavg()[0]:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--full", action="store_true", help="1e9 calls for file and report")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(prefix="battprof-bench-") as scratch:
        try:
            bench = Bench(os.path.abspath(options.build), scratch, options)
            for part in (bench.calls, bench.startup, bench.pipeline, bench.sampling, bench.file,
                         bench.runtime):
                part()
                sys.stdout.flush()
        except measure.CannotMeasure as error:
            print(f"bench: could not measure: {error}", file=sys.stderr)
            return 1
    if not options.full:
        print("\nThe target for file and report is for 1e9 calls: --full makes as many.")
    print(f"{bench.misses} targets missed, {bench.unknown} without verdict"
          if bench.misses or bench.unknown else "all targets met")
    return 0


if __name__ == "__main__":
    sys.exit(main())
