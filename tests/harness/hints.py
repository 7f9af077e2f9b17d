# SPDX-License-Identifier: MIT
"""Finds what a report or a message says to type, so that a test can type it."""
import re

WORDS = "run|report|diff|merge|import|doctor|help"
# At the end of a line and after what announces it, or on a line of its own.
COMMAND = re.compile(r"(?:^ *|next: |Next: |all of it: |[:;.] )(!?\S*battprof (?:%s)\b.*?)$" % WORDS, re.M)
CELL = re.compile(r"^ *(%%battprof\b.*)$", re.M)
# "and 12 more: --top 24", "(--by candidate)", "--lines dsl.index has all of one function"
OPTION = re.compile(r"(?<![\w'-])--(?:by [a-z]+|top \d+|tree\b|json\b|csv\b|min 0|lines [\w.<>*]+)")


def join(text):
    """Lines that go on after a backslash are one, as a shell reads them."""
    return re.sub(r" \\\n *", " ", text)


def commands(text):
    """In the order of the text, each once."""
    return list(dict.fromkeys(COMMAND.findall(join(text)) + CELL.findall(join(text))))


def options(text):
    """Options of `report` that show more, where no command stands around them."""
    plain = "\n".join(line for line in join(text).split("\n") if not COMMAND.search(line))
    return list(dict.fromkeys(OPTION.findall(plain)))
