# SPDX-License-Identifier: MIT
"""features.py NAME: one way of using Python, printed; the same with and without the profiler."""
import asyncio
import bdb
import concurrent.futures
import cProfile
import ctypes
import gc
import inspect
import io
import multiprocessing
import os
import pickle
import pstats
import signal
import subprocess
import sys
import threading
import traceback
import weakref

import dsl


def generators():
    print(list(dsl.numbers(5)), list(dsl.delegated(3)))
    g = dsl.numbers(3)
    print(next(g), g.send(7), next(g))
    h = dsl.guarded()
    print(next(h), h.throw(KeyError()), next(h))
    h.close()
    many = [dsl.numbers(4) for _ in range(50)]
    print([next(m) for m in many], [next(m) for m in reversed(many)])
    del many
    print(sum(dsl.apply(dsl.identity, range(10))))


def coroutines():
    async def collect():
        return [i async for i in dsl.ticks(4, asyncio.sleep)]

    async def main():
        done = await asyncio.gather(*(dsl.slow(i, asyncio.sleep) for i in range(20)))
        return done, await asyncio.gather(collect(), collect())

    print(asyncio.run(main()))


def exceptions():
    for _ in range(3):
        try:
            dsl.fail(5)
        except dsl.DslError as error:
            print(error, len(traceback.extract_tb(error.__traceback__)))
    try:
        dsl.call(int, "x")
    except ValueError as error:
        print(error)
    dsl.fail(2)


def recursion():
    print(dsl.depth(900))
    try:
        dsl.depth(5000)
    except RecursionError as error:
        print(str(error)[:32])
    print(dsl.depth(100))


def deep():
    """What 3.11 and later do without C stack must work as deep with us."""
    sys.setrecursionlimit(200000)
    print(dsl.depth(60000 if sys.version_info >= (3, 11) else 6000))
    print(dsl.add(1, 2))


def threads():
    results = []

    def work(n):
        results.append(sum(dsl.numbers(n)) + dsl.depth(50))
        if n % 2:
            sys.exit(0)

    for _ in range(4):
        started = [threading.Thread(target=work, args=(n,)) for n in range(10)]
        for t in started:
            t.start()
        for t in started:
            t.join()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(dsl.identity, range(20))))
    print(sorted(results))


def handed_over():
    """A generator begun in one thread goes on in another."""
    g = dsl.numbers(6)
    out = [next(g)]
    for _ in range(3):
        t = threading.Thread(target=lambda: out.append(next(g)))
        t.start()
        t.join()
    print(out, list(g))


def fork():
    def inside():
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            print("child", dsl.add(1, 2), dsl.depth(5))
            sys.stdout.flush()
            os._exit(3)
        return os.waitpid(pid, 0)[1] >> 8

    print(dsl.call(inside))
    g = dsl.numbers(4)
    print(next(g))
    sys.stdout.flush()
    pid = os.fork()
    print(list(g))
    if pid == 0:
        sys.exit(0)
    os.waitpid(pid, 0)


def processes():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            print(method, pool.map(dsl.identity, range(8)), pool.starmap(dsl.add, [(1, 2), (3, 4)]))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(dsl.depth, range(6))))


def loky():
    from joblib.externals.loky import get_reusable_executor
    workers = get_reusable_executor(max_workers=2, timeout=20)
    print(list(workers.map(dsl.identity, range(8))), workers.submit(dsl.depth, 3).result())
    workers.shutdown()


def covered():
    import coverage
    cover = coverage.Coverage(data_file=None, include=[dsl.__file__])
    cover.start()
    print(dsl.add(1, 2), dsl.depth(3), list(dsl.numbers(3)))
    cover.stop()
    _, statements, _, missing, _ = cover.analysis2(dsl.__file__)
    print(len(statements), missing)


def children():
    script = "import dsl, sys; print(dsl.add(2, 3)); sys.exit(4)"
    env = dict(os.environ, PYTHONPATH=os.path.dirname(dsl.__file__))
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, env=env)
    print(done.returncode, done.stdout)
    sys.stdout.flush()
    os._exit(dsl.add(1, 1))


def signals():
    got = []

    def handler(number, frame):
        got.append(dsl.add(number, 0) == signal.SIGALRM)
        if len(got) == 50:
            raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        while True:
            dsl.depth(30)
            dsl.spin(50)
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(len(got) >= 50, all(got))  # one more may come before the timer is off


def collected():
    """Functions come and go, and others get their addresses."""
    kept = None
    for i in range(3000):
        space = {"__name__": "dsl" if i % 2 else "other", "identity": dsl.identity}
        exec("def f%d(x):\n    return identity(x) + %d" % (i, i), space)
        assert dsl.call(space["f%d" % i], 1) == i + 1
        if i == 1500:
            kept = weakref.ref(space["f%d" % i].__code__)
    del space
    gc.collect()
    print(kept() is None, dsl.apply(lambda x: x + 1, range(3)))


