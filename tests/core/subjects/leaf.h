/* SPDX-License-Identifier: MIT
 *
 * libdslleaf.so: functions that make no hooked call, until they are asked to.
 */
#ifndef E2E_LEAF_H
#define E2E_LEAF_H

typedef void leaf_callback(void *);
typedef void leaf_asked(int);

extern "C" {
void leaf_plain(int asked);  /* never makes a call */
void leaf_direct(int asked); /* of work_add */
void leaf_helper(int asked); /* through a function that is not hooked */
void leaf_deep(int asked);   /* from many frames further down */
void leaf_throw(int asked);
void leaf_tail(int asked);                   /* ends in a jump to work_empty */
void leaf_wrap(int asked);                   /* ends in a jump to leaf_plain */
void leaf_catch(int from, int to, int when); /* leaf_throw(0) but for one, which is caught here */
void leaf_call(leaf_callback *f, void *arg); /* f may be NULL */
void leaf_busy(double seconds);
}

#endif
