/* SPDX-License-Identifier: MIT
 *
 * One library in several states of undress: with everything, stripped, with a debug file beside it
 * or by its build id, replaced by another. Arguments: the whole one, the stripped one, the one with
 * a debug link, the debug file.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tools/symbols/symbols.h"

static struct {
    const char *whole, *stripped, *linked, *debug;
    uint64_t outer, hidden, cxx, clone, mark; /* addresses in the file */
    int inlined_line, call_line;
    uint8_t build_id[64];
    uint32_t build_id_size;
} subject;

static int find_build_id(struct dl_phdr_info *info, size_t size, void *name) {
    (void)size;
    if (!strstr(info->dlpi_name, name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const char *at = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        const char *end = at + info->dlpi_phdr[i].p_memsz;
        while (info->dlpi_phdr[i].p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) < end) {
            const ElfW(Nhdr) *note = (const void *)at;
            at += sizeof(*note) + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= sizeof(subject.build_id)) {
                subject.build_id_size = note->n_descsz;
                memcpy(subject.build_id, at, note->n_descsz);
                return 1;
            }
            at += (note->n_descsz + 3) & ~3u;
        }
    }
    return 0;
}

static void load_subject(void) {
    void *library = dlopen(subject.whole, RTLD_NOW);
    CHECK(library);
    void *const *functions = dlsym(library, "subject_functions");
    const int *lines = dlsym(library, "subject_lines");
    char *mark = dlsym(library, "subject_mark");
    Dl_info info;
    CHECK(functions && lines && mark && dladdr(functions[0], &info));
    uint64_t base = (uint64_t)info.dli_fbase;
    subject.outer = (uint64_t)functions[0] - base;
    subject.hidden = (uint64_t)functions[1] - base;
    subject.cxx = (uint64_t)functions[2] - base;
    subject.clone = (uint64_t)functions[3] - base;
    subject.mark = (uint64_t)mark - base;
    subject.inlined_line = lines[0];
    subject.call_line = lines[1];
    CHECK(dl_iterate_phdr(find_build_id, (void *)strrchr(subject.whole, '/')));
}

static uint32_t add(struct bp_symbols *symbols, const char *path) {
    struct bp_symbol_file file = {path, subject.build_id, subject.build_id_size, 0};
    return bp_symbols_add(symbols, &file);
}

static void check_all_names(struct bp_symbols *symbols, uint32_t file) {
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.outer), "subject_outer");
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.outer + 1), "subject_outer");
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.mark), "subject_outer");
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.hidden), "hidden_one");
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.cxx), "grids::fill(int)");
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.clone), "subject_task");
    CHECK_TEXT(bp_symbols_function(symbols, file, 0), "");
    CHECK_TEXT(bp_symbols_function(symbols, file, UINT64_MAX), "");
    CHECK_TEXT(bp_symbols_problem(symbols, file), "");
}

static void check_inlined(struct bp_symbols *symbols, uint32_t file) {
    uint32_t count;
    const struct bp_symbol *frames = bp_symbols_frames(symbols, file, subject.mark, &count);
    CHECK_EQUAL(count, 2);
    if (count != 2)
        return;
    CHECK_TEXT(frames[0].function, "inlined_part");
    CHECK(strstr(frames[0].file, "symbols_subject.c"));
    CHECK_EQUAL(frames[0].line, subject.inlined_line);
    CHECK_TEXT(frames[1].function, "subject_outer");
    CHECK(strstr(frames[1].file, "symbols_subject.c"));
    CHECK_EQUAL(frames[1].line, subject.call_line);
    CHECK(bp_symbols_frames(symbols, file, subject.mark, &count) == frames);
}

/* Somewhere before the code is the table of jumps. */
static void check_jump(struct bp_symbols *symbols, uint32_t file) {
    uint32_t found = 0;
    for (uint64_t address = subject.outer & ~UINT64_C(0xfff); address < subject.outer; address++)
        found += strcmp(bp_symbols_function(symbols, file, address), BP_SYMBOL_JUMP) == 0;
    CHECK(found >= 16);
}

static void whole(void) {
    struct bp_symbols *symbols = bp_symbols_new(NULL);
    uint32_t file = add(symbols, subject.whole);
    CHECK_EQUAL(add(symbols, subject.whole), file);
    check_all_names(symbols, file);
    check_inlined(symbols, file);
    check_jump(symbols, file);
    bp_symbols_free(symbols);
}

static void stripped(void) {
    struct bp_symbols *symbols = bp_symbols_new("");
    uint32_t file = add(symbols, subject.stripped);
    uint32_t count;
    char expected[64];
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.outer), "subject_outer");
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.cxx), "grids::fill(int)");
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.hidden), "");
    const char *label = bp_symbols_label(symbols, file, subject.hidden + 2);
    snprintf(expected, sizeof(expected), "%s+0x%llx", strrchr(subject.stripped, '/') + 1,
             (unsigned long long)subject.hidden);
    CHECK_TEXT(label, expected);
    const struct bp_symbol *frames = bp_symbols_frames(symbols, file, subject.mark, &count);
    CHECK_EQUAL(count, 1);
    CHECK_TEXT(frames[0].function, "subject_outer");
    CHECK_TEXT(frames[0].file, "");
    CHECK_EQUAL(frames[0].line, 0);
    bp_symbols_free(symbols);
}

static void debug_link(void) {
    struct bp_symbols *symbols = bp_symbols_new(NULL);
    uint32_t file = add(symbols, subject.linked);
    check_all_names(symbols, file);
    check_inlined(symbols, file);
    bp_symbols_free(symbols);
}

