/* SPDX-License-Identifier: MIT
 *
 * `battprof stop`: recording of processes is paused.
 */
#include "tools/command/commands.h"
#include "tools/live/control.h"

const struct bp_command bp_command_stop = {
    .name = "stop",
    .summary = "pause the recording of processes",
    .usage = "[TARGET]",
    .about = "Pauses the recording of the processes of TARGET. They keep running, and their calls "
             "cost what they cost without battprof. TARGET is as for `battprof start`. What was "
             "recorded stays; reports show for how long recording was paused.",
    .next = "Example:\n"
            "  battprof stop 1234\n"
            "Next: battprof report",
    .main = bp_cmd_stop,
};

int bp_cmd_stop(int argc, char **argv, struct bp_error *error) {
    int first = bp_options_parse(&bp_command_stop, NULL, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (argc - first > 1) {
        bp_error_set(error, BP_USAGE, "stop: one target, or none: battprof stop 1234");
        return BP_USAGE;
    }
    return bp_control_switch(argv[first], true, stdout, error) ? BP_FAILED : BP_FINE;
}
