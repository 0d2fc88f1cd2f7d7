/* What this process tells the coordinator, as others of this folder say it, and as services of the job. */
#ifndef EPOP_JOB_TELL_H
#define EPOP_JOB_TELL_H

#include <cjson/cJSON.h>
#include <mpi.h>
#include <stdbool.h>

#include "epop/elastic.h"

int job_tell(void *context, const cJSON *message); /* the coordinator; context: none */

/* As runtime/world/world.h, interpose/interpose.h and runtime/crash/crash.h want them. */
int job_request(const epop_request_t *request);
int job_request_balance(void);
int job_request_checkpoint(void);
int job_abort(MPI_Comm comm, int code);
int job_deliver_crash(const char *text, bool core);

#endif
