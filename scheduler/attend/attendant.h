/*
 * The attendant of one job: what it knows, and what both its ways have in common, beside the job's command (run.c) or
 * connected with an adviser (link.c). It alone talks with the job's control plane; daemons come and go.
 */
#ifndef SCHEDULER_ATTEND_ATTENDANT_H
#define SCHEDULER_ATTEND_ATTENDANT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/wire/line.h"
#include "scheduler/attend/asked.h"
#include "scheduler/attend/ending.h"
#include "scheduler/attend/plane.h"

struct peer;

struct attendant {
    struct event_base *base;
    struct peer *peers; /* who talks to it: usually one; two while a daemon that died is replaced */
    struct asked asked;
    struct plane plane;
    struct ending ending;
    cJSON *ended;                /* as ended.json; NULL: it runs */
    bool told;                   /* somebody that it has ended: it goes when that is sent */
    bool over;                   /* it goes now */
    void (*gone)(void *context); /* one who talked to it; NULL: nobody asks */
    void *context;
};

/* batch or id: how the job's address file is known. */
int attendant_open(struct attendant *attendant, const char *batch, const char *id, struct error *error);
/* Until it is over. -1: the loop failed. */
int attendant_run(struct attendant *attendant, struct error *error);

/* Somebody who talks to it from now on, and is greeted: the line, or the descriptor, is the attendant's. */
void attendant_talk(struct attendant *attendant, struct wire_line *line);
void attendant_take(struct attendant *attendant, int fd);

/* It has ended, and all is told so; `ended` is the attendant's from here on. */
void attendant_ended(struct attendant *attendant, cJSON *ended);
/* It goes at once. */
void attendant_leave(struct attendant *attendant);

#endif
