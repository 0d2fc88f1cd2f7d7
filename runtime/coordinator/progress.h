/*
 * How far the program is. Its thread is asked at rank 0's next probe, and only while somebody looks: a client that
 * wants the status (see position.h), or the user at the terminal.
 */
#ifndef EPOP_COORDINATOR_PROGRESS_H
#define EPOP_COORDINATOR_PROGRESS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "epop/program.h"
#include "runtime/base/timers.h"
#include "runtime/coordinator/estimate.h"
#include "runtime/member/plan.h"

struct coordinator;

struct progress {
    struct estimate estimate;
    struct timer show;             /* to the user */
    double mpi_seconds, mpi_clock; /* of rank 0, when its MPI time was last looked at; the clock is its own */
    double mpi_share;              /* of its time between the last two looks; negative: not known */
    epop_progress_t last;
    struct position at; /* of rank 0 when it said so */
    bool known;
    double time; /* when it came, monotonic */
};

/* It shows the user by itself from then on, if there is one. */
void progress_init(struct coordinator *c);
/* It is at at->iteration of bound (0: not known), as of `age` seconds ago; and what rank 0 has spent in MPI by a time
 * of its clock (less than 0: not known). */
void progress_mpi(struct coordinator *c, double seconds, double now);
void progress_came(struct coordinator *c, const struct position *at, int64_t bound, double age);
/* The program stood still for so long up to now. */
void progress_stood(struct coordinator *c, double seconds);
/* Seconds to the end of what was told; negative: not known. */
double progress_left(const struct coordinator *c);
/* By schema/control.schema.json. */
cJSON *progress_json(const struct coordinator *c);

#endif
