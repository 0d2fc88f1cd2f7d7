/*
 * What the host of a policy does so that one that crashes, exits or never returns ends it with a line that names the
 * policy, and status 1, rather than silently or not at all. The core says when a policy is called; without
 * guard_install that does nothing.
 */
#ifndef SCHEDULER_CORE_GUARD_H
#define SCHEDULER_CORE_GUARD_H

/* What a policy may take for a decision if nobody says otherwise: seconds of processor time, and by the clock, as it
 * may wait for something that never comes. */
#define GUARD_BUSY  10
#define GUARD_ALONE 60

/* On the thread that calls policies. Signals outside of a policy act as before. */
void guard_install(double busy, double alone);

/* Calls of a policy begin and end: `doing` is what it does, as in "deciding at %.3f". */
void guard_enter(const char *policy, const char *doing, ...) __attribute__((format(printf, 2, 3)));
void guard_leave(void);

#endif
