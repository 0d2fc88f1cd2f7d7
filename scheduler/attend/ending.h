/*
 * Ending a job that is to end: asked to stop in a common iteration, then stopped by force, then by signals to its
 * command. Each step has its time, and the next one comes when it did not help.
 */
#ifndef SCHEDULER_ATTEND_ENDING_H
#define SCHEDULER_ATTEND_ENDING_H

#include <cjson/cJSON.h>
#include <event2/event.h>

#include "scheduler/attend/plane.h"

enum ending_step { ENDING_NOT, ENDING_STOP, ENDING_FORCE, ENDING_TERMINATE, ENDING_KILL, ENDING_OVER };

struct ending {
    struct plane *plane;
    enum ending_step step;
    struct event *next;
    double grace;
    /* The command's processes; NULL: there is no command, and no signals. */
    void (*terminate)(void *context);
    void (*kill)(void *context);
    void *context;
};

/* -1: no memory. */
int ending_open(struct ending *ending, struct event_base *base, struct plane *plane);
/* Seconds until force is used. Again: only if that is sooner. */
void ending_begin(struct ending *ending, double grace);
/* The job's answer to being stopped: one that it refuses is not waited for. */
void ending_answered(struct ending *ending, const cJSON *answer);
/* It has ended. */
void ending_over(struct ending *ending);

#endif
