/*
 * The job's control plane, from the attendant's side: it is found by the address file, attached to, and attached to
 * again when another one appears.
 */
#ifndef SCHEDULER_ATTEND_PLANE_H
#define SCHEDULER_ATTEND_PLANE_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/control/jobs.h"
#include "runtime/wire/link.h"

struct plane_ops {
    void (*attached)(void *context, const char *job);
    void (*detached)(void *context); /* requests that wait are answered no more */
    void (*event)(void *context, const cJSON *what);
    void (*answer)(void *context, int64_t number, cJSON *answer); /* which is the callee's */
};

enum plane_state { PLANE_SEEKS, PLANE_ATTACHES, PLANE_ATTACHED };

struct plane {
    struct event_base *base;
    const char *batch, *id; /* which job: the one or the other */
    const struct plane_ops *ops;
    void *context;
    enum plane_state state;
    struct control_job job; /* while it is not sought */
    struct wire_link *link; /* likewise */
    struct event *look;
    double since;   /* it is sought */
    long long seen; /* what the directories were like then, */
    int unchanged;  /* and for how many looks */
    bool closed;
    bool lost;      /* without a farewell: rank 0's process, or its host, is gone */
    char over[128]; /* of a batch job: the id of the job that was lost or has ended. That one does not come back */
};

/* The members from base to context are set before. -1: no memory. */
int plane_open(struct plane *plane, struct error *error);
/* Its job is not looked for any more. */
void plane_close(struct plane *plane);
/* Sends a request; the answer comes with this number. -1: not attached, or no memory. */
int plane_ask(struct plane *plane, int64_t number, const cJSON *request);

#endif
