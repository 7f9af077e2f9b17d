/* SPDX-License-Identifier: MIT
 *
 * What a pattern of the DSL means, in both worlds.
 */
#include "profile/pattern.h"

#include <stdlib.h>

#include "tests/unit/test.h"
#include "tools/base/text.h"

static struct bp_pattern one(const char *text) {
    struct bp_pattern pattern = {"", ""};
    CHECK(bp_pattern_next(&text, &pattern));
    CHECK(!*text);
    return pattern;
}

static int python(const char *text, const char *module, const char *file, const char *name) {
    struct bp_pattern pattern = one(text);
    struct bp_pattern_python function = {.module = module, .file = file, .name = name};
    return bp_pattern_is_python(&pattern, &function);
}

static int native(const char *text, const char *path, const char *soname, const char *symbol) {
    struct bp_pattern pattern = one(text);
    struct bp_pattern_native function = {path, soname, symbol};
    return bp_pattern_is_native(&pattern, &function);
}

static void lists(void) {
    const char *list = " a ,, b:c\n/my files/x.py,";
    struct bp_pattern pattern;
    CHECK(bp_pattern_next(&list, &pattern));
    CHECK_TEXT(pattern.where, "a");
    CHECK_TEXT(pattern.what, "");
    CHECK(bp_pattern_next(&list, &pattern));
    CHECK_TEXT(pattern.where, "b");
    CHECK_TEXT(pattern.what, "c");
    CHECK(bp_pattern_next(&list, &pattern));
    CHECK_TEXT(pattern.where, "/my files/x.py");
    CHECK(!bp_pattern_next(&list, &pattern));
    char longest[BP_PATTERN_WHERE + 1] = "";
    memset(longest, 'x', BP_PATTERN_WHERE);
    list = longest;
    CHECK(!bp_pattern_next(&list, &pattern));
}

static void modules(void) {
    CHECK(python("mypkg.solvers", "mypkg.solvers", "/p/mypkg/solvers.py", "f"));
    CHECK(!python("mypkg.solvers", "mypkg.solvers2", "/p/mypkg/solvers2.py", "f"));
    CHECK(!python("mypkg.solvers", "solvers", "/p/mypkg/solvers.py", "f"));
    CHECK(python("mypkg", "mypkg", "/p/mypkg/__init__.py", "f"));
    CHECK(python("mypkg", "mypkg.a.b", "/p/mypkg/a/b.py", NULL));
    CHECK(!python("mypkg", "mypkgs.a", "/p/mypkgs/a.py", "f"));
    CHECK(python("my*", "mypkg.a", "/p/mypkg/a.py", "f"));
    CHECK(python("mypkg.solvers:solve_*", "mypkg.solvers", "", "solve_1"));
    CHECK(!python("mypkg.solvers:solve_*", "mypkg.solvers", "", "resolve_1"));
    CHECK(python("mypkg.solvers:solve_*", "mypkg.solvers", "", NULL));
    CHECK(python("mypkg.solvers:Grid", "mypkg.solvers", "", "Grid.paint"));
    CHECK(python("mypkg.solvers:Grid.*", "mypkg.solvers", "", "Grid.paint"));
    CHECK(!python("mypkg.solvers:Grid", "mypkg.solvers", "", "Grids"));
    CHECK(python("mypkg:solve", "mypkg", "", "solve.<locals>.<lambda>"));
}

static void files(void) {
    CHECK(python("run.py", "run", "/p/src/run.py", "f"));
    CHECK(python("run.py", "run", "run.py", "f"));
    CHECK(!python("run.py", "rerun", "/p/src/rerun.py", "f"));
    CHECK(python("./src/run.py", "run", "/p/src/run.py", "f"));
    CHECK(!python("src/run.py", "run", "/p/lib/run.py", "f"));
    CHECK(python("/p/src/run.py", "run", "/p/src/run.py", "f"));
    CHECK(python("/p/src/run.py", "run", "src/run.py", "f"));
    CHECK(!python("/q/src/run.py", "run", "/p/src/run.py", "f"));
    CHECK(python("/p/src", "a.b", "/p/src/a/b.py", "f"));
    CHECK(python("src/", "a.b", "/p/src/a/b.py", "f"));
    CHECK(!python("/p/src", "a", "/p/src2/a.py", "f"));
    CHECK(python("run.py:main", "run", "/p/run.py", "main"));
    CHECK(!python("run.py:main", "run", "/p/run.py", "other"));
    CHECK(!python("run.py", "run", "<string>", "f"));
    struct bp_pattern script = one("__main__");
    struct bp_pattern_python function = {.module = "run", .file = "/p/run.py", .name = "f"};
    CHECK(!bp_pattern_is_python(&script, &function));
    function.script = 1;
    CHECK(bp_pattern_is_python(&script, &function));
}

