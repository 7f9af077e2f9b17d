/* SPDX-License-Identifier: MIT
 *
 * `battprof mark`: an instant of a run is noted in its profile.
 */
#include "tools/command/commands.h"
#include "tools/live/control.h"

const struct bp_command bp_command_mark = {
    .name = "mark",
    .summary = "mark an instant of a run with a text",
    .usage = "TARGET TEXT",
    .about =
        "Adds a mark with TEXT and the current time to the profile of a running program: reports "
        "and timelines show it. TARGET is the number of a process, a profile or the directory of "
        "a run. The program is not interrupted. Up to 111 bytes of TEXT are kept.",
    .next = "Example:\n"
            "  battprof mark 1234 'epoch 2'\n"
            "Next: battprof report",
    .main = bp_cmd_mark,
};

int bp_cmd_mark(int argc, char **argv, struct bp_error *error) {
    int first = bp_options_parse(&bp_command_mark, NULL, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (argc - first != 2) {
        bp_error_set(error, BP_USAGE,
                     "mark: give a target and a text: battprof mark 1234 'epoch 2'");
        return BP_USAGE;
    }
    return bp_control_mark(argv[first], argv[first + 1], stdout, error) ? BP_FAILED : BP_FINE;
}
