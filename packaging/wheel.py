# SPDX-License-Identifier: MIT
"""Makes the wheel: the command as a script, libbattprof.so in PREFIX/lib/battprof, the package
battprof. The same input makes the same bytes.

    wheel.py FOLDER VERSION COMMAND LIBRARY LICENSES PACKAGE-FOLDER

SOURCE_DATE_EPOCH is the time of all files. The simulated device stays inside the command, which
unpacks it when somebody asks for it: twice it would be a fifth of the wheel."""
import base64
import hashlib
import os
import stat
import sys
import time
import zipfile

TAG = "py3-none-manylinux_2_17_x86_64"  # of the newest glibc that a library asks for; auditwheel agrees
EARLIEST = 315532800  # 1980: a zip file knows none before
METADATA = """Metadata-Version: 2.1
Name: battprof
Version: {version}
Summary: Where did every wall-second go: DSL, framework, or CPU-GPU transfer
License: MIT AND LGPL-2.1-or-later AND LGPL-3.0-or-later
License-File: licenses.txt
Keywords: profiler,LD_PRELOAD,CUDA,notebook
Classifier: Environment :: Console
Classifier: Framework :: IPython
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3 :: Only
Classifier: Topic :: Software Development :: Debuggers
Requires-Python: >=3.8
Description-Content-Type: text/markdown

battprof profiles an unmodified program, native or Python, on CPU and GPU, without root, ptrace or
perf: every call into the DSL counted exactly, the rest sampled, copies and kernels from CUPTI.

    battprof run -- python run_batt.py      # the program and its children; the report follows
    battprof report --tree                  # the last one again; --by ..., --json
    battprof doctor                         # what works on this machine

In a notebook: `%load_ext battprof`, then `%%battprof` on top of a cell. `python -m battprof` is the
command, too. It is one static program that needs no other package and no network.
"""
WHEEL = """Wheel-Version: 1.0
Generator: battprof packaging/wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def contents(version, command, library, licenses, package):
    """(name, data, executable) of every file but RECORD, in the order in which they are written."""
    name = "battprof-" + version
    for file in sorted(os.listdir(package)):
        if file.endswith(".py"):
            yield "battprof/" + file, read(os.path.join(package, file)), False
    yield name + ".data/data/lib/battprof/libbattprof.so", read(library), False
    yield name + ".data/scripts/battprof", read(command), True
    yield name + ".dist-info/METADATA", METADATA.format(version=version).encode(), False
    yield name + ".dist-info/WHEEL", WHEEL.format(tag=TAG).encode(), False
    yield name + ".dist-info/licenses/licenses.txt", read(licenses), False


def add(archive, name, data, executable):
    seconds = max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)))
    entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
    # Without the kind of file pip does not take over that it can be executed.
    entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
    entry.create_system = 3  # Unix
    archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return "%s,sha256=%s,%d\n" % (name, digest, len(data))


def main():
    folder, version = sys.argv[1:3]
    path = os.path.join(folder, "battprof-%s-%s.whl" % (version, TAG))
    record = "battprof-%s.dist-info/RECORD" % version
    lines = ""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, executable in contents(version, *sys.argv[3:7]):
            add(archive, name, data, executable)
            lines += record_line(name, data)
        add(archive, record, (lines + record + ",,\n").encode(), False)
    print(path)


if __name__ == "__main__":
    main()
