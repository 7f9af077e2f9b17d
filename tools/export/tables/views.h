/* SPDX-License-Identifier: MIT
 *
 * The lines of views.sql, as embed.py puts them into the command.
 */
#ifndef BP_TOOLS_EXPORT_TABLES_VIEWS_H
#define BP_TOOLS_EXPORT_TABLES_VIEWS_H

/* Its lines, and NULL. */
extern const char *const bp_views_sql[];

#endif
