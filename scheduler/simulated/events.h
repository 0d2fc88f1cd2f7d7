/*
 * What will happen in a simulated run, by time: a binary heap. What happens at the same time comes in the order of the
 * kinds, then of the jobs, then as it was added, so that a run depends on nothing else.
 */
#ifndef SCHEDULER_SIMULATED_EVENTS_H
#define SCHEDULER_SIMULATED_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

enum event_kind {
    EVENT_PHASE,   /* a job has done its phase: the next one, or the end */
    EVENT_RESIZE,  /* the next step of a resize */
    EVENT_MEASURE, /* enough iterations for a sample */
    EVENT_NODE,    /* one fails, or returns */
    EVENT_SUBMIT,
    EVENT_PROMISE, /* a start that was promised is looked at */
    EVENT_KINDS
};

struct event {
    double time;
    enum event_kind kind;
    size_t index;   /* of the job, or of the fault */
    unsigned stamp; /* one that is no longer the job's is of the past: the event does not happen */
    unsigned long order;
};

struct events {
    struct event *heap;
    size_t count, room;
    unsigned long added;
};

int events_add(struct events *events, const struct event *event);

/* The first, which stays; NULL: there is none. */
const struct event *events_first(const struct events *events);
void events_drop(struct events *events);

void events_free(struct events *events);

#endif
