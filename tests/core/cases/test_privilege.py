# SPDX-License-Identifier: MIT
"""A setuid program is not ours: it runs as before; battprof run says why there is no profile."""
from harness import *


def setuid_copy():
    if os.geteuid():
        raise Skip("needs root, to make a setuid program")
    place = new_dir()
    os.chmod(place, 0o755)
    program = shutil.copy(subject("e2e_setuid"), place)
    os.chmod(program, 0o4755)
    path = BIN
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            raise Skip("%s is closed to others" % path)
        path = os.path.dirname(path)
    done = subprocess.run([program], preexec_fn=as_nobody(), stdout=subprocess.PIPE)
    if b"secure 1" not in done.stdout:
        raise Skip("the file system of %s ignores setuid" % place)
    return program


@case
def preloaded():
    run = pair([setuid_copy()], preexec_fn=as_nobody(), stderr=False, expect=10)
    equal("files", run.files(), [])


@case
def under_battprof_run():
    program = setuid_copy()
    run = pair([program], how="run", preexec_fn=as_nobody(), expect=10)
    check(b"setuid" in run.stderr, "no word about setuid: %r" % run.stderr[-300:])


main()
