# SPDX-License-Identifier: MIT
"""Copies from Python, by paths that are hard to tell apart. Writes to the file "want" how many came
by each path, and their bytes: what the interpreter itself says of its frames."""
import ctypes
import json
import os
import sys
import threading

cuda = ctypes.CDLL("libcudart.so.12")
copy_async = cuda.cudaMemcpyAsync
copy_async.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                       ctypes.c_void_p]
copy_2d_async = cuda.cudaMemcpy2DAsync
copy_2d_async.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
                          ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
memory = ctypes.create_string_buffer(4096)
TO_DEVICE, STREAM = 1, 7
want = {}
lock = threading.Lock()


def copy(size):
    frame, path = sys._getframe(1), ["copy"]
    while frame:
        name = os.path.basename(frame.f_code.co_filename)
        if type(frame.f_code.co_filename) is str:  # others are not read
            path.append("%s %s:%d" % (frame.f_code.co_name, name, frame.f_lineno))
        frame = frame.f_back
    with lock:
        count, total = want.get(";".join(path), (0, 0))
        want[";".join(path)] = count + 1, total + size
    if size % 2:
        error = copy_async(memory, memory, size, TO_DEVICE, None)
    else:  # which fails if an argument is lost
        width = size // 2
        error = copy_2d_async(memory, width + 1, memory, width + 2, width, 2, TO_DEVICE, STREAM)
    assert error == 0


def by_turns(times):
    for i in range(times):
        copy(64)
        copy(64)
        copy(64 + i % 3)
        if i % 2:
            copy(4000)


def down(depth):
    if depth:
        return down(depth - 1)
    for _ in range(3):
        copy(32)


def generator(times):
    for i in range(times):
        yield copy(i + 20)


def from_c(times):
    list(map(copy, [8] * times))
    sorted(range(times), key=lambda n: copy(16) or n)
    list(generator(times))
    [copy(128) for _ in range(times)]


def generated(times):
    """Code that is freed: the next one is where it was."""
    for i in range(times):
        exec(compile("copy(16)\n" * 3, "<%d>" % (i % 3), "exec"), {"copy": copy})
        exec(compile("def f():\n copy(16)\nf()", "/tmp/cell_%d.py" % (i % 5), "exec"),
             {"copy": copy})
        exec(compile("copy(16)", "/tmp/\U0001f600_%d.py" % (i % 3), "exec"), {"copy": copy})


def renamed(times):
    """Names that are freed, too."""
    names = ["co_name", "co_qualname"][:1 + (sys.version_info >= (3, 11))]
    for i in range(times):
        code = (lambda: copy(16)).__code__
        exec(code.replace(**dict.fromkeys(names, "renamed_%d" % (i * i % 7))))


def relined(times):
    """And tables of lines."""
    table = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
    codes = []
    for lines in range(1, 4):
        names = {}
        exec(compile("def f():%s copy(16)" % (lines * "\n"), "<lines>", "exec"), names)
        codes.append(names["f"].__code__)
    for i in range(times):
        code = codes[i * i % 7 % 3]
        exec(code.replace(**{table: bytes(bytearray(getattr(code, table)))}))


class Name(str):
    """Its characters are not where those of other texts are."""


def from_odd_files(times):
    for i in range(times):
        exec(compile("copy(16)", Name("/tmp/%d/%s" % (i, 100000000 * "x")), "exec"), {"copy": copy})


def everything():
    by_turns(50)
    for depth in list(range(40)) * 2:
        down(depth)
    from_c(30)
    generated(30)
    renamed(60)
    relined(60)


def on_foreign_thread():
    """CPython has a state of such a thread while it runs Python code, and then no longer."""
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: by_turns(10))
    libc = ctypes.CDLL(None)
    for _ in range(4):
        thread = ctypes.c_ulong()
        assert libc.pthread_create(ctypes.byref(thread), None, start, None) == 0
        assert libc.pthread_join(thread, None) == 0


everything()
threads = [threading.Thread(target=everything) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
on_foreign_thread()
from_odd_files(3)
down(300)
by_turns(20)
with open("want", "w") as file:
    json.dump(want, file)
print("ok")