/* DIR/.build-id/ab/cdef….debug */
static void by_build_id(void) {
    char directory[] = "/tmp/battprof-symbols-XXXXXX";
    char path[256];
    CHECK(mkdtemp(directory));
    int length = snprintf(path, sizeof(path), "%s/.build-id", directory);
    CHECK_EQUAL(mkdir(path, 0700), 0);
    length += snprintf(path + length, sizeof(path) - (size_t)length, "/%02x", subject.build_id[0]);
    CHECK_EQUAL(mkdir(path, 0700), 0);
    path[length++] = '/';
    for (uint32_t i = 1; i < subject.build_id_size; i++)
        length += sprintf(path + length, "%02x", subject.build_id[i]);
    strcpy(path + length, ".debug");
    CHECK_EQUAL(symlink(subject.debug, path), 0);
    struct bp_symbols *symbols = bp_symbols_new(directory);
    uint32_t file = add(symbols, subject.stripped);
    check_all_names(symbols, file);
    check_inlined(symbols, file);
    bp_symbols_free(symbols);
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
    rmdir(directory);
}

static void another_file(void) {
    struct bp_symbols *symbols = bp_symbols_new(NULL);
    uint8_t other[20] = {1, 2, 3};
    struct bp_symbol_file replaced = {subject.whole, other, sizeof(other), 0};
    struct bp_symbol_file younger = {subject.whole, NULL, 0, 1000000000};
    struct bp_symbol_file unknown = {subject.whole, NULL, 0, 0};
    struct bp_symbol_file gone = {"/nowhere/libgone.so", NULL, 0, 0};
    uint32_t file = bp_symbols_add(symbols, &replaced);
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.outer), "");
    CHECK(strstr(bp_symbols_problem(symbols, file), "another build id"));
    CHECK_EQUAL(add(symbols, subject.whole), file + 1);
    file = bp_symbols_add(symbols, &younger);
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.outer), "");
    CHECK(strstr(bp_symbols_problem(symbols, file), "changed since"));
    bp_symbols_free(symbols);
    symbols = bp_symbols_new(NULL);
    file = bp_symbols_add(symbols, &unknown);
    CHECK_TEXT(bp_symbols_function(symbols, file, subject.outer), "subject_outer");
    file = bp_symbols_add(symbols, &gone);
    CHECK_TEXT(bp_symbols_label(symbols, file, 0x1234), "libgone.so+0x1234");
    CHECK(strstr(bp_symbols_problem(symbols, file), "not here"));
    bp_symbols_free(symbols);
}

static void vdso(void) {
    void *library = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
    char *function = library ? dlsym(library, "__vdso_clock_gettime") : NULL;
    Dl_info info;
    struct bp_symbols *symbols = bp_symbols_new(NULL);
    struct bp_symbol_file file = {"linux-vdso.so.1", NULL, 0, 0};
    uint32_t number = bp_symbols_add(symbols, &file);
    CHECK_TEXT(bp_symbols_label(symbols, number, 0), "[vdso]+0x0");
    if (function && dladdr(function, &info)) {
        uint64_t address = (uint64_t)function - (uint64_t)info.dli_fbase;
        CHECK_TEXT(bp_symbols_function(symbols, number, address), "clock_gettime");
    }
    bp_symbols_free(symbols);
}

static void generated_code(void) {
    char path[64];
    struct bp_symbols *symbols = bp_symbols_new(NULL);
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
    FILE *file = fopen(path, "w");
    CHECK(file);
    fputs("7f0000001000 40 py::objects:/x/dsl.py\nnonsense\n7f0000001040 0 empty\n"
          "7f0000002000 10 old\n7f0000002000 20 new@2 part\nffffffffffffffff 20 wraps\n",
          file);
    fclose(file);
    CHECK_TEXT(bp_symbols_generated(symbols, getpid(), 0x7f000000103f), "py::objects:/x/dsl.py");
    CHECK_TEXT(bp_symbols_generated(symbols, getpid(), 0x7f0000001040), "");
    CHECK_TEXT(bp_symbols_generated(symbols, getpid(), 0x7f0000002018), "new@2 part");
    CHECK_TEXT(bp_symbols_generated(symbols, getpid(), 0xfffffffffffffffe), "");
    CHECK_TEXT(bp_symbols_generated(symbols, 1 << 30, 0x7f0000001000), "");
    unlink(path);
    bp_symbols_free(symbols);
}

/* A table has no room for arguments, and nobody looks for a function by the type it returns. */
static void short_names(void) {
    static const char *const cases[][2] = {
        {"ns::Grid::paint(int, char const*) const", "ns::Grid::paint"},
        {"solve(int)", "solve"},
        {"(anonymous namespace)::solve(int)", "(anonymous namespace)::solve"},
        {"void ns::apply<int, std::vector<int> >(int)", "ns::apply<int, std::vector<int> >"},
        {"std::vector<int, std::allocator<int> > make<int>()", "make<int>"},
        {"Grid::operator()(int) const", "Grid::operator()"},
        {"operator new(unsigned long)", "operator new"},
        {"plain_c", "plain_c"},
        {"run(void (*)(int))", "run"},
        {"f(int)::{lambda(int)#1}::operator()(int) const", "f(int)::{lambda(int)#1}::operator()"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *name = bp_symbol_short(cases[i][0]);
        CHECK_TEXT(name, cases[i][1]);
        free(name);
    }
}

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    subject.whole = argv[1];
    subject.stripped = argv[2];
    subject.linked = argv[3];
    subject.debug = realpath(argv[4], NULL);
    RUN(load_subject);
    RUN(whole);
    RUN(stripped);
    RUN(debug_link);
    RUN(by_build_id);
    RUN(another_file);
    RUN(vdso);
    RUN(generated_code);
    RUN(short_names);
    return test_result();
}
