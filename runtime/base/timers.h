/*
 * Deadlines of one thread: a list of timers, each with a function that is called when its time has come. The functions
 * may set and cancel any timer, their own too. Nothing here waits; the thread does, until the next one.
 */
#ifndef EPOP_BASE_TIMERS_H
#define EPOP_BASE_TIMERS_H

#include <stdbool.h>

/* Timers of a group stand still together: what was left of their time then is left when they go on. */
struct timer_group {
    int stops; /* reasons to stand still; 0: they run */
    double since;
};

struct timer {
    void (*ring)(void *context); /* NULL: it only ends the wait */
    void *context;
    struct timer_group *group; /* NULL: it never stands still */
    bool set;                  /* all below is the list's */
    double due;
    int round;
    struct timer *next;
};

struct timers {
    double (*clock)(void); /* seconds */
    struct timer *first;
    int round;
    double wakes; /* when the thread is to come back; 0: at once */
};

void timers_init(struct timers *timers, double (*clock)(void));

/* Prepares a timer, which is not set then. */
void timer_init(struct timer *timer, void (*ring)(void *context), void *context, struct timer_group *group);

/* In so many seconds from now, whatever it was set to before. If the group stands still: from when it goes on. */
void timers_set(struct timers *timers, struct timer *timer, double seconds);
void timers_cancel(struct timers *timers, struct timer *timer);

/* Seconds until it is due; 0 if it is not set. */
double timers_left(const struct timers *timers, const struct timer *timer);

/* A reason more, or less, for the group to stand still. */
void timers_stop(struct timers *timers, struct timer_group *group);
void timers_go_on(struct timers *timers, struct timer_group *group);

/* Calls all that are due, the earliest first. If the thread comes far too late, as its process was stopped or had no
 * processor, that time is nobody's: all timers that have a group get it. One that is set meanwhile is left for the next
 * time. */
void timers_run(struct timers *timers);

/* Seconds until the next one is due, at most `longest`. */
double timers_next(struct timers *timers, double longest);

#endif