static void libraries(void) {
    static const char *const names[] = {"foo",           "libfoo",        "libfoo.so",
                                        "libfoo.so.1",   "libfoo.so.1.2", "/p/libfoo.so",
                                        "p/libfoo.so.1", "lib*.so*"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(native(names[i], "/p/libfoo.so.1.2", "libfoo.so.1", "f"));
    CHECK(!native("fo", "/p/libfoo.so.1.2", "libfoo.so.1", "f"));
    CHECK(!native("libfoo", "/p/libfoobar.so", "", "f"));
    CHECK(!native("/q/libfoo.so", "/p/libfoo.so", "", "f"));
    CHECK(!native("/p/libfoo.so.2", "/p/libfoo.so.1", "libfoo.so.1", "f"));
    CHECK(native("libfoo.so.1.2", "/p/libfoo.so.1", "libfoo.so.1", "f"));
    CHECK(!native("libfoo.so.1.2", "/p/libfoo.so.2", "libfoo.so.2", "f"));
    CHECK(native("prog", "/p/bin/prog", "", "f"));
    CHECK(native("./bin/prog", "/p/bin/prog", "", "f"));
    CHECK(!native("run.py", "/p/bin/run", "", "f"));
    CHECK(!native("m", "/lib/libm.so.6", "libm.so.6", "sin"));
    CHECK(native("libm", "/lib/libm.so.6", "libm.so.6", "sin"));
    CHECK(native("libfoo:sym*", "/p/libfoo.so", "", "symbol"));
    CHECK(!native("libfoo:sym*", "/p/libfoo.so", "", "asymbol"));
    CHECK(native("libfoo:sym*", "/p/libfoo.so", "", NULL));
    CHECK(native("mypkg._fast", "/p/mypkg/_fast.cpython-311-x86_64-linux-gnu.so", "", "PyInit"));
    CHECK(native("mypkg", "/p/mypkg/sub/_fast.abi3.so", "", "PyInit"));
    CHECK(!native("p", "/p/libfoo.so", "", "f"));
}

static void links(void) {
    static const char *const names[] = {"/usr/lib/x/libfoo.so.1", "/lib/x/libfoo.so.1",
                                        "/usr/lib/x/libfoo.so", "/usr/lib/x/libfoo.so.1.2",
                                        "/usr/lib/x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(native(names[i], "/lib/x/libfoo.so.1", "libfoo.so.1", "f"));
        CHECK(native(names[i], "/usr/lib/x/libfoo.so.1", "libfoo.so.1", "f"));
    }
    CHECK(native("/usr", "/usr/lib/libfoo.so.1", "", "f"));
    CHECK(!native("/usr/local/lib/libfoo.so.1", "/lib/libfoo.so.1", "libfoo.so.1", "f"));
    CHECK(!native("/usr/lib/x/libfoo.so.2", "/lib/x/libfoo.so.1", "libfoo.so.1", "f"));
    CHECK(!native("/usr/lib/x/libfoo.so.1", "/lib/y/libfoo.so.1", "libfoo.so.1", "f"));
}

static void words(void) {
    char text[64];
    CHECK_TEXT(bp_pattern_plain("_ZN2ns4Grid5paintEi", text, sizeof text), "ns::Grid::paint");
    CHECK_TEXT(bp_pattern_plain("_ZNK2ns4Grid5widthEv", text, sizeof text), "ns::Grid::width");
    CHECK_TEXT(bp_pattern_plain("_Z5solvei", text, sizeof text), "solve");
    CHECK_TEXT(bp_pattern_plain("solve", text, sizeof text), "");
    CHECK_TEXT(bp_pattern_plain("_Z999solve", text, sizeof text), "");
    CHECK_TEXT(bp_pattern_plain("_ZN2ns", text, sizeof text), "ns");
    CHECK_TEXT(bp_pattern_plain("_ZN2ns4Grid5paintEi", text, 10), "ns::Grid");
    CHECK(native("libfoo:ns::Grid", "/p/libfoo.so", "", "_ZN2ns4Grid5paintEi"));
    CHECK(native("libfoo:ns::Grid::pa*", "/p/libfoo.so", "", "_ZN2ns4Grid5paintEi"));
    CHECK(!native("libfoo:ns::Grids", "/p/libfoo.so", "", "_ZN2ns4Grid5paintEi"));
}

static void check_path(const char *folder, const char *path, const char *want) {
    char *got = bp_plain_path(folder, path);
    CHECK_TEXT(got, want);
    free(got);
}

static void paths(void) {
    check_path("/a/b", "./c.py", "/a/b/c.py");
    check_path("/a/b", "../c.py", "/a/c.py");
    check_path("/a/b", "../../../c", "/c");
    check_path("/a", "..", "/");
    check_path("/a", "/x//y/./z", "/x/y/z");
}

int main(void) {
    RUN(lists);
    RUN(modules);
    RUN(files);
    RUN(libraries);
    RUN(links);
    RUN(words);
    RUN(paths);
    return test_result();
}
