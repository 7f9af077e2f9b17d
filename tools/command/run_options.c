/* SPDX-License-Identifier: MIT
 *
 * The options of `battprof run`.
 */
#include "tools/command/commands.h"
#include "tools/run/output.h"
#include "tools/run/settings.h"

#define SETTING(member) offsetof(struct bp_run_settings, member)

static const struct bp_option options[] = {
    {"output", 'o', "DIR",
     "write the profile to DIR (default " BP_DEFAULT_OUTPUT "); an existing one is kept as DIR.old",
     bp_option_text, SETTING(output)},
    {"dsl", 0, "PATTERN",
     "what is yours: measure every call of these functions and count them as DSL. A Python module "
     "or package, a script or file, a library or executable, or functions of one: mypkg, __main__, "
     "./src/run.py, libfoo, 'mypkg.solvers:solve_*', 'libfoo:sym*' (default dsl and libdsl*); may "
     "be repeated",
     bp_option_list, SETTING(dsl)},
    {"hook", 0, "PATTERN",
     "for experts: also intercept the exported functions of libraries that match, as 'lib*.so*', "
     "or single functions, as 'lib.so:sym*', without making them DSL; may be repeated",
     bp_option_list, SETTING(hooks)},
    {"no-wait", 0, NULL, "do not intercept blocking calls and file I/O", bp_option_flag,
     SETTING(no_wait)},
    {"paused", 0, NULL,
     "begin paused: nothing is recorded before `battprof start`, or battprof_start() in the "
     "program",
     bp_option_flag, SETTING(paused)},
    {"python", 0, "GLOB",
     "for experts: measure the functions of the Python modules whose names match, as DSL; none: no "
     "Python functions; may be repeated",
     bp_option_list, SETTING(python)},
    {"python-all", 0, NULL, "measure every Python function", bp_option_flag, SETTING(python_all)},
    {"count", 0, "PATTERN",
     "for experts: also measure every call of these functions, without making them DSL: "
     "'logging:*', 'json.*:dump*' of Python modules, 'libm.so*:sin*' of libraries; may be repeated",
     bp_option_list, SETTING(count)},
    {"lines", 0, "PATTERN",
     "count every line of these Python functions and of what is nested in them, and measure its "
     "time: 'dsl:index', 'dsl:Grid.*'; may be repeated",
     bp_option_list, SETTING(lines)},
    {"task", 0, "FUNCTION",
     "a call of this function is a task, identified by an argument: 'batt', 'batt(task_id)', "
     "'libbatt.so:batt(1)', 'nvtx:task *'; none: no tasks; may be repeated",
     bp_option_list, SETTING(tasks)},
    {"phase", 0, "NAME=FUNCTION", "the time of this function is a phase; may be repeated",
     bp_option_list, SETTING(phases)},
    {"sample", 0, "FUNCTION", "a call of this function is one item of a task; may be repeated",
     bp_option_list, SETTING(samples)},
    {"generator", 0, "FUNCTION",
     "this function generates code: repeated calls for one input are reported; may be repeated",
     bp_option_list, SETTING(generators)},
    {"progress", 0, NULL, "print a line for every task that ends", bp_option_flag,
     SETTING(progress)},
    {"brief", 0, NULL,
     "end with a report of 20 lines at most: where the wall went and what to change first",
     bp_option_flag, SETTING(brief)},
    {"html", 0, "FILE", "also write the report as an HTML page", bp_option_text, SETTING(html)},
    {"rate", 0, "N", "sample each thread N times per second of its CPU time (default 200)",
     bp_option_number, SETTING(rate)},
    {"no-sampling", 0, NULL, "turn sampling off; only intercepted functions are reported",
     bp_option_flag, SETTING(no_sampling)},
    {"exact", 0, NULL, "time every call, even of functions that take less time than timing them",
     bp_option_flag, SETTING(exact)},
    {"device", 0, "DEVICE",
     "give the target a simulated GPU: sim:t4, sim:p100 or sim:l4; the program must use a dynamic "
     "libcudart",
     bp_option_text, SETTING(device)},
    {"cuda", 0, "MODE",
     "how much to record of CUDA: full (default), transfers (no kernels), wrappers (calls only) or "
     "off",
     bp_option_text, SETTING(cuda)},
    {"check-transfers", 0, NULL,
     "compare the contents of copies, to find data that is copied twice or comes back unchanged",
     bp_option_flag, SETTING(check_transfers)},
    {"rules", 0, "FILE", "categories and groups for the report from FILE (JSON)", bp_option_text,
     SETTING(rules)},
    {"keep-going", 0, NULL,
     "run COMMAND unprofiled if the profile cannot be written, with the built-in rules if FILE has "
     "a mistake",
     bp_option_flag, SETTING(keep_going)},
    {"quiet", 'q', NULL, "print no report", bp_option_flag, SETTING(quiet)},
    {"repeat", 0, "N",
     "run COMMAND N times, into DIR/1 to DIR/N; the report shows means and their spread",
     bp_option_number, SETTING(repeat)},
};

const struct bp_command bp_command_run = {
    .name = "run",
    .summary = "run a command and its children under the profiler, then report",
    .usage = "[options] [--] COMMAND [ARGUMENT]...",
    .about = "Runs COMMAND with libbattprof.so preloaded, in it and in all its children, and "
             "prints the report on stderr. The exit status is COMMAND's; 125 to 127 if it could "
             "not be started.",
    .next = "Examples:\n"
            "  battprof run -- ./run_batt -c 100\n"
            "  battprof run --dsl solvers --dsl libgrid -- python run_batt.py\n"
            "  battprof run --dsl 'solvers:solve_*' -- python run_batt.py\n"
            "  battprof run --hook 'libjansson.so*' -o first -- ./run_batt\n"
            "  battprof run --count 'logging:*' --count 'json.*' -- python run_batt.py\n"
            "  battprof run --lines 'dsl:index' -- python run_batt.py\n"
            "Next: battprof report",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .options_first = true,
    .main = bp_cmd_run,
};
