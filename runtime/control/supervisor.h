/*
 * The supervisor: `epop --recover` (driver/epop/recover.c), which started mpiexec, and starts the job again when it has
 * died by a fault. How mpiexec ends does not say why, so the job does: process 0 has a connection to it, by which it
 * tells where the job is; and whoever ends the job by itself says so before, on a connection of its own. A job that
 * ends without a word has died by a fault. schema/supervisor.schema.json has the lines.
 *
 * On the supervisor's host these are connections of a Unix socket, and the kernel says whose they are. Over a network
 * each end shows that it knows the token (runtime/wire/proof.h; `about` is the first line's op).
 */
#ifndef EPOP_CONTROL_SUPERVISOR_H
#define EPOP_CONTROL_SUPERVISOR_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/error.h"

#define SUPERVISOR       "EPOP_SUPERVISOR"    /* in the job's environment: "URI TOKEN" (runtime/wire/link.h) */
#define SUPERVISOR_COUNT "EPOP_RECOVERIES"    /* and how often it was started again; not there: it was not */
#define SUPERVISOR_SINCE "EPOP_RECOVER_SINCE" /* when it was started for the first time: seconds since 1970 */
#define SUPERVISOR_LOST  "EPOP_LOST_RANKS"    /* ranks that died then, as "2,3,"; not there: none is known */

/* Bytes of "hosts" in a line. */
#define SUPERVISOR_HOSTS 1900

/* What the supervisor says: first to each who comes over a network; to each first line; to `runs`. */
#define SUPERVISOR_CHALLENGE  "challenge"
#define SUPERVISOR_HEARD      "heard"
#define SUPERVISOR_RECOVERIES "recoveries"

/* First lines of the job. */
#define SUPERVISOR_STARTS "starts" /* process 0 of the launch is there, and MPI comes up: nothing follows */
#define SUPERVISOR_BEGINS "begins" /* process 0: more follows */
#define SUPERVISOR_FITS   "fits"   /* it is to be started on so many ranks instead, and ends */
#define SUPERVISOR_ENDED  "ended"  /* it has come to its end */
#define SUPERVISOR_FAILED "failed" /* an error of the program, or somebody ended it */
#define SUPERVISOR_FAULT  "fault"  /* a process died */

/* What process 0 says then. */
#define SUPERVISOR_AT    "at"    /* where it is */
#define SUPERVISOR_WORLD "world" /* where the ranks run; longer texts are left empty */
#define SUPERVISOR_SAVED "saved" /* a checkpoint is whole */
#define SUPERVISOR_RUNS  "runs"  /* it was started again, and goes on */

/* Reads the environment; in every process, before others are started. Is there a supervisor? Local. */
bool supervisor_know(void);
bool supervisor_is_there(void);

/* How often the job was started again by it. */
int supervisor_recoveries(void);

/* Which ranks of the last world died, as far as that is known, and `room` at most: how many they are. */
int supervisor_lost_ranks(int *ranks, int room);

/* In process 0 of the launch, before MPI is there: what ends it from here on without a word, or 0, is a fault. */
void supervisor_starts(void);

/* Process 0 connects. 0, or -1 with text. */
int supervisor_begin(struct error *error);
/* Any thread; nothing happens where there is no connection. */
void supervisor_say(const cJSON *message);

/* Says from what it goes on; it is answered with a list of all recoveries so far, which is kept: an array by
 * schema/control.schema.json, or NULL. Belongs to this module. */
void supervisor_runs(const cJSON *message);
const cJSON *supervisor_list(void);

/* Process 0: a SUPERVISOR_FAULT that is said next is due to the death of that rank; -1: of none in the world. */
void supervisor_lost(int rank);

/* How the job ends, from any process and thread, a handler of a signal too: waits until it was heard, a second at most.
 * Only the first word counts. op: SUPERVISOR_FITS (number: ranks) or one of those after it (the status). text: the
 * first line of it, or NULL. */
void supervisor_end(const char *op, int number, const char *text);

#endif
