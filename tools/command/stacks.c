/* SPDX-License-Identifier: MIT
 *
 * `battprof stacks`: what each thread of a process is doing now.
 */
#include "tools/live/stacks.h"

#include "tools/command/commands.h"
#include "tools/live/find.h"

static const struct bp_option options[] = {
    {"no-stop", 0, NULL, "stop no thread; show only the open calls in the profile", bp_option_flag,
     offsetof(struct bp_stacks_settings, no_stop)},
};

const struct bp_command bp_command_stacks = {
    .name = "stacks",
    .summary = "what each thread of a process is doing now",
    .usage = "[options] PID",
    .about =
        "Shows the threads of a process: the intercepted calls that are open and for how long, "
        "if it is being recorded; and its Python and native frames, where ptrace is allowed. Each "
        "thread stops while its stack is walked, for a few milliseconds. Native frames need "
        "libunwind.",
    .next = "Example:\n"
            "  battprof stacks 1234",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_stacks,
};

int bp_cmd_stacks(int argc, char **argv, struct bp_error *error) {
    struct bp_stacks_settings settings = {0};
    int first = bp_options_parse(&bp_command_stacks, &settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    pid_t pid = argc - first == 1 ? bp_find_pid(argv[first]) : 0;
    if (!pid) {
        bp_error_set(error, BP_USAGE,
                     "stacks: give the number of one process: battprof stacks 1234");
        return BP_USAGE;
    }
    return bp_stacks_print(pid, &settings, stdout, error) ? BP_FAILED : BP_FINE;
}
