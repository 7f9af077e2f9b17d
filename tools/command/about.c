/* SPDX-License-Identifier: MIT
 *
 * See about.h.
 */
#include "tools/command/about.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/build_id.h"
#include "tools/base/completion.h"
#include "tools/run/carried.h"
#include "tools/run/library.h"

const char bp_about_help[] =
    "  -h, --help              show this text\n"
    "  -V, --version           show the version\n"
    "      --library           print the path of libbattprof.so, for LD_PRELOAD\n"
    "      --licenses          print the licences of what is inside this command\n"
    "      --completion SHELL  print the completion for bash, zsh or fish: put\n"
    "                          eval \"$(battprof --completion bash)\" in ~/.bashrc\n";

static int print_version(void) {
    char *version = bp_version();
    printf("battprof %s\n", version);
    free(version);
    return BP_FINE;
}

static int print_library(struct bp_error *error) {
    char *path = bp_library_find(error);
    if (!path)
        return BP_FAILED;
    printf("%s\n", path);
    free(path);
    return BP_FINE;
}

static int print_licenses(struct bp_error *error) {
    struct bp_carried texts;
    if (!bp_carried_find("licenses.txt", &texts)) {
        printf(
            "battprof is under the MIT licence. It is linked with libraries of this machine, each "
            "under its own.\n");
        return BP_FINE;
    }
    fflush(stdout);
    if (bp_carried_write(&texts, STDOUT_FILENO))
        return bp_error_set(error, BP_FAILED, "cannot write to stdout; is the disk full?");
    return BP_FINE;
}

static int print_completion(const char *shell, const struct bp_command *const *commands,
                            struct bp_error *error) {
    static const struct {
        const char *name;
        void (*print)(const struct bp_command *const *commands, FILE *out);
    } shells[] = {
        {"bash", bp_completion_bash},
        {"fish", bp_completion_fish},
        {"zsh", bp_completion_zsh},
    };
    for (size_t i = 0; shell && i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(commands, stdout);
            return BP_FINE;
        }
    return bp_error_set(error, BP_USAGE, "--completion: write bash, zsh or fish");
}

bool bp_about(int argc, char **argv, const struct bp_command *const *commands, int *status,
              struct bp_error *error) {
    const char *name = argv[0];
    if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        *status = print_version();
    else if (!strcmp(name, "--library"))
        *status = print_library(error);
    else if (!strcmp(name, "--licenses"))
        *status = print_licenses(error);
    else if (!strcmp(name, "--completion"))
        *status = print_completion(argc > 1 ? argv[1] : NULL, commands, error);
    else
        return false;
    return true;
}
