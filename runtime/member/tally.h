/*
 * How many iterations this process has made in which element, and in what time: without holds and adaptations. A visit
 * costs a look at the clock at its begin and at its end, an iteration nothing. The control thread takes what has come
 * together since it was told last.
 */
#ifndef EPOP_TALLY_H
#define EPOP_TALLY_H

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "epop/driver.h"

#define EPOP_PRIVATE EPOP_API /* exported for the epop executable; no part of the public interface */

struct tally_cell {
    int64_t iterations;
    double seconds;
};

/* All zero: of no program. */
struct tally {
    pthread_mutex_t lock;
    struct tally_cell *cells; /* by pc; owned; NULL: nothing is counted */
    int elements;
    int rank, size;    /* in the world that this is of */
    bool on;           /* the rest is of a stretch that goes on */
    int pc;            /* of it */
    int64_t iteration; /* up to which it is in its cell */
    double since;      /* likewise, monotonic */
    int64_t first;     /* where it began */
    double begun;      /* likewise, monotonic */
};

void tally_init(struct tally *tally);

/* The program's thread: */
/* Of a program with so many elements. Out of memory nothing is counted. */
EPOP_PRIVATE void epop__tally_open(struct tally *tally, int elements);
EPOP_PRIVATE void epop__tally_close(struct tally *tally);
/* Goes on there, and nowhere: a visit, and what a hold leaves of it. In another world it begins anew. */
EPOP_PRIVATE void epop__tally_begin(struct tally *tally, const epop_position_t *at);
EPOP_PRIVATE void epop__tally_end(struct tally *tally, int64_t iteration);

/* Any thread: where this is rank 0, takes what there is into the message, as "tally". The iteration is the present one
 * of the program's thread. */
void tally_tell(struct tally *tally, const _Atomic int64_t *iteration, cJSON *message);

/* Any thread: the seconds that an iteration takes, as the mean since the last hold; 0: it is not known. */
double tally_pace(struct tally *tally, const _Atomic int64_t *iteration);

#endif
