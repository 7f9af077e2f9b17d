/* SPDX-License-Identifier: MIT
 *
 * Text in 80 columns.
 */
#ifndef BP_TOOLS_BASE_WRAP_H
#define BP_TOOLS_BASE_WRAP_H

#include <stdio.h>

/* Prints the words of `text` from `column` on, wrapped before column 80 and indented to `indent`;
 * ends the line. */
void bp_wrap_print(const char *text, int column, int indent, FILE *out);

#endif
