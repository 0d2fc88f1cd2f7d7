/*
 * Counts what the redistributions of one window move, by the other rank in window->all and by described array: an
 * addition per message, always. Drivers see it as epop_adapted_t.
 */
#ifndef REDIST_TRAFFIC_H
#define REDIST_TRAFFIC_H

#include <stdint.h>

#include "epop/driver.h"

struct redist_traffic {
    int size;                             /* ranks in window->all; 0: no window is open */
    int64_t *sent, *received;             /* bytes by rank */
    int64_t least;                        /* bytes of new data here that were not here before */
    epop_array_traffic_t *arrays, *array; /* by described array; the one that moves now, or NULL */
    int array_count, array_room;
    int64_t begin, end; /* of the first and the last redistribution, CLOCK_MONOTONIC, ns; 0: there was none */
};
extern struct redist_traffic redist_traffic;

/* A window of that many ranks opens. Without the memory nothing is counted. */
void redist_traffic_begin(int size);

/* What is above 0, with the process numbers of the ranks; the caller frees it. NULL with *count 0: nothing. */
epop_traffic_t *redist_traffic_list(const int *processes, int *count);

/* Bytes, from all ranks. */
int64_t redist_traffic_all_received(void);

/* What is counted from here on is the described array of that name; NULL: of none. */
void redist_traffic_array(const char *name);
/* Of that array so many bytes came here before the window. */
void redist_traffic_ahead(const char *name, int64_t bytes);

/* Around every redistribution. */
void redist_traffic_moves(void);
void redist_traffic_moved(void);

static inline void redist_traffic_sent(int rank, int64_t bytes)
{
    if (redist_traffic.size)
        redist_traffic.sent[rank] += bytes;
    if (redist_traffic.array)
        redist_traffic.array->sent += bytes;
}

static inline void redist_traffic_received(int rank, int64_t bytes)
{
    if (redist_traffic.size)
        redist_traffic.received[rank] += bytes;
    if (redist_traffic.array)
        redist_traffic.array->received += bytes;
}

static inline void redist_traffic_needed(int64_t bytes)
{
    redist_traffic.least += bytes;
    if (redist_traffic.array)
        redist_traffic.array->least += bytes;
}

#endif
