# SPDX-License-Identifier: MIT
"""counted.py [dsl]: calls of functions that are no DSL; with the word also through the DSL."""
import os
import sys

import toolbox


def main():
    box = toolbox.Box.of_three()
    for _ in range(7):
        box.get()
        box.value
        box.one()
        toolbox.Box.Inner().deep()
    print(list(toolbox.numbers(4)), sum(toolbox.numbers(3)))
    print([toolbox.cached(i % 3) for i in range(9)])
    for _ in range(5):
        try:
            toolbox.fail()
        except KeyError:
            toolbox.uncounted()
    print([os.path.exists("/") for _ in range(6)])
    if sys.argv[1:]:
        import dsl
        for _ in range(4):
            dsl.call(toolbox.plain, 3)


main()
