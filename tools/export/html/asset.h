/* SPDX-License-Identifier: MIT
 *
 * The files of page/ as embed.py puts them into the command.
 */
#ifndef BP_TOOLS_EXPORT_HTML_ASSET_H
#define BP_TOOLS_EXPORT_HTML_ASSET_H

#include <stddef.h>

extern const char bp_asset_css[];
extern const size_t bp_asset_css_size;
extern const char bp_asset_boot[];
extern const size_t bp_asset_boot_size;
extern const char bp_asset_js[];
extern const size_t bp_asset_js_size;

#endif
