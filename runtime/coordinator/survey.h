/*
 * Where every process is. Their control threads answer, also while the program's threads hang; a process that does
 * not answer, because it is stopped or its host is gone, is listed without an answer when the time is over. And the
 * state of the job in a word.
 */
#ifndef EPOP_COORDINATOR_SURVEY_H
#define EPOP_COORDINATOR_SURVEY_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/timers.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct process;

/* ---- The job in a word --------------------------------------------------------------------------- */

/* The job's state in a word, by schema/control.schema.json. */

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

#define SURVEY_ASKERS    16
#define SURVEY_LISTENERS 2

struct survey {
    int round;
    bool open; /* answers are awaited */
    struct timer limit;
    void *askers[SURVEY_ASKERS];
    int asker_count;
    void (*listeners[SURVEY_LISTENERS])(struct coordinator *c); /* who is told of the end of each */
    int listener_count;
};

/* Called at the end of each, whoever asked. */
void survey_tell(struct coordinator *c, void (*surveyed)(struct coordinator *c));
/* All processes are asked, unless they are already. */
void survey_begin(struct coordinator *c);
void survey_came(struct coordinator *c, int process, const struct report_located *report);
/* The request where. */
void survey_request(struct coordinator *c, void *handle);
/* By schema/control.schema.json. */
cJSON *survey_json(struct coordinator *c);

/* ---- In words ------------------------------------------------------------------------------------ */

/*
 * What the processes were in at the last survey, as a line for people: "rank 1 in MPI_Recv for 12 s ('work', iteration
 * 5); ranks 0, 2-4 in ...". Ranks in the same place are told together.
 */

/* Of those that are wanted (NULL: of all that survey.h lists). Empty if there are none. */
void whereabouts_describe(struct coordinator *c, bool (*wanted)(const struct coordinator *c, const struct process *p),
                          char *text, size_t size);

#endif
