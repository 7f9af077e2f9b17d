/* SPDX-License-Identifier: MIT
 *
 * `battprof start`: processes that are paused are recorded from now on.
 */
#include "tools/command/commands.h"
#include "tools/live/control.h"

const struct bp_command bp_command_start = {
    .name = "start",
    .summary = "record processes that are paused",
    .usage = "[TARGET]",
    .about = "Records the processes of TARGET from now on: one process, or all processes of a run "
             "and those that begin later. TARGET is the number of a process, a profile or the "
             "directory of a run; the default is the run in the working directory. Returns when "
             "all of them record, or after three seconds; then a line names each process that has "
             "not answered. One that is waiting answers when it next runs.",
    .next = "Example:\n"
            "  battprof start 1234\n"
            "Next: battprof report",
    .main = bp_cmd_start,
};

int bp_cmd_start(int argc, char **argv, struct bp_error *error) {
    int first = bp_options_parse(&bp_command_start, NULL, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (argc - first > 1) {
        bp_error_set(error, BP_USAGE, "start: one target, or none: battprof start 1234");
        return BP_USAGE;
    }
    return bp_control_switch(argv[first], false, stdout, error) ? BP_FAILED : BP_FINE;
}
