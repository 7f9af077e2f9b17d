/* SPDX-License-Identifier: MIT
 *
 * `battprof help concepts`: what the words of a report mean, in one place. docs/glossary.md has the
 * same words and more of them.
 */
#include "tools/command/commands.h"

#include "tools/base/wrap.h"

#define WORD_COLUMN 15

static const struct {
    const char *word;
    const char *meaning;
} concepts[] = {
    {"wall", "Time on the clock. At each instant it belongs in equal parts to the threads that "
             "are busy, so the parts of a report add up to it."},
    {"thread time", "The sum over all threads. Two threads that are busy for a second have two "
                    "seconds of thread time, and share one second of the wall."},
    {"DSL", "Your functions: those of a library libdsl* or a Python module dsl, or what --dsl "
            "names. Every call is counted and timed."},
    {"framework", "All other time of the program: logging, imports, files, waiting, libraries. It "
                  "is never one number: the report divides it by what it was for."},
    {"your code", "Where no DSL is named or found: the script, notebook cells, Python files that "
                  "are not installed, the program and the libraries beside it. The headline then "
                  "has your code, libraries, the standard library and interpreter, imports, "
                  "waiting and file I/O instead of DSL and framework."},
    {"transfer", "Time in CUDA calls while bytes move between host and device."},
    {"self", "Time with the function innermost: what making this function faster can save."},
    {"total", "Time while the function was open, with everything that it calls."},
    {"exact", "Each call was intercepted: counts are true, and times are measured. Other "
              "functions are sampled: their times are estimates with an error."},
    {"waiting", "Time in a call that blocks: a lock, a sleep, another process. It costs wall time "
                "only while no thread is busy."},
    {"overhead", "What battprof itself cost. It is measured, shown on its own line, and taken out "
                 "of all other figures."},
    {"task", "A call that is recorded by itself and identified by an argument: --task 'batt(1)'. "
             "The report shows how long tasks take, and what is unusual about the slow ones."},
    {"unknown", "What could not be measured. It is never shown as 0."},
};

void bp_concepts_print(FILE *out) {
    fprintf(out, "The words of a report\n\n");
    for (size_t i = 0; i < sizeof(concepts) / sizeof(concepts[0]); i++) {
        int column = fprintf(out, "  %-*s", WORD_COLUMN - 2, concepts[i].word);
        bp_wrap_print(concepts[i].meaning, column, WORD_COLUMN, out);
    }
}
