/* The job's state in a word, by schema/control.schema.json. */
#ifndef EPOP_COORDINATOR_JOB_STATE_H
#define EPOP_COORDINATOR_JOB_STATE_H

#include <stdbool.h>

struct coordinator;

const char *job_state_name(const struct coordinator *c);

/* The program has ended on every rank. */
bool job_is_over(const struct coordinator *c);

#endif
