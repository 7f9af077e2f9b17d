# SPDX-License-Identifier: MIT
"""Workers that end after one task, and so import everything again: restart.py TASKS-PER-WORKER."""
import multiprocessing
import sys


def batt(task):
    import asyncio
    import unittest.mock
    import xml.dom.minidom
    return task + len((asyncio, unittest, xml))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    with multiprocessing.Pool(1, maxtasksperchild=int(sys.argv[1]) or None) as pool:
        print(sum(pool.map(batt, range(12), 1)))
