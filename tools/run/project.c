/* SPDX-License-Identifier: MIT */
#include "tools/run/project.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

/* What stands at the top of a project, and only there. */
static const char *const marks[] = {".git",     ".hg",       ".svn",        "pyproject.toml",
                                    "setup.py", "setup.cfg", "meson.build", "configure.ac"};

static bool has_mark(const char *folder) {
    bool found = false;
    for (size_t i = 0; !found && i < sizeof(marks) / sizeof(marks[0]); i++) {
        char *path = bp_make_text("%s/%s", folder, marks[i]);
        found = access(path, F_OK) == 0;
        free(path);
    }
    return found;
}

/* Half of the machine is below these, and not one project. */
static bool is_too_high(const char *folder) {
    const char *home = getenv("HOME");
    size_t length = strlen(folder);
    return length < 2 || !strchr(folder + 1, '/') ||
           (home && strncmp(home, folder, length) == 0 && strchr("/", home[length]));
}

char *bp_project_find(void) {
    char *folder = getcwd(NULL, 0);
    char *best = bp_copy_text("");
    while (folder && folder[0] == '/' && !is_too_high(folder)) {
        if (has_mark(folder)) {
            free(best);
            best = bp_copy_text(folder);
            break;
        }
        *strrchr(folder, '/') = 0;
    }
    free(folder);
    return best;
}
