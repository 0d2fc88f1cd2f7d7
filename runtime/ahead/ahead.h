/*
 * This process's part in moving constant data ahead of the window (runtime/coordinator/adaptation.h says when): the
 * ranks list it where they hold, joining processes fill in values while they wait, and a thread of each moves it while
 * the program computes. In the window what came takes its place. One at a time, as there is one window.
 */
#ifndef EPOP_AHEAD_H
#define EPOP_AHEAD_H

#include "runtime/member/member.h"

/* For this process's member. uri: of the job's control plane, which has one before the first message, and keeps it.
 * limit: seconds for which the job waits for the data. */
void ahead_init(struct member *member, const char *uri, double limit);

/* ---- The program's thread ---- */

/* An elastic phase goes on, with its data there; pc -1: another program does. Where nothing in it is constant, the
 * wish to list it is answered without a probe, for which a program with long iterations would be waited for. */
void ahead_look(int pc);

/* What is constant may change or go from here on: the element is left, or the program. Returns when nobody reads it. */
void ahead_withdraw(void);

/* The window opens: what came is freed if it does not count in it; else what is late is waited for. */
void ahead_window(const struct plan *plan);

/* There will be no window: frees what is left. */
void ahead_end(void);

/* It is over: likewise, on another thread. To unmap large blocks takes as long as to send a part of them. */
void ahead_over(void);

#endif
