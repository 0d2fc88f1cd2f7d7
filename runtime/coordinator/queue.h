/* What arrives at the coordinator, from any thread, in order. */
#ifndef EPOP_COORDINATOR_QUEUE_H
#define EPOP_COORDINATOR_QUEUE_H

#include "runtime/coordinator/state.h"

struct event {
    enum { EVENT_MESSAGE, EVENT_REQUEST, EVENT_ABANDONED, EVENT_LOST, EVENT_BACKEND } type;
    int process; /* EVENT_BACKEND: a status */
    void *handle;
    cJSON *json;
    struct event *next;
};

/* The next one, which the caller frees, json too; NULL: there is none. */
struct event *queue_take(struct coordinator *c);

/* Waits for something to arrive, or for a signal, but not longer than `seconds`. */
void queue_wait(struct coordinator *c, double seconds);

#endif
