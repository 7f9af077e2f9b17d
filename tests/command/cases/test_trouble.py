# SPDX-License-Identifier: MIT
"""Whatever is wrong with the profiling: one sentence before the target starts; with --keep-going
the target runs to its end."""
import os
import resource
import shutil
import signal
import subprocess
import unittest

from harness.command import CommandTest

TARGET = ["sh", "-c", "echo done; exit 7"]


class Trouble(CommandTest):
    def run_with(self, *options, **keywords):
        return self.battprof("run", *options, "--", *TARGET, **keywords)

    def assert_refused(self, options, *words, instead="the target runs unprofiled", **keywords):
        result = self.run_with(*options, **keywords)
        self.assertEqual((result.status, result.out), (125, ""), result)
        self.assert_one_sentence(result, "Nothing was run; with --keep-going " + instead, *words)
        result = self.run_with("--keep-going", *options, **keywords)
        self.assertEqual((result.status, result.out), (7, "done\n"), result)
        self.assert_one_sentence(result, instead, *words)

    def test_output_that_is_not_ours(self):
        self.write("battprof.out/precious")
        self.assert_refused([], "battprof.out", "not a profile", "-o")
        self.assertTrue(os.path.exists(self.path("battprof.out/precious")))

    def test_output_that_is_a_file(self):
        self.write("file")
        self.assert_refused(["-o", "file"], "not a directory")

    def test_output_without_parent(self):
        self.assert_refused(["-o", "a/b"], "parent")

    def test_output_not_writable(self):
        os.mkdir(self.path("locked"), 0o555)
        if os.geteuid() == 0:
            self.assert_refused(["-o", "/proc/x"], "/proc/x")
        else:
            self.assert_refused(["-o", "locked"], "Permission denied")

    def test_old_that_is_not_ours(self):
        self.run_with("-q")
        self.write("battprof.out.old/precious")
        self.assert_refused(["-q"], "battprof.out.old", "in the way")
        self.assertTrue(os.path.exists(self.path("battprof.out.old/precious")))

    def test_file_size_limit(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        self.assert_refused([], "File too large", preexec_fn=limit)

    def test_full_disk(self):
        os.mkdir(self.path("disk"))
        mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "none", self.path("disk")]
        if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
            self.skipTest("cannot mount a small file system")
        self.addCleanup(subprocess.run, ["umount", self.path("disk")], check=True)
        self.assert_refused(["-o", "disk/out"], "No space left", "free some space")

    def test_directory_in_use(self):
        first = self.start("run", "-q", "sh", "-c", "echo ready; sleep 60")
        first.stdout.readline()
        self.assert_refused([], "another battprof run")
        first.send_signal(signal.SIGTERM)
        first.wait(20)
        result = self.run_with("-q")
        self.assertEqual((result.status, result.err), (7, ""))

    def test_library_not_there(self):
        self.environment["BATTPROF_LIB"] = "/no/such/lib.so"
        self.assert_refused([], "/no/such/lib.so", "unset it")

    def test_rules_with_a_slip(self):
        self.write("rules.json", '{"rules": [{"libary": "x*", "category": "dsl"}]}')
        built_in = "the report uses the built-in rules"
        self.assert_refused(["--rules", "rules.json", "-q"], "rules.json", "library",
                            instead=built_in)
        self.assert_refused(["--rules", "nowhere.json", "-q"], "nowhere.json", instead=built_in)


class Kept(CommandTest):
    """The last profile is kept, and nothing of others is lost."""

    def run_once(self, text):
        result = self.battprof("run", "-q", "sh", "-c", f": {text}")
        self.assertEqual(result.status, 0, result)
        return result

    def command(self, directory):
        with open(self.path(directory + "/run.bp"), "rb") as file:
            return file.read(4096)

    def test_rotation(self):
        for text in ("first", "second", "third"):
            self.assertEqual(self.run_once(text).err, "")
        self.assertIn(b"third", self.command("battprof.out"))
        self.assertIn(b"second", self.command("battprof.out.old"))
        self.assertEqual(sorted(os.listdir(self.directory)), ["battprof.out", "battprof.out.old"])

    def test_empty_directory_is_used(self):
        os.mkdir(self.path("battprof.out"))
        self.run_once("x")
        self.assertEqual(os.listdir(self.directory), ["battprof.out"])

    def test_files_of_others_survive(self):
        self.run_once("first")
        self.write("battprof.out/report.html", "precious")
        self.run_once("second")
        self.assertIn("battprof.out.old.1", self.run_once("third").err)
        self.assertTrue(os.path.exists(self.path("battprof.out.old.1/report.html")))


class Programs(CommandTest):
    """Programs that cannot be profiled."""

    def patched(self, change):
        with open("/bin/true", "rb") as file:
            data = bytearray(file.read())
        change(data)
        with open(self.path("program"), "wb") as file:
            file.write(data)
        os.chmod(self.path("program"), 0o755)

    def assert_says(self, *words):
        result = self.battprof("run", "-q", "./program")
        self.assertIn("./program", result.err)
        for word in words:
            self.assertIn(word, result.err.splitlines()[0])

    def test_static(self):
        compiler = shutil.which("cc")
        self.write("static.c", "int main(void) { return 7; }\n")
        if not compiler or subprocess.run([compiler, "-static", "static.c", "-o", "program"],
                                          cwd=self.directory, capture_output=True,
                                          check=False).returncode:
            self.skipTest("cannot link a static program")
        result = self.battprof("run", "-q", "./program")
        self.assertEqual(result.status, 7)
        self.assertIn("statically linked", result.err)
        self.assertIn("nothing was recorded", result.err)
        self.write("script", "#!./program\n", 0o755)
        self.assertIn("./program is statically linked", self.battprof("run", "./script").err)

    def test_32_bit(self):
        def change(data):
            data[4] = 1
        self.patched(change)
        self.assert_says("32-bit")

    def test_other_machine(self):
        def change(data):
            data[18:20] = (183).to_bytes(2, "little")
        self.patched(change)
        self.assert_says("another architecture")

    def test_other_libc(self):
        def change(data):
            at = data.index(b"/lib64/ld-linux-x86-64.so.2\0")
            data[at:at + 28] = b"/lib/ld-musl-x86_64.so.1\0\0\0\0"
        self.patched(change)
        self.assert_says("GNU C library")

    def test_garbage_behind_the_magic(self):
        def change(data):
            data[20:] = b"\xff" * (len(data) - 20)
        self.patched(change)
        self.battprof("run", "-q", "./program")  # must end, whatever exec says

    def test_setuid(self):
        if os.geteuid():
            self.skipTest("needs root to make a program of another user")
        self.patched(lambda data: None)
        os.chown(self.path("program"), 65534, 65534)
        os.chmod(self.path("program"), 0o4755)
        if os.statvfs(self.directory).f_flag & os.ST_NOSUID:
            self.skipTest("the file system ignores setuid")
        self.assert_says("setuid")

    def test_text_file_runs_by_the_shell(self):
        self.write("program", "exit 7\n", 0o755)
        result = self.battprof("run", "-q", "./program")
        self.assertEqual((result.status, result.err), (7, ""))


if __name__ == "__main__":
    unittest.main()
