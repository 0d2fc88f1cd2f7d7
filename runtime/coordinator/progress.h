/*
 * How far the program is, how fast its elements were at each size, what adaptations have cost, and an estimate of
 * the time left. The program's thread is asked at rank 0's next probe, and only while somebody looks: a client that
 * wants the status, or the user at the terminal.
 */
#ifndef EPOP_COORDINATOR_PROGRESS_H
#define EPOP_COORDINATOR_PROGRESS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "epop/program.h"
#include "runtime/base/timers.h"
#include "runtime/coordinator/record.h"
#include "runtime/member/plan.h"
#include "runtime/wire/messages.h"

struct coordinator;

/* ---- Speeds -------------------------------------------------------------------------------------- */

/*
 * How fast each element was at each size: sums of what rank 0's process counted (runtime/member/tally.h), which tells
 * it where the ranks come together, and when it is asked for its position. No clock in here.
 */

struct speed {
    int pc, size;
    int64_t iterations;
    double seconds;
};

/* All zero: nothing was seen. */
struct speeds {
    struct speed *seen; /* owned; by pc, then by size */
    int count, room;
};

void speeds_destroy(struct speeds *speeds);

/* Out of memory it is lost. */
void speeds_add(struct speeds *speeds, const struct speed *more);

/* The "tally" of a message, if it has one. */
void speeds_take(struct speeds *speeds, const struct shape_tally *tally);

/* Of one element, by schema/control.schema.json: the smallest size first, to which the speedup is relative. */
cJSON *speeds_json(const struct speeds *speeds, int pc, epop_scaling scaling);

/* ---- The time left ------------------------------------------------------------------------------- */

/*
 * How long a program has still to go, by the iterations that it reports. The rate is that since the last resize; in
 * front of it stands the rate before, scaled by the number of ranks but where the scaling is weak, as if it had been
 * seen for two iterations, so that there is an estimate at once and a good one soon. No clock in here: the time is
 * handed in.
 */

/* All zero: nothing is known yet. */
struct estimate {
    bool begun;
    int size; /* ranks */
    int64_t bound;
    double begin;            /* of the present rate, seconds */
    int64_t begin_iteration; /* likewise */
    double last;             /* when the iteration was last seen to be another one */
    int64_t iteration;
    double prior; /* iterations per second before; 0: none */
};

/* What was reported at that time. Another bound, or a smaller iteration, is another phase, of which nothing is known.
 */
void estimate_add(struct estimate *e, double now, int64_t iteration, int64_t bound, int size, epop_scaling scaling);

/* The program stood still for so long up to now: that is not its rate. */
void estimate_skip(struct estimate *e, double seconds);

/* Iterations per second; 0: not known yet. */
double estimate_rate(const struct estimate *e);

/* Seconds from now; negative: not known. */
double estimate_left(const struct estimate *e, double now);

/* ---- What adaptations cost ----------------------------------------------------------------------- */

/* What adaptations have cost so far, in the mean, by the sizes that they changed. */

/* Of those among `count` that were committed; by schema/control.schema.json. */
cJSON *costs_json(const struct adaptation *history, int count);

/* Likewise of all of them together. */
cJSON *costs_mean_json(const struct adaptation *history, int count);

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
