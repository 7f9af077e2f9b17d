# SPDX-License-Identifier: MIT
"""On a terminal: `run` leaves its answer on the screen, and a report has a pager."""
import fcntl
import os
import pty
import struct
import subprocess
import termios

from harness.command import CMD, CommandTest, main


class Terminal(CommandTest):
    def show(self, *arguments, rows=24, **environment):
        """The status, and what a terminal of 80 columns got."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", rows, 80, 0, 0))
        env = dict(self.environment, TERM="xterm", **environment)
        child = subprocess.Popen([CMD, *arguments], cwd=self.directory, env=env, stdin=slave, stdout=slave,
                                 stderr=slave, start_new_session=True)
        os.close(slave)
        data = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                piece = b""
            if not piece:
                break
            data += piece
        os.close(master)
        return child.wait(), data.decode().replace("\r\n", "\n")

    def test_run(self):
        target = ("--", os.environ["RUN_BATT"], "-c", "2")
        status, text = self.show("run", *target)
        self.assertEqual(status, 0, text)
        answer = text[text.rindex("wall "):]
        self.assertLessEqual(answer.count("\n"), 20, text)
        self.assertIn("all of it: ", answer)
        status, text = self.show("run", *target, rows=500)
        self.assertNotIn("all of it: ", text)
        self.assertIn("next: ", text)

    def test_pager(self):
        self.battprof("run", "-q", "--", os.environ["RUN_BATT"], "-c", "2")
        mark = "sed 's/^/PAGED /'"
        for options, environment, rows, paged in (([], {}, 24, True), (["--no-pager"], {}, 24, False),
                                                  ([], {"NO_PAGER": "1"}, 24, False), ([], {}, 500, False),
                                                  (["--brief"], {}, 24, False)):
            with self.subTest(options=options, environment=environment, rows=rows):
                status, text = self.show("report", *options, rows=rows, PAGER=mark, **environment)
                self.assertEqual((status, "PAGED" in text), (0, paged), text)

    def test_left_early(self):
        """Nor is a pager that is not there an error."""
        self.battprof("run", "-q", "--", os.environ["RUN_BATT"], "-c", "2")
        for pager in ("true", "head -1", "no-such-pager-at-all 2>/dev/null", "cat", ""):
            with self.subTest(pager):
                status, text = self.show("report", "--by", "function", PAGER=pager)
                self.assertEqual(status, 0, text)
                self.assertEqual("next: " in text, pager not in ("true", "head -1"), text)

    def test_less(self):
        """LESS is what the user has, or FRX."""
        self.battprof("run", "-q", "--", os.environ["RUN_BATT"], "-c", "2")
        say = "echo LESS=$LESS"
        self.assertIn("LESS=FRX\n", self.show("report", PAGER=say)[1])
        self.assertIn("LESS=-S\n", self.show("report", PAGER=say, LESS="-S")[1])


if __name__ == "__main__":
    main()
