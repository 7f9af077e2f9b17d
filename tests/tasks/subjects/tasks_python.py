# SPDX-License-Identifier: MIT
"""tasks_python.py MODE: tasks with known ids and calls, for cases/test_python.py."""
import os
import sys
import threading

import dsl


class Odd(str):
    def __repr__(self):
        raise SystemExit("the profiler ran my code")

    __str__ = __repr__


class Number(int):
    __index__ = __int__ = __str__ = Odd.__repr__


class Runner:
    def run(self, name):
        return dsl.step(name)


def batt(task_id, n):
    for _ in range(n):
        dsl.step(n)
    return task_id


def check_batt(total, task_i, task_id, *, timeout=1):
    """task_id is used by an inner function: it is in a cell."""
    def inner():
        return task_id
    batt(task_id, 2)
    dsl.step(timeout)
    return inner()


def run_one(what, *rest, key=None):
    dsl.step(what)


def fails(task_id):
    dsl.step(task_id)
    raise ValueError(task_id)


def generates(task_id):
    for i in range(3):
        yield dsl.step(i)


def load_data(n):
    return [dsl.step(i) for i in range(n)]


def plain():
    load_data(3)
    for i in range(10):
        batt("task-%d" % i, i)
    dsl.step(0)


def arguments():
    run_one("text")
    run_one(1, 2, 3, key="keyword")
    run_one(17)
    run_one(b"bytes")
    run_one(2 ** 100)
    run_one(Odd("odd"))
    run_one(Number(3))
    run_one(None)
    run_one({"id": "dictionary"})
    run_one("größe")
    run_one("\ud800")
    check_batt([], 3, "cell", timeout=9)
    batt(task_id="named", n=1)
    batt(n=1, task_id="last")


def failures():
    for name in ("a", "b"):
        try:
            fails(name)
        except ValueError:
            pass
    batt("fine", 1)


def others():
    list(generates("generator"))
    Runner().run("method")
    for i in range(2):
        run_one(i)


def expand_solver(source, level=1, *rest, deep=False):
    """source is used by an inner function: it is in a cell."""
    def inner():
        return source
    inline_variables(source)
    batt("within", 1)
    return inner()


def inline_variables(source):
    return dsl.step(source)


def generate_code(odd, **options):
    return dsl.step(1)


def generators():
    for _ in range(2):
        expand_solver("a line")
        expand_solver("a line", 2)
        expand_solver("x = 1\n" * 30)
        expand_solver("rest", 1, (1, None), b"bytes", deep=True)
        inline_variables("größe")
    for unknown in (Odd("odd"), Number(3), [1], {"id": 1}, 1.5, 10 ** 30, (1, [2])):
        expand_solver("known", unknown)
    expand_solver(source="")
    generate_code(1)


def work(number):
    for i in range(4):
        batt("%d-%d" % (number, i), 3)


def threads():
    todo = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in todo:
        thread.start()
    for thread in todo:
        thread.join()


def processes():
    children = []
    for n in range(2):
        child = os.fork()
        if child == 0:
            work(n)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    batt("parent", 1)


def killed():
    check_batt_and_die("in flight")


def check_batt_and_die(task_id):
    batt("inner", 1)
    os.kill(os.getpid(), 9)


globals()[sys.argv[1]]()
print("ok")
