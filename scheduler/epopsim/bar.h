/* A line on the terminal while a run goes on. Nothing where standard error is none. */
#ifndef SCHEDULER_EPOPSIM_BAR_H
#define SCHEDULER_EPOPSIM_BAR_H

#include <stdbool.h>
#include <stddef.h>

struct bar {
    const char *label;
    bool shown;  /* it may be */
    bool drawn;  /* it is */
    double next; /* when to draw again */
};

/* For struct simulation: its context is a struct bar. */
void bar_show(void *context, size_t ended, size_t jobs, double now);
void bar_clear(struct bar *bar);

#endif
