# SPDX-License-Identifier: MIT
"""dlopen, dlsym, dlclose: late libraries are hooked, and the caller's rights stay the caller's."""
from harness import *


def late(name):
    def go():
        run, report = counted([subject("e2e_loader"), name, subject("libdsllate.so")])
        equal("late_both", calls(report, "late_both"), 50)
    go.__name__ = "late_" + name
    case(go)


for name in ("now", "lazy", "global"):
    late(name)


@case
def same_name_in_two_libraries():
    run, report = counted([subject("e2e_loader"), "twins", subject("libdsltwina.so"),
                           subject("libdsltwinb.so")])
    equal("a", calls(report, "late_step", "libdsltwina.so"), 30)
    equal("b", calls(report, "late_step", "libdsltwinb.so"), 70)


@case
def close_and_open_again():
    counted([subject("e2e_loader"), "reopen", subject("libdsllate.so")])


@case
def others_are_still_unloaded():
    run = pair([subject("e2e_loader"), "reopen", subject("libplainlate.so")], expect=0)
    check(run.stdout.count(b"unloaded") == 5, "not unloaded at each dlclose")
    equal("work_add", calls(run.report(), "work_add"), 50)


@case
def default_scope():
    run, report = counted([subject("e2e_loader"), "default"])
    equal("work_add", calls(report, "work_add"), 10)


@case
def error_texts():
    pair([subject("e2e_loader"), "errors"], expect=0)


@case
def dladdr_works():
    pair([subject("e2e_loader"), "dladdr"], expect=0, stderr=False)


@case
def next_in_order():
    run, report = counted([subject("loader_next"), "next"])
    equal("work_sub", calls(report, "work_sub", "libdslwork.so"), 6)


@case
def next_under_battprof_run():
    counted([subject("loader_next"), "next"], how="run")


@case
def runpath_of_the_caller():
    place = new_dir()
    os.makedirs(place + "/sub/inner")
    shutil.copy(subject("libopener.so"), place + "/sub")
    shutil.copy(subject("libdslsibling.so"), place + "/sub/inner")
    env = {"LD_LIBRARY_PATH": BIN}  # for libdslwork.so, which the copies do not find otherwise
    opener = place + "/sub/libopener.so"
    run, report = counted([subject("e2e_loader"), "opener", opener], env=env)
    equal("late_step", calls(report, "late_step", "libdslsibling.so"), 1)


@case
def another_namespace():
    pair([subject("e2e_loader"), "dlmopen", subject("libplainlate.so")], expect=0)


@case
def opened_by_eight_threads():
    for _ in range(3):
        counted([subject("e2e_loader"), "race", subject("libdsltwina.so"),
                 subject("libdsltwinb.so"), subject("libdsllate.so")])


main()
