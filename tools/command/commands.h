/* SPDX-License-Identifier: MIT
 *
 * The subcommands. Each lives in a file of its name with its option table, doctor in a folder;
 * main.c lists them.
 */
#ifndef BP_TOOLS_COMMAND_COMMANDS_H
#define BP_TOOLS_COMMAND_COMMANDS_H

#include <stdio.h>

#include "tools/base/options.h"

extern const struct bp_command bp_command_attach;
extern const struct bp_command bp_command_diff;
extern const struct bp_command bp_command_doctor;
extern const struct bp_command bp_command_export;
extern const struct bp_command bp_command_import;
extern const struct bp_command bp_command_mark;
extern const struct bp_command bp_command_merge;
extern const struct bp_command bp_command_report;
extern const struct bp_command bp_command_run;
extern const struct bp_command bp_command_stacks;
extern const struct bp_command bp_command_start;
extern const struct bp_command bp_command_stop;
extern const struct bp_command bp_command_top;

int bp_cmd_attach(int argc, char **argv, struct bp_error *error);
int bp_cmd_diff(int argc, char **argv, struct bp_error *error);
int bp_cmd_doctor(int argc, char **argv, struct bp_error *error);
int bp_cmd_export(int argc, char **argv, struct bp_error *error);
int bp_cmd_import(int argc, char **argv, struct bp_error *error);
int bp_cmd_mark(int argc, char **argv, struct bp_error *error);
int bp_cmd_merge(int argc, char **argv, struct bp_error *error);
int bp_cmd_report(int argc, char **argv, struct bp_error *error);
int bp_cmd_run(int argc, char **argv, struct bp_error *error);
int bp_cmd_stacks(int argc, char **argv, struct bp_error *error);
int bp_cmd_start(int argc, char **argv, struct bp_error *error);
int bp_cmd_stop(int argc, char **argv, struct bp_error *error);
int bp_cmd_top(int argc, char **argv, struct bp_error *error);

/* `help concepts` */
void bp_concepts_print(FILE *out);

#endif
