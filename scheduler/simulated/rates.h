/*
 * A rate that jobs share while they move bytes: of a file system, or of a network. Each node that moves some has as
 * much of it as any other, and at most what its link carries: as all nodes are alike, that is max-min fair.
 *
 * So one number says how many bytes a node has moved since nobody did, and a transfer is over when that number has
 * grown by its bytes per node. Transfers that begin and end change how fast it grows, and no other transfer.
 */
#ifndef SCHEDULER_SIMULATED_RATES_H
#define SCHEDULER_SIMULATED_RATES_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"

struct transfer {
    double ends; /* when `through` is that */
    size_t job;
    int nodes;
};

struct rate {
    double all, link;       /* bytes per second, of all and of a node; INFINITY: no bound */
    double since;           /* when the following were so */
    double through;         /* bytes that a node has moved since nobody did */
    double level;           /* bytes per second of a node */
    long nodes;             /* that move bytes */
    double moved, asked;    /* bytes: in all; of the transfers that are over or under way */
    struct transfer *first; /* a heap by `ends`, then `job` */
    size_t count, room;
};

/* 0: no bound. */
void rate_init(struct rate *rate, double all, double link);
void rate_free(struct rate *rate);

/* Without any bound nothing takes time, and no transfer is to be begun. */
bool rate_takes_time(const struct rate *rate);

/* The job, which is in no other transfer here. -1: no memory. */
int rate_begin(struct rate *rate, double now, size_t job, double bytes, int nodes);

/* When the first of them is over. False: there is none. */
bool rate_next(const struct rate *rate, double *time);

/* It is over, at that time: whose it was. */
size_t rate_finish(struct rate *rate, double now);

/* The job does without the rest, so many bytes. */
double rate_leave(struct rate *rate, double now, size_t job);

/* Counts anew: all have no more than there is, and what was moved is what jobs asked for. */
int rate_check(const struct rate *rate, struct error *error);

#endif
