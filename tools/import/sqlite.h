/* SPDX-License-Identifier: MIT
 *
 * SQLite, opened when a database is to be read and not before: as a dependency of the command it
 * took half a millisecond of every `battprof run`. A static command has it inside.
 */
#ifndef BP_TOOLS_IMPORT_SQLITE_H
#define BP_TOOLS_IMPORT_SQLITE_H

#include <sqlite3.h>

#include "tools/base/error.h"

struct bp_sqlite {
#define FUNCTION(name) __typeof__(sqlite3_##name) *name;
#include "tools/import/sqlite.def"
#undef FUNCTION
};

/* NULL with an error where the library is missing. */
const struct bp_sqlite *bp_sqlite_get(struct bp_error *error);

#endif
