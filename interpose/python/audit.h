/* SPDX-License-Identifier: MIT
 *
 * Our audit hook in CPython: how we learn of imports, from before it is initialised.
 */
#ifndef BP_INTERPOSE_PYTHON_AUDIT_H
#define BP_INTERPOSE_PYTHON_AUDIT_H

/* The event that Python ends with: from then on nothing of it may be touched. */
#define BP_PY_AUDIT_CLEARED "cpython._PySys_ClearAuditHooks"

/* Have `hook` called for every event. It must not fail. Once. */
void bp_py_audit_add(void (*hook)(const char *event, void *arguments));

/* Whether other hooks are known: they would see the events that we measure with. */
int bp_py_audit_has_others(void);

#endif
