/*
 * The supervisor: `epop --recover` (driver/epop/recover.c), which started mpiexec, and starts the job again when it has
 * died by a fault. How mpiexec ends does not say why, so the job does: process 0 has a connection to it, by which it
 * tells where the job is; and whoever ends the job by itself says so before, in one line. A job that ends without a
 * word has died by a fault.
 */
#ifndef EPOP_CONTROL_SUPERVISOR_H
#define EPOP_CONTROL_SUPERVISOR_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/error.h"

#define SUPERVISOR       "EPOP_SUPERVISOR"    /* in the job's environment: "HOST PORT TOKEN" */
#define SUPERVISOR_COUNT "EPOP_RECOVERIES"    /* and how often it was started again; not there: it was not */
#define SUPERVISOR_SINCE "EPOP_RECOVER_SINCE" /* when it was started for the first time: seconds since 1970 */

/* Words of the job; each line begins with the token where it is the first of its connection. */
#define SUPERVISOR_BEGINS "begins" /* PID HOST */
#define SUPERVISOR_AT     "at"     /* COUNT SIZE PC ITERATION ELEMENT */
#define SUPERVISOR_SAVED  "saved"  /* NUMBER COUNT: a checkpoint is whole, which was made at that probe */
#define SUPERVISOR_RUNS                                                                                                \
    "runs" /* FROM NUMBER TIME: started again; from "memory", "file" or "beginning"; is answered with a list of        \
              recoveries */
#define SUPERVISOR_FITS   "fits"   /* RANKS: it is to be started on so many instead, and ends */
#define SUPERVISOR_ENDED  "ended"  /* STATUS: it has come to its end */
#define SUPERVISOR_FAILED "failed" /* STATUS TEXT: an error of the program, or somebody ended it */
#define SUPERVISOR_FAULT  "fault"  /* STATUS TEXT: a process died */

/* Reads the environment; in every process, before others are started. Is there a supervisor? Local. */
bool supervisor_know(void);
bool supervisor_is_there(void);

/* How often the job was started again by it. */
int supervisor_recoveries(void);

/* Process 0 connects. 0, or -1 with text. */
int supervisor_begin(struct error *error);
/* One line to it, without its end. Any thread; nothing happens where there is no connection. */
void supervisor_say(const char *line);

/* The line that says from what it goes on; it is answered with a list of all recoveries so far, which is kept: an array
 * by schema/control.schema.json, or NULL. Belongs to this module. */
void supervisor_runs(const char *line);
const cJSON *supervisor_list(void);

/* How the job ends, from any process and thread, a handler of a signal too: waits until it was heard, a second at most.
 * Only the first word counts. text: the first line of it, or NULL. */
void supervisor_end(const char *word, int status, const char *text);

#endif
