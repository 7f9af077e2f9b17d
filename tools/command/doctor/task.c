/* SPDX-License-Identifier: MIT
 *
 * Will the calls of a task's function be seen? Of a Python function its module must be Python code;
 * Python itself finds it, and nothing of the program runs.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/command/doctor/doctor.h"

/* Where Python would find the module, "" if it would not: a new text. */
static char *find_module(const struct bp_probe *probe, const char *module, char **command) {
    static const char script[] = "import importlib.util as u, os, sys; "
                                 "sys.path[:0] = [os.path.dirname(sys.argv[2])]; "
                                 "s = u.find_spec(sys.argv[1]); print(s.origin if s else '')";
    const char *file = "./";
    for (char **word = command + 1; *word && strcmp(file, "./") == 0; word++)
        if (strlen(*word) > 3 && strcmp(*word + strlen(*word) - 3, ".py") == 0)
            file = *word;
    const char *const words[] = {bp_text_get(&probe->path), "-c", script, module, file, NULL};
    char *origin = bp_doctor_read(words, false);
    if (!origin)
        return bp_copy_text("");
    origin[strcspn(origin, "\n")] = 0;
    return origin;
}

static void judge_python(const char *where, const char *function, const struct bp_probe *probe,
                         char **command, struct bp_finding *finding) {
    if (!where[0] || strpbrk(where, "*?[")) {
        bp_finding_set(finding, BP_ABSENT,
                       "found when a module has it; a function that is written in C is no Python "
                       "function: MODULE:%s lets doctor look",
                       function);
        return;
    }
    char *origin = find_module(probe, where, command);
    size_t length = strlen(origin);
    if (length > 3 && strcmp(origin + length - 3, ".py") == 0) {
        bp_finding_set(finding, BP_GOOD, "%s is Python code: %s", where, origin);
        free(origin);
        return;
    }
    bp_finding_set(finding, BP_BAD,
                   length ? "%s is no Python code, but %s: calls of its "
                            "functions cannot be seen"
                          : "Python finds no module %s here%s",
                   where, origin);
    free(origin);
    bp_finding_cure(finding, length ? "name a Python function that calls it, or an exported "
                                      "function of a library: 'lib.so:name'"
                                    : "run doctor where the program is run; a script's own module "
                                      "is its file's name");
}

/* The rule is [WHERE:]FUNCTION[(ARGUMENT)]. */
void bp_doctor_task(const char *rule, const struct bp_probe *probe, char **command,
                    struct bp_finding *finding) {
    const char *colon = strchr(rule, ':'), *name = colon ? colon + 1 : rule;
    char *where = bp_make_text("%.*s", colon ? (int)(colon - rule) : 0, rule);
    char *function = bp_make_text("%.*s", (int)strcspn(name, "("), name);
    bool native = strncmp(where, "lib", 3) == 0 || strstr(where, ".so");
    bool python = strncmp(bp_base_name(bp_text_get(&probe->program)), "python", 6) == 0 ||
                  strncmp(bp_base_name(bp_text_get(&probe->path)), "python", 6) == 0;
    if (python && !native)
        judge_python(where, function, probe, command, finding);
    else
        bp_doctor_native_task(where, function, probe, finding);
    free(where);
    free(function);
}

void bp_doctor_program(const struct bp_probe *probe, struct bp_finding *finding) {
    if (probe->kind == BP_PROBE_FINE)
        bp_finding_set(finding, BP_GOOD, "%s", bp_text_get(&probe->program));
    else
        bp_finding_set(finding, BP_BAD, "%s %s",
                       bp_text_get(probe->program.length ? &probe->program : &probe->path),
                       bp_probe_reason(probe->kind));
}
