/*
 * libevent as all parts of EPOP use it: one event_base for each thread that waits for something, with two priorities.
 * What stands on a base belongs to the thread that runs it; what other threads may call is said where it is declared.
 */
#ifndef EPOP_WIRE_LOOP_H
#define EPOP_WIRE_LOOP_H

#include <event2/event.h>
#include <stdbool.h>

/* Of what is ready at once the processes of the job come first. Tools, those who have not said yet who they are, and
 * timers take turns: libevent does not look at a priority as long as there is something of a higher one, so that
 * whoever came before another could shut him out. */
enum wire_priority { WIRE_MEMBERS, WIRE_OTHERS };

/* A new base, on which event_add and event_active may be called from any thread. NULL: no memory, or no descriptors. */
struct event_base *wire_base_new(void);

/* A timer (evtimer_new) rings once in so many seconds from now, whatever it was set to before; evtimer_del cancels it.
 */
void wire_timer_set(struct event *timer, double seconds);
/* Seconds until it rings; negative: it is not set. */
double wire_timer_left(const struct event *timer);

/* Runs the base until *flag is true, which a function that it calls sets before it calls wire_wake; or for so many
 * seconds (negative: without end). Is it true? */
bool wire_wait(struct event_base *base, const bool *flag, double seconds);
void wire_wake(struct event_base *base);

#endif
