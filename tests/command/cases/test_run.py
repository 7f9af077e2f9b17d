# SPDX-License-Identifier: MIT
"""`battprof run` as a wrapper: statuses, signals, standard files, environment, run.bp."""
import csv
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from harness.command import LIB, CommandTest

# struct bp_header up to `used`, and struct bp_chunk (profile/format.h).
HEADER = struct.Struct("<8sHHIIIIIiiiIQ")
CHUNK = struct.Struct("<IHHQQIIII")
REAPED = struct.Struct("<iiQQ")


class Run(CommandTest):
    def test_exit_statuses(self):
        for status in (0, 1, 3, 125, 255):
            result = self.battprof("run", "-q", "sh", "-c", f"exit {status}")
            self.assertEqual(result.status, status, result)

    def test_death_by_signal(self):
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGINT):
            result = self.battprof("run", "-q", "sh", "-c", f"kill -{number} $$")
            self.assertEqual(result.status, -number, result)

    def test_not_started(self):
        self.write("here", "#!/bin/sh\n", 0o755)
        self.write("data", "x")
        self.write("orphan", "#!/no/such/interpreter\n", 0o755)
        for status, name, word in ((127, "no-such-program", "not in PATH (check its spelling)"),
                                   (127, "here", "run -- ./here"),
                                   (127, "./no-such-file", "is not there"),
                                   (127, "./orphan", "interpreter /no/such/interpreter"),
                                   (126, "./data", "has no x permission"),
                                   (126, "/", "is a directory")):
            with self.subTest(name):
                result = self.battprof("run", name)
                self.assertEqual(result.status, status, result)
                self.assert_one_sentence(result, name, word, "nothing was run")
        self.assertFalse(os.path.exists(self.path("battprof.out")))

    def test_variables_with_a_slip(self):
        """They have no effect, so they are reported; only once, by the first process."""
        self.environment.update(BATTPROF_SAMPEL="0", BATTPROF_WAIT="0", BATTPROFILE="x")
        said = "battprof: BATTPROF_SAMPEL is set, but battprof has no such variable; " \
               "did you mean BATTPROF_SAMPLE?\n"
        self.assertEqual(self.battprof("run", "-q", "sh", "-c", "/bin/true; exit 0").err, said)
        self.environment["LD_PRELOAD"] = LIB
        process = subprocess.run(["sh", "-c", "/bin/true; exit 0"], env=self.environment, text=True,
                                 cwd=self.directory, stderr=subprocess.PIPE, check=True)
        self.assertEqual(process.stderr.count("battprof has no variable BATTPROF_SAMPEL"), 1,
                         process.stderr)
        self.assertEqual(process.stderr.count("has no variable"), 1, process.stderr)

    def test_signals_are_passed_on(self):
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP,
                       signal.SIGUSR1, signal.SIGUSR2):
            script = f"trap 'echo got; exit 9' {number}; echo ready; while :; do sleep 0.05; done"
            process = self.start("run", "-q", "sh", "-c", script)
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(number)
            self.assertEqual(process.stdout.readline(), "got\n")
            self.assertEqual(process.wait(20), 9)

    def test_signals_of_the_group_come_once(self):
        """To the group, to us alone, and to the group again: three signals, not five."""
        script = ("import signal, sys\n"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGUSR1])\n"
                  "print('ready', flush=True)\n"
                  "while signal.sigwait([signal.SIGINT, signal.SIGUSR1]) == signal.SIGINT:\n"
                  "    print('got', flush=True)\n")
        process = self.start("run", "-q", sys.executable, "-c", script, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        for send in (lambda: os.killpg(process.pid, signal.SIGINT),
                     lambda: process.send_signal(signal.SIGINT),
                     lambda: os.killpg(process.pid, signal.SIGINT)):
            send()
            self.assertEqual(process.stdout.readline(), "got\n")
            time.sleep(0.3)
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(20), 0)
        self.assertEqual(process.stdout.read(), "")

    def test_interrupt_does_not_lose_the_report(self):
        process = self.start("run", "sh", "-c", "echo ready; exec sleep 20",
                             start_new_session=True)
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        self.assertIn("wall", process.communicate(timeout=20)[1])
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_dispositions_reach_the_target(self):
        show = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"

        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

        bare = subprocess.run(["sh", "-c", show], preexec_fn=ignore, capture_output=True,
                              text=True, check=True).stdout
        result = self.battprof("run", "-q", "--no-sampling", "sh", "-c", show, preexec_fn=ignore)
        self.assertEqual(result.out, bare)
        result = self.battprof("run", "-q", "sh", "-c", show, preexec_fn=ignore)
        ours = "SigCgt:\t8"  # sampling has a handler for one real-time signal, the highest
        self.assertEqual(result.out.replace(ours, "SigCgt:\t0"), bare)
        self.assertEqual(self.battprof("run", "-q", "sh", "-c", "exit 6",
                                       preexec_fn=ignore).status, 6)

    def test_closed_standard_files_stay_closed(self):
        for fd in (0, 1, 2):
            script = "for f in 0 1 2 3 4 5; do [ -e /proc/$$/fd/$f ] && printf $f >>seen; done; :"
            self.battprof("run", "-q", "sh", "-c", script, preexec_fn=lambda n=fd: os.close(n),
                          close_fds=True)
            with open(self.path("seen"), encoding="ascii") as file:
                self.assertEqual(file.read(), "012".replace(str(fd), ""))
            os.remove(self.path("seen"))

    def test_environment(self):
        self.environment["LD_PRELOAD"] = "/lib/x86_64-linux-gnu/libm.so.6"
        result = self.battprof("run", "-q", "--hook", "liba*", "--hook", "libb.so:x*", "--no-wait",
                               "env")
        lines = dict(line.split("=", 1) for line in result.out.splitlines())
        out = os.path.realpath(self.path("battprof.out"))
        self.assertEqual(lines["LD_PRELOAD"],
                         os.path.realpath(LIB) + ":" + self.environment["LD_PRELOAD"])
        self.assertEqual(lines["BATTPROF_DIR"], out)
        self.assertEqual(lines["BATTPROF_TREE"], out + "/run.bp")
        self.assertEqual(lines["BATTPROF_HOOK"], "liba*,libb.so:x*")
        self.assertEqual(lines["BATTPROF_WAIT"], "0")
        self.assertEqual(lines["BATTPROF_QUIET"], "1")

    def test_session_file(self):
        begin = time.monotonic()
        self.battprof("run", "-q", "sh", "-c", "sleep 0.2; kill -9 $$")
        self.assertGreater(time.monotonic() - begin, 0.2)
        with open(self.path("battprof.out/run.bp"), "rb") as file:
            data = file.read()
        header = HEADER.unpack_from(data)
        self.assertEqual(header[0], b"BATTPROF")
        self.assertEqual(header[6], 3)  # BP_HAS_TREE | BP_SESSION
        self.assertEqual(header[7], 1)  # BP_EXITED
        self.assertEqual(header[10], 128 + 9)
        self.assertEqual(header[12], len(data))
        chunks, counts, at = {}, {}, 4096
        while at < len(data):
            magic, kind, _, size, *_, count = CHUNK.unpack_from(data, at)
            self.assertEqual((magic, size % 4096), (0x4b435042, 0))
            chunks[kind] = at + 64
            counts[kind] = count
            at += size
        self.assertEqual(counts, {7: 1, 8: 1, 25: 0})  # reaped, the tree, no marks
        self.assertEqual(REAPED.unpack_from(data, chunks[7])[1], 9)
        time_n = struct.unpack_from("<Q", data, chunks[8] + 8)[0]
        self.assertEqual(time_n & 0xffff, 0, "threads still busy after the end")

    def test_path_of_the_library_with_a_blank(self):
        self.write("my lib/x")
        shutil.copy(LIB, self.path("my lib/libbattprof.so"))
        self.environment["BATTPROF_LIB"] = self.path("my lib/libbattprof.so")
        result = self.battprof("run", "-q", "sh", "-c", "echo $LD_PRELOAD")
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertNotIn(" ", result.out)
        self.assertFalse(os.path.exists(result.out.strip()), "the link was left behind")

    def test_repeat(self):
        script = "echo out; echo err >&2; n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n; "
        result = self.battprof("run", "--repeat", "3", "sh", "-c", script + "exit $((5 - n))")
        self.assertEqual((result.status, result.out), (5, "out\n" * 3))
        self.assertIn("3 runs, worst exit status 5", result.err)
        self.assertEqual(sorted(os.listdir(self.path("battprof.out"))), ["1", "2", "3"])
        report = json.loads(self.battprof("report", "--json").out)
        self.assertEqual((report["schema"], report["runs"]), ("battprof-series/1", 3))
        walls = report["wall"]["s"]
        self.assertAlmostEqual(report["wall"]["mean_s"], sum(walls) / 3)
        shares = [part["pct"] for part in report["categories"].values()]
        self.assertAlmostEqual(sum(shares), 100, delta=0.6, msg=str(report["categories"]))
        for number, wall in zip("123", walls):
            one = json.loads(self.battprof("report", "--json", "battprof.out/" + number).out)
            self.assertAlmostEqual(one["wall_s"], wall, 6)
        self.assertEqual(self.battprof("report", "--tree").status, 2)
        written = self.battprof("report", "--csv", "--by", "group", "-o", "groups.csv")
        self.assertEqual((written.out, written.err), ("", "battprof: wrote groups.csv\n"))
        with open(self.path("groups.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["name"] for row in rows], [row["name"] for row in report["groups"]])
        self.assertAlmostEqual(float(rows[0]["mean_s"]), report["groups"][0]["mean_s"], 6)
        self.battprof("run", "-q", "--repeat", "2", "true")
        self.assertEqual(sorted(os.listdir(self.path("battprof.out.old"))), ["1", "2", "3"])
        self.battprof("run", "-q", "true")
        self.assertEqual(sorted(os.listdir(self.path("battprof.out.old"))), ["1", "2"])
        self.assertEqual(self.battprof("diff", "-o", "text").out, "")
        self.assertEqual(self.battprof("diff", "--by", "group").status, 2)
        self.assertEqual(self.battprof("diff", "-o", "missing/x").status, 1)
        with open(self.path("text"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("OLD  battprof.out.old: 2 runs"))

    def test_repeat_ends_with_the_first_interrupt(self):
        result = self.battprof("run", "-q", "--repeat", "3", "sh", "-c", "echo out; kill -TERM $$")
        self.assertEqual((result.status, result.out), (-signal.SIGTERM, "out\n"))

    def test_repeat_keeps_what_is_not_ours(self):
        self.write("battprof.out/1/notes.txt", "mine")
        result = self.battprof("run", "-q", "--repeat", "2", "true")
        self.assert_one_sentence(result, "battprof.out", "not a profile")
        self.assertTrue(os.path.exists(self.path("battprof.out/1/notes.txt")))


if __name__ == "__main__":
    unittest.main()
