/*
 * The attendant of one job: what it knows, and what both its ways have in common, beside the job's command (run.c) or
 * connected with an adviser (link.c). It alone talks with the job's control plane; daemons come and go.
 */
#ifndef SCHEDULER_ATTEND_ATTENDANT_H
#define SCHEDULER_ATTEND_ATTENDANT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "scheduler/attend/asked.h"
#include "scheduler/attend/ending.h"
#include "scheduler/attend/peers.h"
#include "scheduler/attend/plane.h"
#include "scheduler/epoprm/loop.h"

struct attendant {
    struct loop loop;
    struct peers peers;
    struct asked asked;
    struct plane plane;
    struct ending ending;
    cJSON *ended; /* as ended.json; NULL: it runs */
    bool told;    /* somebody that it has ended */
};

/* batch or id: how the job's address file is known. */
int attendant_open(struct attendant *attendant, const char *batch, const char *id, struct error *error);
/* The first line of each connection. */
void attendant_greet(struct attendant *attendant, struct peer *peer);
/* It has ended, and all is told so; `ended` is the attendant's from here on. */
void attendant_ended(struct attendant *attendant, cJSON *ended);

#endif
