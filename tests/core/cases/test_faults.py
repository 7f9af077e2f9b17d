# SPDX-License-Identifier: MIT
"""Every system call by which the library gets memory, files or timers fails in turn, alone, and at
every third place with all after it. The target must not notice: the same output and status. What it
left must be readable, or refused with one sentence."""
import harness
from harness import *

DSL = """
def add(a, b):
    return a + b

def count(n):
    for i in range(n):
        yield add(i, 1)
"""
PIPELINE = """
import threading, time
import dsl

def work():
    end = time.process_time() + 0.004
    while time.process_time() < end:
        assert sum(dsl.count(20)) == 210

thread = threading.Thread(target=work)
thread.start()
work()
thread.join()
print(sum(dsl.count(100)))
"""
MOST = 2000  # calls that any of these makes: else it would never end


def write(directory):
    for name, text in (("dsl.py", DSL), ("pipeline.py", PIPELINE)):
        with open(os.path.join(directory, name), "w") as f:
            f.write(text)


def readable(run, where):
    done = subprocess.run([CMD, "report", run.profile], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=HANGS_S, env=base_env())
    check(done.returncode in (0, 1), "%s: the report ended by %s: %s"
          % (where, describe(done.returncode), done.stderr[-300:]))
    if done.returncode == 1:
        lines = done.stderr.decode().splitlines()
        check(len(lines) == 1 and lines[0].startswith("battprof: "), "%s: %r" % (where, lines))


def fail_at(argv, number, on, env, bare):
    """False if there are not as many calls."""
    directory = new_dir()
    fired = os.path.join(directory, "fired")
    faults = {"FAULT_AT": str(number), "FAULT_ON": str(on), "FAULT_FIRED": fired}
    run = execute(argv, True, env={**env, **faults}, directory=directory, setup=write)
    where = "FAULT_AT=%d FAULT_ON=%d" % (number, on)
    try:
        same(bare, run)
    except Failure as failure:
        raise Failure("%s: %s" % (where, failure))
    readable(run, where)
    if not os.path.exists(fired):
        return False
    shutil.rmtree(directory)
    return True


def faults(name, argv, least, env):
    """At `least` calls have to fail, or the subject does not do what it is here for."""
    def go():
        bare = execute(argv(), False, env=env, setup=write)
        equal("status of the bare run", bare.status, 5 if name == "native" else 0)
        number = 1
        while number < MOST and fail_at(argv(), number, 0, env, bare):
            if number % 3 == 0:
                fail_at(argv(), number, 1, env, bare)
            number += 1
        print("     %d calls failed" % (number - 1))
        check(least <= number < MOST, "only %d calls failed" % (number - 1))
    go.__name__ = name
    case(go)


OFTEN = {"BATTPROF_SAMPLE": "1000"}
faults("native", lambda: [subject("fault_main")], 100, {**OFTEN, "LD_LIBRARY_PATH": BIN})
faults("python", lambda: [PYTHON, "pipeline.py"], 40, OFTEN)
faults("device", lambda: [os.environ["RUN_BATT"], "-c", "1", "--gpu"], 40,
       {**OFTEN, "LD_LIBRARY_PATH": os.environ["CUDA_SIM"]})


main()
