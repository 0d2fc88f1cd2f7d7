/* The job's state in a word, by schema/control.schema.json. */
#ifndef EPOP_COORDINATOR_JOB_STATE_H
#define EPOP_COORDINATOR_JOB_STATE_H

#include <stdbool.h>

struct coordinator;

enum job_state {
    JOB_IS_STARTING, /* not all processes are here */
    JOB_IS_RUNNING,
    JOB_IS_PREPARING, /* an adaptation is asked for */
    JOB_IS_AGREEING,  /* on where all ranks hold */
    JOB_IS_ADAPTING,  /* in a window */
    JOB_IS_PAUSED,
    JOB_IS_SAVING,  /* a checkpoint */
    JOB_IS_STOPPED, /* for a debugger */
    JOB_IS_STOPPING,
    JOB_IS_ENDING
};

enum job_state job_state(const struct coordinator *c);
const char *job_state_name(enum job_state state);

/* The program has ended on every rank. */
bool job_is_over(const struct coordinator *c);

#endif
