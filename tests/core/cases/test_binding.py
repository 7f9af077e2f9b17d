# SPDX-License-Identifier: MIT
"""Every kind of slot leads to the same stub: exact counts, equal pointers."""
from harness import *


def bound(how):
    def go():
        run, report = counted([subject("binding_" + how)])
        # The subject's own arithmetic, as a check of the counters themselves.
        equal("work_add", calls(report, "work_add"), 1000 + 12 + 10 + 7 + 5 + 9 + 1)
        equal("work_sub", calls(report, "work_sub"), 10 + 2 * 7 + 5)
        equal("category", rows(report, "work_add")[0]["category"], "dsl")
        coverage = [c for c in report["coverage"]
                    if os.path.basename(c["library"]) == "libdslwork.so"]
        equal("coverage rows", len(coverage), 1)
        check(coverage[0]["hooked"] >= 5 and coverage[0]["exports"] >= coverage[0]["hooked"],
              "coverage: %r" % coverage[0])
        check(5 <= coverage[0]["called"] <= coverage[0]["hooked"], "coverage: %r" % coverage[0])
    go.__name__ = how
    case(go)


for how in ("lazy", "now", "noplt", "nopie", "nopie_now"):
    bound(how)


@case
def bind_now_from_outside():
    counted([subject("binding_lazy")], env={"LD_BIND_NOW": "1"})


@case
def functions_of_haskell():
    """They are jumped to, with a table in front of them: no stub can take their place."""
    run = pair([subject("info")], hook="*", expect=0)
    equal("output", run.stdout, b"4242 8\n")
    rows_of = [c for c in run.report()["coverage"] if c["library"] == "libHSinfo.so"]
    equal("coverage", [(c["hooked"], c["called"]) for c in rows_of], [(0, 0)])
    check("Haskell" in rows_of[0]["reason"], "reason: %r" % rows_of[0])


@case
def odd_symbols():
    run = pair([subject("odd")], expect=0)
    report, truth = run.report(), run.counts()
    library = "libdslodd.so"
    for name in ("odd_ifunc", "odd_protected"):
        equal(name, calls(report, name, library), truth[library, name][0])
    # One address with two names is one function; which name it gets is not said.
    equal("alias", calls(report, "odd_real", library) + calls(report, "odd_alias", library),
          truth[library, "odd_real"][0])
    # Two versions are two functions; the report may add up what has one name.
    equal("versions", calls(report, "odd_version", library),
          sum(truth[library, "odd_version_%d" % i][0] for i in (1, 2)))


@case
def only_what_is_asked_for():
    run = pair([subject("binding_plain")], expect=0)
    report = run.report()
    equal("not hooked", calls(report, "work_add"), 0)


@case
def hook_library():
    run, report = counted([subject("binding_plain")], hook="libplain*")
    equal("category", rows(report, "work_add")[0]["category"], "framework")


@case
def hook_symbols():
    run = pair([subject("binding_plain")], hook="libplainwork.so:work_a*", expect=0)
    report, truth = run.report(), run.counts()
    for name in ("work_add", "work_address"):
        equal(name, calls(report, name), truth["libplainwork.so", name][0])
    for name in ("work_sub", "work_compare", "work_tail"):
        equal(name, calls(report, name), 0)


@case
def count_symbols():
    run = pair([subject("binding_plain")], expect=0,
               env={"BATTPROF_COUNT": "libplainwork.so:work_a*,logging:*"})
    report, truth = run.report(), run.counts()
    for name in ("work_add", "work_address"):
        equal(name, calls(report, name), truth["libplainwork.so", name][0])
        equal("category", rows(report, name)[0]["category"], "framework")
        equal("counted", rows(report, name)[0]["counted"], True)
    equal("work_sub", calls(report, "work_sub"), 0)


@case
def count_beside_hook():
    run, report = counted([subject("binding_plain")], hook="libplain*", how="run",
                          options=["--count", "libplain*:work_sub"])
    equal("counted", rows(report, "work_sub")[0]["counted"], True)
    equal("not counted", "counted" in rows(report, "work_add")[0], False)


@case
def hook_two_patterns():
    run = pair([subject("binding_plain")], hook="libnone*,libplainwork.so:work_sub", expect=0)
    report = run.report()
    equal("work_sub", calls(report, "work_sub"), run.counts()["libplainwork.so", "work_sub"][0])
    equal("work_add", calls(report, "work_add"), 0)


main()
