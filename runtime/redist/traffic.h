/*
 * What the redistributions of one window move, by the other rank in window->all. Counted always: an addition per
 * message. Of interest to drivers; see epop_adapted_t.
 */
#ifndef REDIST_TRAFFIC_H
#define REDIST_TRAFFIC_H

#include <stdint.h>

#include "epop/driver.h"

struct redist_traffic {
    int size;                 /* ranks in window->all; 0: no window is open */
    int64_t *sent, *received; /* bytes by rank */
    int64_t least;            /* bytes of new data here that were not here before */
    int64_t begin, end;       /* of the first and the last redistribution, CLOCK_MONOTONIC, ns; 0: there was none */
};
extern struct redist_traffic redist_traffic;

/* A window of that many ranks opens. Without the memory nothing is counted. */
void redist_traffic_begin(int size);

/* What is above 0, with the process numbers of the ranks; the caller frees it. NULL with *count 0: nothing. */
epop_traffic_t *redist_traffic_list(const int *processes, int *count);

/* Bytes, from all ranks. */
int64_t redist_traffic_all_received(void);

/* Around every redistribution. */
void redist_traffic_moves(void);
void redist_traffic_moved(void);

static inline void redist_traffic_sent(int rank, int64_t bytes)
{
    if (redist_traffic.size)
        redist_traffic.sent[rank] += bytes;
}

static inline void redist_traffic_received(int rank, int64_t bytes)
{
    if (redist_traffic.size)
        redist_traffic.received[rank] += bytes;
}

static inline void redist_traffic_needed(int64_t bytes)
{
    redist_traffic.least += bytes;
}

#endif