def tools():
    seen = {"call": 0, "line": 0, "return": 0}

    def tracer(frame, event, argument):
        if frame.f_code.co_filename == dsl.__file__:
            seen[event] = seen.get(event, 0) + 1
        return tracer

    sys.settrace(tracer)
    dsl.depth(10)
    list(dsl.numbers(3))
    sys.settrace(None)
    sys.setprofile(lambda f, e, a: tracer(f, e, a) and None)
    dsl.listed(3)
    dsl.logged(1)
    sys.setprofile(None)
    profile = cProfile.Profile()
    profile.runcall(dsl.listed, 5)
    stats = pstats.Stats(profile, stream=io.StringIO()).stats
    print(sorted(seen.items()), sorted((k[2], v[0]) for k, v in stats.items() if "dsl" in k[0]))


def monitored():
    """Somebody else's tool of sys.monitoring, with events in the same functions."""
    monitoring = getattr(sys, "monitoring", None)
    counts = {}
    if monitoring:
        def on(name):
            def count(*_):
                counts[name] = counts.get(name, 0) + 1
            return count

        monitoring.use_tool_id(2, "theirs")
        events = monitoring.events
        for event in ("PY_START", "PY_RETURN", "PY_YIELD", "PY_RESUME", "CALL", "PY_UNWIND"):
            monitoring.register_callback(2, getattr(events, event), on(event))
        monitoring.set_local_events(2, dsl.depth.__code__, events.PY_START | events.PY_RETURN)
        monitoring.set_events(2, events.PY_YIELD | events.PY_UNWIND)
    dsl.depth(10)
    list(dsl.numbers(3))
    try:
        dsl.fail(2)
    except dsl.DslError:
        pass
    if monitoring:
        monitoring.set_local_events(2, dsl.depth.__code__, 0)
        monitoring.set_events(2, 0)
        monitoring.free_tool_id(2)
    print(dsl.depth(3), sorted(counts.items()))


def debugged():
    """A debugger with a breakpoint in a DSL function."""
    stops = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame):
            stops.append((frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))
            self.set_continue()

    debugger = Debugger()
    debugger.set_break(dsl.__file__, dsl.add.__code__.co_firstlineno + 1)
    debugger.runcall(dsl.call, dsl.add, 1, 2)
    debugger.clear_all_breaks()
    print(stops, dsl.add(2, 2))


def subinterpreters():
    """Interpreters beside the main one run as they would without us."""
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    script = "import sys; sys.path.insert(0, %r); import dsl\n" \
             "print(dsl.depth(5), dsl.add(1, 2), dsl.listed(3)); sys.stdout.flush()"
    for _ in range(3):
        other = interpreters.create()
        interpreters.run_string(other, script % os.path.dirname(os.path.abspath(dsl.__file__)))
        interpreters.destroy(other)
        print(dsl.add(3, 4))
        sys.stdout.flush()


def looks():
    print(pickle.loads(pickle.dumps(dsl.add)) is dsl.add, inspect.signature(dsl.compose))
    print(inspect.getsource(dsl.identity), dsl.identity.__code__.co_name)
    print([f.function for f in dsl.call(inspect.stack)][:2])
    print((dsl.Point(2) + dsl.Point(3)).double, dsl.Point.origin().x, dsl.copied([[1], {2: 3}]))
    print(dsl.compose(dsl.identity, dsl.listed)(3), dsl.logged(5), sys.getrefcount(dsl.add) < 10)


def extras():
    """A function that is called when code objects are freed which something was kept with."""
    freed = []
    kind = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    function = kind(freed.append)
    new = sys.version_info >= (3, 12)
    index = ctypes.pythonapi[("PyUnstable_" if new else "_Py") + "Eval_RequestCodeExtraIndex"](function)
    keep = ctypes.pythonapi[("PyUnstable_" if new else "_Py") + "Code_SetExtra"]
    keep.argtypes = ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p
    for number in range(20):
        answer = eval("lambda: %d" % number)
        dsl.call(answer)
        if number % 10 == 0:
            keep(answer.__code__, index, number + 1)
            dsl.call(answer)
        del answer
    print(freed)


def late():
    """Many threads, generators and forks under load, left without ceremony."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            dsl.listed(20)
            list(dsl.numbers(20))

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            dsl.depth(20)
            os._exit(0)
        os.waitpid(pid, 0)
    print("ended")
    sys.stdout.flush()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
