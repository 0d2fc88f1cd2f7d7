/*
 * How the ratio of MPI time to compute time (MTCT) is spread over the recent past: of one process from its last values,
 * of several by putting theirs together. No clock in here.
 */
#ifndef EPOP_SPREAD_H
#define EPOP_SPREAD_H

#include <cjson/cJSON.h>

#include "runtime/wire/messages.h"

/*
 * Each value counts as much as the compute time behind it, so that the mean is all MPI time over all compute time, also
 * of ranks that differ. All zero: no value yet.
 */
struct spread {
    int values;
    double weight; /* compute time, seconds */
    double mean, variance, least, most;
    double trend; /* what a straight line through the values says for the next; never negative */
};

/* One value each of mpi[i] / compute[i], the oldest first. */
void spread_of(struct spread *spread, const double *mpi, const double *compute, int count);

/* The trend of several: that of each, as their means are put together. */
void spread_merge(struct spread *spread, const struct spread *other);

/* {"values": 0}, or with mean, variance, min, max and trend. */
cJSON *spread_json(const struct spread *spread);

/* As a process tells it to the coordinator: the same and its weight. */
cJSON *spread_to_message(const struct spread *spread);
void spread_from_message(struct spread *spread, const struct shape_spread *said);

#endif
