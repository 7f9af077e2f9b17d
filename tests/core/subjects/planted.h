/* SPDX-License-Identifier: MIT */
#pragma once

void batt(const char *id, int rounds);
void expand_solver(const char *id, int rounds);
